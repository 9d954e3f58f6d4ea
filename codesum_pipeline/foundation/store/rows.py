"""Rows of tables: from Structs to Arrow and back, in the order of a key without a second copy, by their numbers.

The annotations of a Struct are the schema of its table. Strings, numbers and booleans map to themselves, a `StrEnum` to
its value, a tuple to a list, a nested Struct to a struct, `X | None` to a nullable X. Both directions work column by
column: a struct is taken apart into its fields' columns, a list into one column of all its items, so no row becomes a
dictionary on its way.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from functools import cache
from itertools import accumulate, chain, pairwise
from operator import attrgetter
from types import NoneType, SimpleNamespace, UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import fields, replace

if TYPE_CHECKING:
    import pyarrow.parquet as pq

T = TypeVar("T", bound=Struct)
# By the name of a column of structs, those of its fields that are read; in memory there are all.
Fields = Mapping[str, Sequence[str]]
NO_FIELDS: Fields = {}
# The allocator of the C library: Arrow's own takes and clears 100 MB more, a tenth of a second of a small build.
pa.set_memory_pool(pa.system_memory_pool())

_PLAIN = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
_BLANKS = {pa.string(): "", pa.int64(): 0, pa.float64(): 0.0, pa.bool_(): False}


class _Shape(Struct, frozen=True):
    """How one annotation is stored; `item` is a list's, `parts` are a struct's, in order."""

    kind: pa.DataType
    is_optional: bool
    enum: type[StrEnum] | None = None
    item: "_Shape | None" = None
    row_type: type | None = None
    names: tuple[str, ...] = ()
    parts: "tuple[_Shape, ...]" = ()

    @property
    def blank(self) -> Any:
        """The filler value below a null struct whose fields are not nullable themselves."""
        return None if self.is_optional else () if self.item is not None else _BLANKS.get(self.kind)


@cache
def schema_of(row_type: Any) -> pa.Schema:
    """The Arrow schema whose columns are the fields of a Struct, in order."""
    shape = _struct_shape(row_type, is_optional=False)
    return pa.schema(list(shape.kind))


def column_names(row_type: Any) -> list[str]:
    """The names of a Struct's columns, in order."""
    names: list[str] = schema_of(row_type).names
    return names


def to_table(rows: Sequence[T], row_type: type[T]) -> pa.Table:
    """One row per value, one column per field."""
    noun: Any = row_type
    return pa.Table.from_arrays(_encode_parts(rows, _struct_shape(noun, is_optional=False)), schema=schema_of(noun))


def from_table(table: pa.Table, row_type: type[T]) -> list[T]:
    """The values whose fields are columns of `table`, which may have more; the inverse of `to_table`."""
    noun: Any = row_type
    shape = _struct_shape(noun, is_optional=False)
    columns = [
        _decode(_one_chunk(table.column(name)), part) for name, part in zip(shape.names, shape.parts, strict=True)
    ]
    return [row_type(*values) for values in zip(*columns, strict=True)]


def values_of(table: pa.Table, row_type: Any, name: str) -> list[Any]:
    """The values of one column, as `from_table` gives them for that field of a Struct."""
    shape = _struct_shape(row_type, is_optional=False)
    return _decode(_one_chunk(table.column(name)), shape.parts[shape.names.index(name)])


def tuples_of(table: pa.Table, names: Sequence[str] | None = None) -> Iterator[tuple[Any, ...]]:
    """The values of some columns, or of all, row by row."""
    return zip(*(table.column(name).to_pylist() for name in names or table.column_names), strict=True)


def rows_with(table: pa.Table, values: Iterable[str], column: str = "id") -> pa.Table:
    """The rows that have one of these values in a column."""
    return table.filter(pc.is_in(table.column(column), value_set=pa.array([*values], pa.string())))


def lists_of_field(column: pa.ChunkedArray, name: str) -> pa.ListArray:
    """The lists of one field in a column of lists of structs; none of them may be null."""
    lists = _one_chunk(column)
    lengths = pc.list_value_length(lists).to_numpy()
    offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pc.struct_field(pc.list_flatten(lists), name))


def join_by_row(rows: pa.ChunkedArray, strings: pa.ChunkedArray, count: int, separator: str) -> pa.LargeStringArray:
    """For each of `count` rows the strings that `rows` gives it, in their order, joined; those of null are left out."""
    numbers = pc.fill_null(rows, -1).to_numpy().astype(np.int64)
    order = np.argsort(numbers, kind="stable")
    bounds = np.searchsorted(numbers[order], np.arange(count + 1))
    own = strings.cast(pa.large_string()).combine_chunks().take(pa.array(order[bounds[0] :]))
    lists = pa.LargeListArray.from_arrays(pa.array(bounds - bounds[0]), own)
    return pc.binary_join(lists, pa.scalar(separator, pa.large_string()))


