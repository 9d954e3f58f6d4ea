"""Indexed shops whose work trees are changed."""

import shutil
from pathlib import Path

import pytest

from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.overlay_answers import Checkout, indexed
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP
from codesum_pipeline_tests.support.work_trees import IndexedShop, Tree


@pytest.fixture(scope="session")
def indexed_shop(tmp_path_factory: pytest.TempPathFactory) -> IndexedShop:
    return IndexedShop.create(tmp_path_factory.mktemp("shop"), SHOP)


@pytest.fixture
def tree(indexed_shop: IndexedShop) -> Tree:
    """A work tree that is as the index, and nobody else's."""
    return indexed_shop.tree()


@pytest.fixture(scope="session")
def indexed_checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return indexed(tmp_path_factory.mktemp("shop"), SHOP)


@pytest.fixture
def checkout(indexed_checkout: Checkout, tmp_path: Path) -> Checkout:
    """A copy of the checkout and of its home."""
    ours = tmp_path / "home"
    shutil.copytree(indexed_checkout.home.layout.home, ours, symlinks=True)
    shutil.copytree(indexed_checkout.repo.path, tmp_path / "shop", symlinks=True)
    repo = GitRepo(tmp_path / "shop")
    repo.git("update-index", "--refresh")
    return Checkout(open_home(ours), indexed_checkout.entry, indexed_checkout.base, repo, tmp_path)
