"""The law, as far as it holds at once: a changed file's documents are those that a clean index of the tree has."""

import pytest

from codesum_pipeline.answers.worktree_indexes import tree_builds
from codesum_pipeline.answers.worktree_indexes.opening import open_tree
from codesum_pipeline.answers.worktree_indexes.word_rarity import RescaledIndexes
from codesum_pipeline_tests.answers.worktree_indexes.edited import edited_tree

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


@pytest.mark.parametrize("number", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in range(1, 6))])
def test_the_documents_of_a_tree_after_random_edits_are_those_of_a_clean_index(tmp_path, number):
    edited = edited_tree(tmp_path, seed=number, edits=10)

    tree = open_tree(edited.home.settings, edited.entry, edited.base, edited.root, rescaled=RescaledIndexes())

    assert tree.warning == ""
    assert documents(tree.parts) == documents([edited.clean])
    assert modules(tree.parts) == modules([edited.clean])


@pytest.mark.parametrize("read_while", [0, 1_000_000], ids=["nothing is taken over", "whatever is there is taken over"])
def test_a_tree_is_that_of_a_clean_index_whatever_is_taken_over_for_it(tmp_path, monkeypatch, read_while):
    monkeypatch.setattr(tree_builds, "_READ_WHILE_ONE_IS_MADE", read_while)
    edited = edited_tree(tmp_path, seed=0, edits=3)

    tree = open_tree(edited.home.settings, edited.entry, edited.base, edited.root, rescaled=RescaledIndexes())

    assert documents(tree.parts) == documents([edited.clean])