@cache
def _struct_shape(row_type: Any, *, is_optional: bool) -> _Shape:
    hints = get_type_hints(row_type)
    names = tuple(field.name for field in fields(row_type))
    parts = tuple(_shape(hints[name]) for name in names)
    kind = pa.struct(
        [pa.field(name, part.kind, nullable=part.is_optional) for name, part in zip(names, parts, strict=True)]
    )
    return _Shape(kind, is_optional, row_type=row_type, names=names, parts=parts)


def _shape(hint: Any) -> _Shape:
    is_optional = False
    if get_origin(hint) in (UnionType, Union):
        is_optional = True
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
    if hint in _PLAIN:
        return _Shape(_PLAIN[hint], is_optional)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _Shape(pa.string(), is_optional, enum=hint)
    if get_origin(hint) is tuple:
        item = _shape(get_args(hint)[0])
        return _Shape(pa.list_(pa.field("item", item.kind, nullable=False)), is_optional, item=item)
    if isinstance(hint, type) and issubclass(hint, Struct):
        noun: Any = hint
        return _struct_shape(noun, is_optional=is_optional)
    raise TypeError(f"no column type for {hint!r}")


def _encode_parts(rows: Sequence[Any], shape: _Shape) -> list[pa.Array]:
    """One array per field of a struct; a row of None has a blank in each."""
    if not all(rows):
        blank = SimpleNamespace(**{name: part.blank for name, part in zip(shape.names, shape.parts, strict=True)})
        rows = [blank if row is None else row for row in rows]
    return [_encode([*map(attrgetter(name), rows)], part) for name, part in zip(shape.names, shape.parts, strict=True)]


def _encode(values: Sequence[Any], shape: _Shape) -> pa.Array:
    if shape.item is not None:
        lists = [value or () for value in values] if shape.is_optional else values
        items = [*chain.from_iterable(lists)]
        offsets: list[int | None] = [*accumulate(map(len, lists), initial=0)]
        if shape.is_optional:
            offsets[:-1] = [None if value is None else at for value, at in zip(values, offsets, strict=False)]
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), _encode(items, shape.item), type=shape.kind)
    if shape.row_type is not None:
        mask = pa.array([value is None for value in values], pa.bool_()) if shape.is_optional else None
        return pa.StructArray.from_arrays(_encode_parts(values, shape), fields=list(shape.kind), mask=mask)
    return pa.array(values, shape.kind)


def _decode(array: pa.Array, shape: _Shape) -> list[Any]:
    if shape.item is not None:
        items = _decode(array.values, shape.item)
        lists: list[Any] = [tuple(items[start:stop]) for start, stop in pairwise(array.offsets.to_pylist())]
        return _without_nulls(lists, array)
    if shape.row_type is not None:
        columns = [_decode(part, one) for part, one in zip(array.flatten(), shape.parts, strict=True)]
        row_type = shape.row_type
        return _without_nulls([row_type(*values) for values in zip(*columns, strict=True)], array)
    values: list[Any] = array.to_pylist()
    if shape.enum is None:
        return values
    members = {member.value: member for member in shape.enum}
    return [None if value is None else members[value] for value in values]


def _without_nulls(values: list[Any], array: pa.Array) -> list[Any]:
    """The values with None if the array has null."""
    if not array.null_count:
        return values
    return [value if valid else None for value, valid in zip(values, array.is_valid().to_pylist(), strict=True)]


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def make_nulls(count: int, type_: pa.DataType) -> pa.Array:
    """So many nulls. Those of `pa.nulls` cannot be written where a struct has fields that are never null."""
    return pa.array([None] * count, type_)


# Rows in a run on average, from which on runs are put in order rather than rows: with shorter ones, chunks are so many
# that to go through them takes longer than to take rows.
_LEAST_RUN = 64


class OrderedRows(Struct, frozen=True):
    """`rows` in the order of reading: row k is `rows[order[k]]`, or `rows[k]` if they were sorted already."""

    rows: pa.Table
    order: pa.Array
    is_ordered: bool

    @classmethod
    def by(cls, rows: pa.Table, key: Sequence[str]) -> "OrderedRows":
        """Sorted by the columns of the key; equal rows keep their order. Where long runs of rows are in order already,
        as those that were carried over, they are put one behind the other without a copy."""
        order = pc.sort_indices(rows, sort_keys=[(column, "ascending") for column in key])
        breaks = np.flatnonzero(np.diff(order.to_numpy().astype(np.int64)) != 1) + 1
        if 0 < len(breaks) * _LEAST_RUN <= len(order):
            starts = [0, *breaks.tolist()]
            runs = zip(starts, np.diff([*starts, len(order)]).tolist(), strict=True)
            rows = pa.concat_tables(rows.slice(order[start].as_py(), length) for start, length in runs)
            order, breaks = pa.array(np.arange(len(order), dtype=np.uint64)), breaks[:0]
        return cls(rows, order, is_ordered=not len(breaks))

    def column(self, name: str) -> pa.Array:
        """One column as one array, without items that memory may hold below null lists."""
        column = self.rows.column(name)
        array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        return array if self.is_ordered and not _has_nulls(array) else array.take(self.order)

    def slices(self, length: int, *, within: Iterable[slice] = ()) -> Iterator[pa.Table]:
        """All rows in slices of `length`; no slice crosses two of the spans in `within`. At least one slice."""
        spans = [*within] or [slice(0, max(len(self.order), 1))]
        cuts = [
            (start, min(start + length, span.stop)) for span in spans for start in range(span.start, span.stop, length)
        ]
        if self.is_ordered:
            # One chunk each: the same rows then give the same bytes.
            yield from (self.rows.slice(start, stop - start).combine_chunks() for start, stop in cuts)
            return
        # Taking rows from several chunks at once would put all chunks together each time.
        batches = self.rows.to_batches()
        firsts = np.cumsum([0, *(batch.num_rows for batch in batches)])
        order = self.order.to_numpy().astype(np.int64)
        for start, stop in cuts:
            wanted = np.sort(order[start:stop])
            places = np.searchsorted(wanted, firsts)
            some = pa.Table.from_batches(
                batch.take(pa.array(wanted[place:end] - first))
                for batch, first, (place, end) in zip(batches, firsts, pairwise(places), strict=False)
                if place < end
            )
            yield some.combine_chunks().take(pa.array(np.searchsorted(wanted, order[start:stop])))


