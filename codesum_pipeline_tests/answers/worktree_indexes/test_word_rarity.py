from pathlib import Path

import pytest

from codesum_pipeline.answers.worktree_indexes import word_rarity
from codesum_pipeline.indexes.file_formats.version_folder import TERM_LANES
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline_tests.support.synthetic_indexes import SHOP, Definition, Files, make_index_workspace, publish

NEW: Files = {"shop/cart.py": (Definition("add_item", "Adds it.", "def add_item(price, unheard): return price"),)}


def index_of(home: Path, files: Files) -> PublishedIndex:
    workspace = make_index_workspace(home, files)
    publish(workspace)
    return PublishedIndex.open(workspace.layout.published("shop"))


@pytest.mark.parametrize("number", [1, 2, word_rarity._AT_ONCE])
def test_words_are_as_rare_however_many_are_counted_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    base, small = index_of(tmp_path / "base", SHOP), index_of(tmp_path / "small", NEW)
    usual = word_rarity.with_rarity_of(base, small)
    monkeypatch.setattr(word_rarity, "_AT_ONCE", number)
    found = word_rarity.with_rarity_of(base, small)

    for lane in TERM_LANES:
        assert len(small.words[lane].vocabulary) > 2
        assert found.words[lane].data.tolist() == usual.words[lane].data.tolist()
    assert usual.words[TERM_LANES[0]].data.tolist() != small.words[TERM_LANES[0]].data.tolist()
