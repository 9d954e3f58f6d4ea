"""Rows of a table: in the order of its key, without a second copy of the whole, and by their numbers."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct, field


class OrderedRows(Struct, frozen=True):
    """`rows` as they are to be read: row k is `rows[order[k]]`, or `rows[k]` where they stood in order already."""

    rows: pa.Table
    order: pa.Array
    is_ordered: bool

    @classmethod
    def by(cls, rows: pa.Table, key: Sequence[str]) -> "OrderedRows":
        """By the columns of the key, equal ones as they stand."""
        order = pc.sort_indices(rows, sort_keys=[(column, "ascending") for column in key])
        is_ordered = bool((np.diff(order.to_numpy().astype(np.int64)) == 1).all())
        return cls(rows, order, is_ordered)

    def column(self, name: str) -> pa.Array:
        """One column as one array, without items that may stand below null lists in memory."""
        column = self.rows.column(name)
        array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        return array if self.is_ordered and not _has_nulls(array) else array.take(self.order)

    def spans(self, name: str) -> dict[str, slice]:
        """Of a column that the key begins with, where the rows with each value stand."""
        values = self.rows.column(name).combine_chunks().take(self.order).dictionary_encode()
        ends = np.cumsum(np.bincount(values.indices.to_numpy(), minlength=len(values.dictionary))).tolist()
        starts = [0, *ends][:-1]
        return {value: slice(*span) for value, *span in zip(values.dictionary.to_pylist(), starts, ends, strict=True)}

    def slices(self, length: int, *, within: Iterable[slice] = ()) -> Iterator[pa.Table]:
        """All rows, so many at a time, but none of two spans `within` which they all stand; at least one slice."""
        spans = [*within] or [slice(0, max(len(self.order), 1))]
        cuts = [
            (start, min(start + length, span.stop)) for span in spans for start in range(span.start, span.stop, length)
        ]
        if self.is_ordered:
            yield from (self.rows.slice(start, stop - start) for start, stop in cuts)
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


def _has_nulls(array: pa.Array) -> bool:
    kind = array.type
    if array.null_count:
        return True
    if pa.types.is_struct(kind):
        return any(_has_nulls(array.field(number)) for number in range(kind.num_fields))
    return pa.types.is_list(kind) and _has_nulls(array.values)


class RowReader(Struct, frozen=True):
    """Reads the columns of `empty` of an open file, and keeps the last groups of rows that it read."""

    file: pq.ParquetFile
    empty: pa.Table
    kept: int
    _groups: dict[int, pa.Table] = field(default_factory=dict)

    def at(self, rows: npt.NDArray[np.int64]) -> pa.Table:
        """The rows with these numbers, which ascend."""
        parts, first = [self.empty], 0
        for group in range(self.file.num_row_groups):
            last = first + self.file.metadata.row_group(group).num_rows
            start, stop = np.searchsorted(rows, (first, last)).tolist()
            if start < stop:
                parts.append(self._group(group).take(pa.array(rows[start:stop] - first)))
            first = last
        return pa.concat_tables(parts)

    def _group(self, group: int) -> pa.Table:
        found = self._groups.pop(group, None)
        if found is None:
            while len(self._groups) >= self.kept:
                del self._groups[next(iter(self._groups))]
            columns = self.empty.column_names
            found = self.file.read_row_group(group, columns=columns).replace_schema_metadata(None)
        self._groups[group] = found
        return found
