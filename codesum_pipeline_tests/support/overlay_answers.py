"""A checkout in whatever state git and editors leave it, the index of its first commit, and a clean index of it."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codesum_pipeline.answers.worktree_indexes.opening import TreeIndex, open_tree, settle_tree
from codesum_pipeline.answers.worktree_indexes.word_rarity import RescaledIndexes
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.comparing import PROVENANCE, first_difference
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

# What rests on files that did not change.
_LAGGING = ("context", "dependencies", "graph_hash", "is_vendored")


@dataclass(frozen=True)
class Checkout:
    """A copy of an indexed repository, to be changed; `folder` is for what a test makes besides."""

    home: Home
    entry: RepositoryEntry
    base: PublishedIndex
    repo: GitRepo
    folder: Path

    def open(self, root: Path | None = None) -> TreeIndex:
        return open_tree(self.home.settings, self.entry, self.base, root or self.repo.path, rescaled=RescaledIndexes())

    def settle(self, root: Path | None = None) -> PublishedIndex:
        """The settled index."""
        settle_tree(self.home.settings, self.entry, self.base, root or self.repo.path)
        tree = self.open(root)
        assert tree.is_settled
        assert tree.warning == ""
        return tree.parts[0]

    def clean(self, root: Path | None = None) -> PublishedIndex:
        """An index of the folder as it is, made in a home of its own."""
        home = open_home(self.folder / "clean home")
        shutil.rmtree(home.layout.home, ignore_errors=True)
        entry = RepositoryEntry(self.entry.key, str(root or self.repo.path), worktree=True)
        build(workspace_of(home, entry))
        return PublishedIndex.open(home.layout.published(entry.key))


def indexed(folder: Path, files: dict[str, str]) -> Checkout:
    """A repository with one commit, and its index."""
    repo = GitRepo.create(folder / "repository", files)
    home, entry = open_home(folder / "home"), RepositoryEntry("shop", str(repo.path))
    build(workspace_of(home, entry))
    return Checkout(home, entry, PublishedIndex.open(home.layout.published("shop")), repo, folder)


def must_hold_the_law(checkout: Checkout, root: Path | None = None) -> TreeIndex:
    """At once the files that differ are exact and no others are there; settled, all of it is a clean index.

    Returns what answered at once.
    """
    clean = checkout.clean(root)
    tree = checkout.open(root)
    assert tree.warning == ""
    must_be_equal(documents(tree.parts), documents([clean]))
    assert modules(tree.parts) == modules([clean])
    if tree.parts[0] is not checkout.base:
        settled = checkout.settle(root)
        # Every published byte but provenance, of which the orders and ranks of all answers follow.
        must_be_equal(all_documents(settled), all_documents(clean))
        assert settled.version.manifest["content_digest"] == clean.version.manifest["content_digest"]
    return tree


def must_be_equal(found: Any, expected: Any) -> None:
    difference = first_difference(found, expected)
    assert difference is None, difference


def documents(parts: Iterable[PublishedIndex]) -> dict[str, dict[str, Any]]:
    """What may be answered below the folders, by id and without what lags; no id twice."""
    found = [document for index in parts for document in _shown(index) if document["type"] != "module"]
    by_id = {
        document["id"]: {name: value for name, value in document.items() if name not in (*_LAGGING, *PROVENANCE)}
        for document in found
    }
    assert len(by_id) == len(found)
    return by_id


def modules(parts: Iterable[PublishedIndex]) -> list[str]:
    return sorted(found["id"] for index in parts for found in _shown(index) if found["type"] == "module")


def all_documents(index: PublishedIndex) -> list[dict[str, Any]]:
    """In the order of the index, without provenance."""
    return [
        {name: value for name, value in index.document(row).items() if name not in PROVENANCE}
        for row in range(len(index))
    ]


def _shown(index: PublishedIndex) -> list[dict[str, Any]]:
    return [index.document(row) for row in range(len(index)) if index.shows(row)]
