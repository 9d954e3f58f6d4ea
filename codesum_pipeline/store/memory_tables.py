"""Tables of a small build, in memory: its steps make them from one another, and nobody asks for them later.

Writing a dozen small files and reading each a few times takes longer than what a few source files need otherwise.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import field

from codesum_pipeline.model.errors import MissingTable
from codesum_pipeline.store.key_order import OrderedRows, RowReader
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.store.tables import TableStore, TableWrite, rows_having


class MemoryTables(TableStore, frozen=True):
    """The tables of one repository. What they say is not hashed: nothing is compared with an earlier build's."""

    _rows: dict[str, pa.Table] = field(default_factory=dict)
    _notes: dict[str, str] = field(default_factory=dict)

    @property
    def is_scratch(self) -> bool:
        return True

    def readable_path(self, table: str, repo: str) -> Path | None:
        return None

    def read(self, table: str, repo: str, *, columns: list[str] | None = None) -> pa.Table:
        if table not in self._rows:
            raise MissingTable(f"repository {repo!r} has no table {table!r} yet")
        return self._rows[table].select(columns) if columns else self._rows[table]

    def read_parts(
        self, table: str, repo: str, *, columns: list[str], having: tuple[str, str] | None = None
    ) -> Iterator[pa.Table]:
        found = self._rows.get(table)
        if found is not None and len(found):
            yield rows_having(found.select(columns), having)

    def reader(self, table: str, repo: str, *, columns: list[str], kept: int = 1) -> RowReader:
        return _TableReader(None, self.read(table, repo, columns=columns), kept)

    def write(self, table: str, repo: str, rows: pa.Table, *, note: str = "") -> TableWrite:
        spec = TABLES[table]
        ordered = OrderedRows.by(rows.cast(spec.schema), spec.sort_by)
        (self._rows[table],) = ordered.slices(max(1, len(rows)))
        self._notes[table] = note
        return self.keep(table, repo)

    def keep(self, table: str, repo: str) -> TableWrite:
        return TableWrite(rows=len(self._rows[table]), table_hash=table)

    def content_hash(self, table: str, repo: str, *, columns: Sequence[str] | None = None) -> str | None:
        """The table's name stands for all that it says, as long as it is one of this build."""
        return table if table in self._rows and columns is None else None

    def part_hash(self, table: str, repo: str, part: str, *, columns: Sequence[str]) -> str | None:
        return None

    def note(self, table: str, repo: str) -> str:
        return self._notes.get(table, "")


class _TableReader(RowReader, frozen=True):
    """Of a table in memory, `empty` has the rows."""

    def at(self, rows: npt.NDArray[np.int64]) -> pa.Table:
        return self.empty.take(pa.array(rows))
