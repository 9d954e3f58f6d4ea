"""The law, as far as it holds at once for relations: each is one of a clean index of the tree, or lags behind as one
that the commit has; and both ends are where the tree has them."""

import numpy as np
import pytest

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.joined_uses import join_uses
from codesum_pipeline.answers.worktree_indexes.opening import open_tree
from codesum_pipeline.answers.worktree_indexes.word_rarity import RescaledIndexes
from codesum_pipeline.indexes.file_formats.index_files import KINDS
from codesum_pipeline_tests.answers.worktree_indexes.edited import edited_tree


def of(home, parts):
    catalogue = IndexCatalogue(home.settings, home.layout, home.registry)
    return JoinedDocuments.of(parts, join_uses(parts, SourceReader(catalogue, parts, pytest.fail)))


def place(documents, number):
    row = documents.row(number)
    return row.id, row.place


def uses(documents):
    """Who uses whom, and how; each end with its lines."""
    found = documents.uses
    used = np.repeat(np.arange(len(found)), np.diff(found.indptr)).tolist()
    edges = zip(found.users.tolist(), used, found.kinds.tolist(), strict=True)
    return {(place(documents, user), place(documents, other), KINDS[kind].value) for user, other, kind in edges}


def ids(edges):
    return {(user, other, kind) for (user, _), (other, _), kind in edges}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(8))
def test_a_relation_is_one_of_the_tree_or_lags_as_one_of_the_commit(tmp_path, number):
    edited = edited_tree(tmp_path, seed=number, edits=8)
    tree = open_tree(edited.home.settings, edited.entry, edited.base, edited.root, rescaled=RescaledIndexes())

    clean = of(edited.home, [edited.clean])
    now, right = uses(of(edited.home, tree.parts)), uses(clean)
    before = ids(uses(of(edited.home, [edited.base])))

    assert ids(now - right) <= before
    places = {place(clean, number) for number in range(len(clean.parts[0]))}
    assert {end for user, used, _ in now for end in (user, used)} <= places
    assert len(now & right) >= 0.8 * len(right)
