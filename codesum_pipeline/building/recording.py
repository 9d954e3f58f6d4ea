"""What a step reads and writes, noted while it does so.

A list of a step's inputs that somebody keeps by hand goes stale with the first
new read. What is noted here cannot be forgotten.
"""

from collections.abc import Mapping, Sequence

import pyarrow as pa
from msgspec import field

from codesum_pipeline.store.tables import TableStore, TableWrite

# A table's columns that were read; None where they may have been all.
Columns = frozenset[str] | None


class RecordingStore(TableStore, frozen=True):
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

    def write(self, table: str, repo: str, rows: pa.Table, *, note: str = "") -> TableWrite:
        self._writes.add(table)
        return TableStore.write(self, table, repo, rows, note=note)

    def keep(self, table: str, repo: str) -> TableWrite:
        self._writes.add(table)
        return TableStore.keep(self, table, repo)

    def _note_read(self, table: str, columns: Sequence[str] | None) -> None:
        before = self._reads.get(table, frozenset())
        self._reads[table] = None if columns is None or before is None else before | frozenset(columns)
