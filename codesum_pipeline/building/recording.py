"""What a step reads and writes, noted while it does so.

A list of a step's inputs that somebody keeps by hand goes stale with the first
new read. What is noted here cannot be forgotten.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from codesum_pipeline.store.row_reader import RowReader
from codesum_pipeline.store.tables import TableStore, TableWrite

# A table's columns that were read; None where they may have been all.
Columns = frozenset[str] | None


@dataclass(frozen=True, slots=True)
class RecordingStore(TableStore):
    """The tables of one root folder, and which of them were touched."""

    _reads: dict[str, Columns] = field(default_factory=dict)
    _writes: set[str] = field(default_factory=set)

    def reads(self) -> Mapping[str, Columns]:
        """The tables that were read and not written: what a step writes itself it may also take over from."""
        return {table: columns for table, columns in sorted(self._reads.items()) if table not in self._writes}

    def writes(self) -> list[str]:
        """The tables that were written."""
        return sorted(self._writes)

    # The base class is named, for a dataclass with slots is made twice and `super()` finds the first.

    def readable_path(self, table: str, repo: str) -> Path | None:
        self._note(table, None)
        return TableStore.readable_path(self, table, repo)

    def read(self, table: str, repo: str, *, columns: list[str] | None = None) -> pa.Table:
        self._note(table, columns)
        return TableStore.read(self, table, repo, columns=columns)

    def read_parts(
        self, table: str, repo: str, *, columns: list[str], having: tuple[str, str] | None = None
    ) -> Iterator[pa.Table]:
        self._note(table, columns)
        return TableStore.read_parts(self, table, repo, columns=columns, having=having)

    def reader(self, table: str, repo: str, *, columns: list[str], kept: int = 1) -> RowReader:
        self._note(table, columns)
        return TableStore.reader(self, table, repo, columns=columns, kept=kept)

    def part_hash(self, table: str, repo: str, part: str, *, columns: Sequence[str]) -> str | None:
        self._note(table, columns)
        return TableStore.part_hash(self, table, repo, part, columns=columns)

    def read_first(self, table: str, repo: str, *, columns: list[str]) -> pa.Table:
        self._note(table, columns)
        return TableStore.read_first(self, table, repo, columns=columns)

    def read_or_empty(self, table: str, repo: str, *, columns: list[str] | None = None) -> pa.Table:
        self._note(table, columns)
        return TableStore.read_or_empty(self, table, repo, columns=columns)

    def write(self, table: str, repo: str, rows: pa.Table, *, note: str = "") -> TableWrite:
        self._writes.add(table)
        return TableStore.write(self, table, repo, rows, note=note)

    def keep(self, table: str, repo: str) -> TableWrite:
        self._writes.add(table)
        return TableStore.keep(self, table, repo)

    def _note(self, table: str, columns: Sequence[str] | None) -> None:
        before = self._reads.get(table, frozenset())
        self._reads[table] = None if columns is None or before is None else before | frozenset(columns)
