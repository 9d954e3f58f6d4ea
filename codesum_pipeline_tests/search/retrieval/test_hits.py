from pathlib import Path

import pytest
from msgspec import to_builtins

from codesum_pipeline.search.retrieval.hits import explain_ranks, make_hit
from codesum_pipeline.search.retrieval.published_index import IndexedDocument, PublishedIndex
from codesum_pipeline.search.retrieval.weights import Signal
from codesum_pipeline_tests.support.synthetic_indexes import Definition, make_index_workspace, publish


@pytest.mark.parametrize(
    ("ranks", "notes", "expected"),
    [
        ({Signal.SUMMARY: 3, Signal.CODE_WORDS: 1}, [], "code words #1, summary #3"),
        ({Signal.KEYWORDS: 2, Signal.SYMBOL: 2}, ["test code, lowered"], "symbol #2, keywords #2; test code, lowered"),
        ({}, ["test code, lowered"], "its content; test code, lowered"),
    ],
    ids=["the best first", "then what else counted", "a file found by its documents alone"],
)
def test_why_is_told_in_ranks(ranks, notes, expected) -> None:
    assert explain_ranks(ranks, notes) == expected


def test_a_hit_shows_the_fields_of_its_document(tmp_path: Path, shop: PublishedIndex) -> None:
    # Texts that look like fields of a document.
    tricky = 'It says ,"business_intent":1,"start_line":2,"returns":3 and "returns":'
    files = {"a.py": (Definition("odd", tricky, "def odd(): ..."), Definition("even", "", "def even(): ..."))}
    workspace = make_index_workspace(tmp_path, files)
    publish(workspace)
    for index in (shop, PublishedIndex.open(workspace.layout.published("shop"))):
        for row in range(len(index)):
            hit, document = (
                to_builtins(make_hit(IndexedDocument(index, row), score=0.0, why="")),
                index.document(row),
            )
            added = ("repo", "score", "why", "line", "cell", "cell_line")
            shown = {name: value for name, value in hit.items() if name not in added}
            assert shown == {name: document[name] for name in shown}
