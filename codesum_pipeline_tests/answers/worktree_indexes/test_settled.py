"""The law, extended: once settled, a work tree's answers are those of a clean index of that tree."""

import pytest

from codesum_pipeline.answers.worktree_indexes.opening import open_tree, settle_tree
from codesum_pipeline.answers.worktree_indexes.word_rarity import RescaledIndexes
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline_tests.answers.worktree_indexes.edited import edited_tree
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP

PROVENANCE = ("last_updated", "cause", "cause_ids", "commit", "run_id")
QUESTIONS = ("convert money to another currency", "Cart.add", "count what is left", "shop/money.py", "refund an order")


def documents(index):
    return [
        {name: value for name, value in index.document(row).items() if name not in PROVENANCE}
        for row in range(len(index))
    ]


@pytest.mark.parametrize("number", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in range(1, 4))])
def test_a_settled_tree_answers_as_a_clean_index_of_it(tmp_path, number):
    edited = edited_tree(tmp_path, seed=100 + number, edits=8)
    settings, clean = edited.home.settings, edited.clean

    settle_tree(settings, edited.entry, edited.base, edited.root)
    tree = open_tree(settings, edited.entry, edited.base, edited.root, rescaled=RescaledIndexes())

    (settled,) = tree.parts
    assert tree.is_settled
    assert tree.lags == ""
    assert documents(settled) == documents(clean)
    embedder = embedder_of(settings)
    for question in QUESTIONS:
        assert search_indexes([settled], question, embedder=embedder) == search_indexes(
            [clean], question, embedder=embedder
        )


def test_the_published_index_and_its_tables_stay_as_they_are(tmp_path):
    repo = GitRepo.create(tmp_path / "shop", SHOP)
    home = open_home(tmp_path / "home")
    entry = RepositoryEntry("shop", str(repo.path))
    build(workspace_of(home, entry))
    published = home.layout.published("shop")

    def state():
        return {
            path.relative_to(home.layout.home): (path.stat().st_ino, path.stat().st_mtime_ns)
            for path in home.layout.home.rglob("*")
            if path.is_file() and "overlays" not in path.parts
        }

    before = state()
    repo.write({"shop/money.py": SHOP["shop/money.py"] + "\n\ndef more():\n    return convert(1, 2)\n"})
    settle_tree(home.settings, entry, PublishedIndex.open(published), repo.path)

    assert state() == before
    assert len([*home.layout.overlays("shop").iterdir()]) == 1