def with_newer_columns(found: pa.Table, schema: pa.Schema, columns: Sequence[str] | None) -> pa.Table:
    """Add columns, and fields of structs, that the table is too old to have: they are null, where null is allowed."""
    for place, name in enumerate(schema.names if columns is None else columns):
        field = schema.field(name)
        if field.nullable and name not in found.column_names:
            found = found.add_column(place, field, make_nulls(found.num_rows, field.type))
        elif pa.types.is_struct(field.type) and found.schema.field(name).type != field.type:
            found = found.set_column(found.schema.get_field_index(name), field, found.column(name).cast(field.type))
    return found


def rows_having(rows: pa.Table, having: tuple[str, str] | None) -> pa.Table:
    """The rows with a value in a column; all if nothing is asked for."""
    if having is None:
        return rows
    is_wanted = pc.equal(rows.column(having[0]), having[1])
    return rows if pc.all(is_wanted, min_count=0).as_py() else rows.filter(is_wanted)


def _has_nulls(array: pa.Array) -> bool:
    kind = array.type
    if array.null_count:
        return True
    if pa.types.is_struct(kind):
        return any(_has_nulls(array.field(number)) for number in range(kind.num_fields))
    return pa.types.is_list(kind) and _has_nulls(array.values)


def _rows_at(rows: pa.Table, places: npt.NDArray[np.int64]) -> pa.Table:
    """The rows at ascending places; of neighbours no copy is made."""
    first, count = int(places[0]), len(places)
    return rows.slice(first, count) if places[-1] - first == count - 1 else rows.take(pa.array(places))


class RowReader(Struct, eq=False):
    """Reads the columns of `empty` of an open file, of structs only the `fields` that are given, and keeps the last
    groups of rows that it read."""

    file: "pq.ParquetFile"
    empty: pa.Table
    kept: int
    fields: Fields = NO_FIELDS
    # Around each read of the file: it says what is damaged.
    guard: Callable[[], AbstractContextManager[None]] = nullcontext
    _groups: dict[int, pa.Table] = field(default_factory=dict)

    def having(self, fields: Fields) -> "RowReader":
        """The same, with only these fields of some structs."""
        return replace(self, fields=fields)

    def at(self, rows: npt.NDArray[np.int64]) -> pa.Table:
        """The rows with these numbers, which ascend."""
        parts, first = list[pa.Table](), 0
        for group in range(self.file.num_row_groups):
            last = first + self.file.metadata.row_group(group).num_rows
            start, stop = np.searchsorted(rows, (first, last)).tolist()
            if start < stop:
                parts.append(_rows_at(self._group(group), rows[start:stop] - first))
            first = last
        return pa.concat_tables(parts) if parts else self.empty

    def _group(self, group: int) -> pa.Table:
        found = self._groups.pop(group, None)
        if found is None:
            while len(self._groups) >= self.kept:
                del self._groups[next(iter(self._groups))]
            names = self.empty.column_names
            paths = [
                path for name in names for path in [f"{name}.{one}" for one in self.fields.get(name, ())] or [name]
            ]
            with self.guard():
                found = self.file.read_row_group(group, columns=paths).replace_schema_metadata(None)
            found = found if self.fields else with_newer_columns(found, self.empty.schema, names)
        self._groups[group] = found
        return found


class TableReader(RowReader, eq=False):
    """Reads a table in memory; `empty` has the rows."""

    def at(self, rows: npt.NDArray[np.int64]) -> pa.Table:
        return self.empty.take(pa.array(rows[rows < len(self.empty)]))


def rows_to_read(rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], pa.Array]:
    """The row numbers to pass to `TableStore.read_at`, and the place of each given row among them; null for row -1."""
    is_one = rows >= 0
    wanted, places = np.unique(rows[is_one], return_inverse=True)
    at = np.zeros(len(rows), dtype=np.int64)
    at[is_one] = places
    return wanted, pa.array(at, mask=~is_one)
