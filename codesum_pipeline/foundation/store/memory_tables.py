"""The tables of one repository in memory."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from codesum_pipeline.foundation.data_model.errors import MissingTable
from codesum_pipeline.foundation.store.rows import OrderedRows, RowReader, TableReader, rows_having
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.table_by_parts import TableByParts
from codesum_pipeline.foundation.store.table_files import TableWrite
from codesum_pipeline.foundation.store.table_parts import rows_of_files
from codesum_pipeline.foundation.store.tables import TableStore


class MemoryTables(TableStore):
    """The tables of one repository in memory, for a small build whose tables nobody asks for later.

    To write a dozen small files and to read each a few times takes longer than all else that a few source files need.
    Rows are not hashed: nothing is compared with an earlier build's.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._rows: dict[str, pa.Table] = {}
        self._notes: dict[str, str] = {}

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
        self,
        table: str,
        repo: str,
        *,
        columns: list[str],
        having: tuple[str, str] | None = None,
        paths: Collection[str] | None = None,
    ) -> Iterator[pa.Table]:
        if table in self._rows and len(self._rows[table]):
            rows = rows_having(self._rows[table], having)
            yield (rows if paths is None else rows_of_files(rows, TABLES[table], paths)).select(columns)

    def reader(self, table: str, repo: str, *, columns: list[str], kept: int = 1) -> RowReader:
        return TableReader(None, self.read(table, repo, columns=columns), kept)

    def write(self, table: str, repo: str, rows: pa.Table, *, note: str = "") -> TableWrite:
        spec = TABLES[table]
        ordered = OrderedRows.by(rows.cast(spec.schema), spec.sort_by)
        (self._rows[table],) = ordered.slices(max(1, len(rows)))
        self._notes[table] = note
        return self.keep(table, repo)

    def append(self, table: str, repo: str, rows: pa.Table) -> TableWrite:
        return self.write(table, repo, pa.concat_tables([self.read_or_empty(table, repo), rows]))

    def read_files(self, table: str, repo: str, paths: Collection[str] | None, *, columns: list[str]) -> pa.Table:
        rows = self.read_or_empty(table, repo)
        return (rows if paths is None else rows_of_files(rows, TABLES[table], paths)).select(columns)

    def replace_files(
        self, table: str, repo: str, rows: pa.Table, paths: Collection[str] | None, *, note: str = ""
    ) -> TableWrite:
        if paths is None:
            return self.write(table, repo, rows, note=note)
        kept = rows_of_files(self.read_or_empty(table, repo), TABLES[table], paths, are_wanted=False)
        return self.write(table, repo, pa.concat_tables([kept, rows.cast(kept.schema)]), note=note)

    def keep(self, table: str, repo: str) -> TableWrite:
        return TableWrite(rows=len(self._rows[table]), table_hash=table)

    def content_hash(self, table: str, repo: str, *, columns: Sequence[str] | None = None) -> str | None:
        """The table's name serves as its hash, if it is a table of this build."""
        return table if table in self._rows and columns is None else None

    def part_hash(self, table: str, repo: str, part: str, *, columns: Sequence[str]) -> str | None:
        return None

    def by_parts(self, table: str, repo: str, *, columns: Sequence[str]) -> TableByParts:
        return TableByParts(TABLES[table], repo, self.read_or_empty(table, repo), [*columns], None)

    def note(self, table: str, repo: str) -> str:
        return self._notes.get(table, "")
