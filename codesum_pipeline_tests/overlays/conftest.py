"""One indexed shop for all tests that ask tools in a work tree of it."""

import pytest

from codesum_pipeline_tests.law.shop import SHOP
from codesum_pipeline_tests.overlays.trees import IndexedShop, Tree


@pytest.fixture(scope="session")
def indexed_shop(tmp_path_factory: pytest.TempPathFactory) -> IndexedShop:
    return IndexedShop.create(tmp_path_factory.mktemp("shop"), SHOP)


@pytest.fixture
def tree(indexed_shop: IndexedShop) -> Tree:
    """A work tree that is as the index, and nobody else's."""
    return indexed_shop.tree()
