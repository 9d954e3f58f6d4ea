"""A work tree after random edits, the index of what it was before, and a clean index of what it is."""

import random
from dataclasses import dataclass
from pathlib import Path

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.random_edits import OPERATIONS, change
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP, Files


@dataclass(frozen=True)
class EditedTree:
    """`base` stands for the commit that the tree was edited from."""

    home: Home
    entry: RepositoryEntry
    base: PublishedIndex
    root: Path
    clean: PublishedIndex


def edited_tree(folder: Path, *, seed: int, edits: int) -> EditedTree:
    """Edit a shop, and commit nothing of it."""
    chance = random.Random(seed)
    files = SHOP
    for _ in range(edits):
        files = change(files, chance.choice(OPERATIONS), chance)
    repo = GitRepo.create(folder / "shop", SHOP)
    home, entry, base = _indexed(folder / "home", repo)
    for path in SHOP.keys() - files.keys():
        (repo.path / path).unlink()
    repo.write(files)
    return EditedTree(home, entry, base, repo.path, _clean(folder, files))


def _clean(folder: Path, files: Files) -> PublishedIndex:
    return _indexed(folder / "clean home", GitRepo.create(folder / "clean", files))[2]


def _indexed(folder: Path, repo: GitRepo) -> tuple[Home, RepositoryEntry, PublishedIndex]:
    home, entry = open_home(folder), RepositoryEntry("shop", str(repo.path))
    build(workspace_of(home, entry))
    return home, entry, PublishedIndex.open(home.layout.published("shop"))
