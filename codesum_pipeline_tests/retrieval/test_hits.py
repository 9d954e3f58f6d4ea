import pytest

from codesum_pipeline.retrieval.hits import explain_ranks
from codesum_pipeline.retrieval.weights import Signal


@pytest.mark.parametrize(
    ("ranks", "notes", "expected"),
    [
        ({Signal.SUMMARY: 3, Signal.CODE_WORDS: 1}, [], "code words #1, summary #3"),
        ({Signal.KEYWORDS: 2, Signal.SYMBOL: 2}, ["test code, lowered"], "symbol #2, keywords #2; test code, lowered"),
        ({}, ["test code, lowered"], "what stands in it; test code, lowered"),
    ],
    ids=["the best first", "then what else counted", "a file found by its documents alone"],
)
def test_why_is_told_in_ranks(ranks, notes, expected) -> None:
    assert explain_ranks(ranks, notes) == expected
