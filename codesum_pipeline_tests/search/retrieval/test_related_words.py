import numpy as np

from codesum_pipeline.indexes.file_formats.index_files import StringTable
from codesum_pipeline.search.retrieval.query import STEPS, RelatedWords, load_related_words

TABLE = RelatedWords(
    words=StringTable.of(["credentials", "length", "min", "minimum", "password", "short"]),
    related=np.array([[4, -1], [5, -1], [3, -1], [2, -1], [0, -1], [1, -1]], dtype=np.int32),
    likeness=np.array([[153, 0], [128, 0], [240, 0], [240, 0], [153, 0], [128, 0]], dtype=np.uint8),
)


def test_related_words_come_as_tokens_with_their_likeness() -> None:
    assert TABLE.of("minimum password") == {"min": 240 / STEPS, "credenti": 153 / STEPS}


def test_words_that_are_said_are_not_related_ones() -> None:
    assert TABLE.of("min and minimum") == {}


def test_parts_of_an_identifier_have_related_words_too() -> None:
    assert TABLE.of("MinimumLength") == {"min": 240 / STEPS, "short": 128 / STEPS}


def test_unknown_words_have_none() -> None:
    assert TABLE.of("frobnicate ??? 早い") == {}


def test_the_packaged_table_knows_what_programmers_call_the_same() -> None:
    found = load_related_words().of("the minimum of a password")

    assert {"min", "credenti"} <= set(found)
    assert all(0.4 < likeness <= 1 for likeness in found.values())
