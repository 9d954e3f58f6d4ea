import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.indexes.file_formats.index_files import build_symbol_names, names_of

NAMES = st.text("abAB_.", min_size=1, max_size=6)
DOCUMENTS = st.lists(st.tuples(st.none() | NAMES, NAMES), max_size=12)


def prefix_scan(documents: list[tuple[str | None, str]], prefix: str, limit: int) -> list[int]:
    """What `with_prefix` promises, by looking at every name."""
    names = sorted({name for document in documents for name in names_of(*document)}, key=str.encode)
    longer = [name for name in names if name.startswith(prefix.lower()) and name != prefix.lower()]
    rows = [
        row
        for name in sorted(longer, key=lambda name: len(name.encode()))
        for row, document in enumerate(documents)
        if name in names_of(*document)
    ]
    return list(dict.fromkeys(rows))[:limit]


@given(DOCUMENTS, NAMES, st.integers(1, 8))
def test_a_prefix_finds_what_a_look_at_every_name_finds(
    documents: list[tuple[str | None, str]], prefix: str, limit: int
) -> None:
    names = build_symbol_names(documents)

    assert names.with_prefix(prefix, limit=limit).tolist() == prefix_scan(documents, prefix, limit)


@given(DOCUMENTS, NAMES)
def test_a_name_finds_all_documents_that_have_it(documents: list[tuple[str | None, str]], name: str) -> None:
    having = [row for row, document in enumerate(documents) if name.lower() in names_of(*document)]

    assert build_symbol_names(documents).rows_named(name) == having


@pytest.mark.parametrize("limit", [1, 2, 9])
def test_shorter_names_come_first(limit: int) -> None:
    documents = [("Store.get_all", "s.py"), ("get_one", "s.py"), ("get", "s.py"), ("getter", "s.py")]

    assert build_symbol_names(documents).with_prefix("get", limit=limit).tolist() == [3, 0, 1][:limit]
