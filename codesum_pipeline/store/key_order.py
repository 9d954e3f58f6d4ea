"""The rows of a table in the order of its key, a column or a slice at a time: never a second copy of the whole."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, slots=True)
class OrderedRows:
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

    def slices(self, length: int) -> Iterator[pa.Table]:
        """All rows, so many at a time; at least one slice."""
        starts = range(0, max(len(self.order), 1), length)
        if self.is_ordered:
            yield from (self.rows.slice(start, length) for start in starts)
            return
        # Taking rows from several chunks at once would put all chunks together each time.
        batches = self.rows.to_batches()
        firsts = np.cumsum([0, *(batch.num_rows for batch in batches)])
        order = self.order.to_numpy().astype(np.int64)
        for start in starts:
            wanted = np.sort(order[start : start + length])
            cuts = np.searchsorted(wanted, firsts)
            some = pa.Table.from_batches(
                batch.take(pa.array(wanted[cut:end] - first))
                for batch, first, (cut, end) in zip(batches, firsts, pairwise(cuts), strict=False)
                if cut < end
            )
            yield some.combine_chunks().take(pa.array(np.searchsorted(wanted, order[start : start + length])))


def _has_nulls(array: pa.Array) -> bool:
    kind = array.type
    if array.null_count:
        return True
    if pa.types.is_struct(kind):
        return any(_has_nulls(array.field(number)) for number in range(kind.num_fields))
    return pa.types.is_list(kind) and _has_nulls(array.values)
