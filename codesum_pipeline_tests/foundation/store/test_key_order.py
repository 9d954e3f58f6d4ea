"""Rows come in the order of their key, however a table holds them."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.foundation.store.rows import _LEAST_RUN, OrderedRows
from codesum_pipeline.foundation.store.table_parts import column_hash

SCHEMA = pa.schema([("lane", pa.string()), ("number", pa.int64()), ("words", pa.list_(pa.string()))])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "lane": st.sampled_from("abc"),
            "number": st.integers(0, 3),
            "words": st.none() | st.lists(st.none() | st.text("xyz", max_size=2), max_size=2),
        }
    ),
    max_size=12,
)


def in_chunks(rows: list[dict[str, object]], cuts: list[int]) -> pa.Table:
    """The rows, cut into chunks of these lengths, the rest as one."""
    parts = []
    for length in cuts:
        parts.append(rows[:length])
        rows = rows[length:]
    return pa.concat_tables([pa.Table.from_pylist(part, schema=SCHEMA) for part in [*parts, rows]])


@given(rows=ROWS, cuts=st.lists(st.integers(0, 5), max_size=3), length=st.integers(1, 5))
def test_columns_and_slices_are_the_rows_sorted_by_the_key_with_equal_ones_as_they_stood(
    rows: list[dict[str, object]], cuts: list[int], length: int
) -> None:
    ordered = OrderedRows.by(in_chunks(rows, cuts), ["lane", "number"])

    expected = sorted(rows, key=lambda row: (row["lane"], row["number"]))
    slices = list(ordered.slices(length))
    assert {name: ordered.column(name).to_pylist() for name in SCHEMA.names} == {
        name: [row[name] for row in expected] for name in SCHEMA.names
    }
    assert [row for part in slices for row in part.to_pylist()] == expected
    assert [part.num_rows for part in slices[:-1]] == [length] * (len(slices) - 1)


@given(rows=ROWS, cuts=st.lists(st.integers(0, 5), max_size=3), length=st.integers(1, 5))
def test_a_slice_holds_rows_of_one_span(rows: list[dict[str, object]], cuts: list[int], length: int) -> None:
    ordered = OrderedRows.by(in_chunks(rows, cuts), ["lane", "number"])

    lanes = sorted(str(row["lane"]) for row in rows)
    spans = [slice(lanes.index(lane), lanes.index(lane) + lanes.count(lane)) for lane in sorted(set(lanes))]
    slices = list(ordered.slices(length, within=spans))

    assert all(len(set(part.column("lane").to_pylist())) <= 1 for part in slices)
    assert pa.concat_tables(slices).to_pylist() == [row for part in ordered.slices(99) for row in part.to_pylist()]


def test_no_rows_are_one_empty_slice() -> None:
    ordered = OrderedRows.by(SCHEMA.empty_table(), ["lane"])

    assert [part.to_pylist() for part in ordered.slices(3)] == [[]]
    assert ordered.column("words").to_pylist() == []


def test_rows_in_order_are_handed_on_without_a_copy() -> None:
    table = in_chunks([{"lane": "a", "number": number, "words": []} for number in range(9)], [4])

    ordered = OrderedRows.by(table, ["number"])

    assert ordered.rows is table
    (first, *_) = ordered.slices(4)
    assert first.column("number").chunk(0).buffers()[1].address == table.column("number").chunk(0).buffers()[1].address


def test_items_that_stand_below_a_null_list_in_memory_are_not_part_of_a_column() -> None:
    """Arrow may keep items for a null list, and they say nothing."""
    field = SCHEMA.field("words")
    mask = pa.array([False, True])

    def hashed(below: str) -> str:
        words = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), pa.array(["shown", below]), mask=mask)
        table = pa.table({"lane": ["a", "b"], "words": words})
        return column_hash(OrderedRows.by(table, ["lane"]).column("words"), field)

    assert hashed("one") == hashed("another") == column_hash(pa.array([["shown"], None]), field)


@pytest.mark.parametrize(("count", "is_put_together"), [(_LEAST_RUN, True), (_LEAST_RUN - 1, False)])
def test_long_runs_that_are_in_order_are_put_one_behind_the_other(count: int, is_put_together: bool) -> None:
    numbers = [*range(count // 2, count), *range(count // 2)]
    rows = [{"lane": "a", "number": number, "words": [str(number)] * (number % 3)} for number in numbers]
    expected = sorted(rows, key=lambda row: row["number"])  # type: ignore[arg-type, return-value]

    ordered = OrderedRows.by(in_chunks(rows, [5]), ["lane", "number"])

    assert ordered.is_ordered is is_put_together
    assert [row for part in ordered.slices(7) for row in part.to_pylist()] == expected
    for field in SCHEMA:
        sorted_before = OrderedRows.by(in_chunks(expected, []), ["lane", "number"]).column(field.name)
        assert column_hash(ordered.column(field.name), field) == column_hash(sorted_before, field)
    assert all(column.num_chunks == 1 for part in ordered.slices(7) for column in part.columns)
