import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.document import (
    Citation,
    InputSpec,
    Returns,
    SummaryDocument,
    TextRow,
    WrittenText,
)
from codesum_pipeline.foundation.data_model.file import SourceFile
from codesum_pipeline.foundation.data_model.symbol import FileFacts, Symbol
from codesum_pipeline.foundation.store.rows import from_table, lists_of_field, schema_of, to_table

text = st.text(st.characters(codec="utf-8"), max_size=8)
texts = st.lists(text, max_size=2).map(tuple)
written = st.builds(
    WrittenText,
    summary=text,
    business_intent=text,
    keywords=texts,
    returns=st.none() | st.builds(Returns, text, text, text),
    inputs=st.lists(st.builds(InputSpec, text, text, text), max_size=2).map(tuple),
    citations=st.lists(st.builds(Citation, text, st.integers(1, 9), st.integers(1, 9)), max_size=2).map(tuple),
)


@given(st.lists(st.builds(TextRow, text=written, cost_usd=st.floats(0, 9)), max_size=3))
def test_what_is_read_back_is_what_was_written(rows: list[TextRow]) -> None:
    assert from_table(to_table(rows, TextRow), TextRow) == rows


@given(st.lists(st.builds(TextRow, text=written, cost_usd=st.floats(0, 9)), max_size=3), st.integers(0, 3))
def test_the_lists_of_one_field_are_those_of_the_rows(rows: list[TextRow], first: int) -> None:
    table = pa.concat_tables([to_table([row], TextRow) for row in rows] or [to_table([], TextRow)]).slice(first)

    found = lists_of_field(table.column("children"), "text_hash").to_pylist()

    assert found == [[child.text_hash for child in row.children] for row in rows[first:]]


@given(st.lists(st.builds(SourceFile, size=st.integers(0, 2**62)), max_size=3))
def test_enumerations_and_optional_values_come_back_as_themselves(rows: list[SourceFile]) -> None:
    assert from_table(to_table(rows, SourceFile), SourceFile) == rows


def test_every_noun_has_a_column_per_field() -> None:
    for noun in (Symbol, FileFacts, SummaryDocument, TextRow):
        assert schema_of(noun).names == list(noun.__struct_fields__)
