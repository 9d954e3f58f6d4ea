"""Rows of a file by their numbers, group by group."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct, field


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
