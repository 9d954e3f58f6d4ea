"""The law, as far as it holds at once: a changed file's documents are those that a clean index of the tree has."""

import random

import pytest

from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.overlays.opening import open_tree
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline_tests.building import build, open_home, workspace_of
from codesum_pipeline_tests.law.random_edits import OPERATIONS, change
from codesum_pipeline_tests.law.shop import SHOP
from codesum_pipeline_tests.repositories import GitRepo

# What rests on files that did not change, and when and why a text was written.
LAGGING = ("context", "dependencies", "graph_hash", "last_updated", "cause", "cause_ids", "commit", "run_id")


def documents(parts):
    """What may be answered below the folders, by id; no id twice."""
    found = [
        {name: value for name, value in index.document(row).items() if name not in LAGGING}
        for index in parts
        for row in range(len(index))
        if index.shows(row) and index.document(row)["type"] != "module"
    ]
    by_id = {document["id"]: document for document in found}
    assert len(by_id) == len(found)
    return by_id


def modules(parts):
    return sorted(
        index.ids[row]
        for index in parts
        for row in range(len(index))
        if index.shows(row) and index.document(row)["type"] == "module"
    )


@pytest.mark.parametrize("number", range(6))
def test_the_documents_of_a_tree_after_random_edits_are_those_of_a_clean_index(tmp_path, number):
    chance = random.Random(number)
    repo = GitRepo.create(tmp_path / "shop", SHOP)
    home = open_home(tmp_path / "home")
    entry = RepositoryEntry("shop", str(repo.path))
    build(workspace_of(home, entry))
    base = PublishedIndex.open(home.layout.published("shop"))
    files = SHOP
    for _ in range(10):
        files = change(files, chance.choice(OPERATIONS), chance)
    clean_repo = GitRepo.create(tmp_path / "clean", files)
    clean_home = open_home(tmp_path / "clean home")
    build(workspace_of(clean_home, RepositoryEntry("shop", str(clean_repo.path))))
    clean = PublishedIndex.open(clean_home.layout.published("shop"))
    for path in SHOP.keys() - files.keys():
        (repo.path / path).unlink()
    repo.write(files)

    tree = open_tree(home.settings, entry, base, repo.path)

    assert tree.warning == ""
    assert documents(tree.parts) == documents([clean])
    assert modules(tree.parts) == modules([clean])
