"""The tables that builds append to: rows that nobody needs any more go, and old books are added up."""

from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.llm.ledger import rows_of_unfinished_builds
from codesum_pipeline.model.avoided import AvoidedRow
from codesum_pipeline.model.ledger import LedgerRow
from codesum_pipeline.settings.operation import MaintenanceSettings
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.rows import to_table
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.upkeep.books import added_up_avoided, added_up_ledger
from codesum_pipeline.upkeep.freed import FreedSpace, RemovalKind
from codesum_pipeline.upkeep.history import PastRow, kept_sequences

HISTORY = "document_history"
# A table is written as a whole, and steps that read it run once more: less is not worth that.
_WORTH_IT = 0.2


class GrowingTables(Struct, frozen=True):
    """Those of one repository. Its lease must be held, but for a dry run."""

    tables: TableStore
    layout: HomeLayout
    repository: str
    policy: MaintenanceSettings
    now: datetime

    def prune(self, *, is_dry_run: bool) -> list[FreedSpace]:
        """Each table is replaced in one step, or stays as it is."""
        return [
            *self._prune_history(is_dry_run=is_dry_run),
            *self._add_up_ledger(is_dry_run=is_dry_run),
            *self._add_up_avoided(is_dry_run=is_dry_run),
        ]

    def _prune_history(self, *, is_dry_run: bool) -> list[FreedSpace]:
        ids = self.tables.read_or_empty(HISTORY, self.repository, columns=["id"]).column("id")
        if len(ids) <= (1 + _WORTH_IT) * pc.count_distinct(ids).as_py():
            return []
        rows = self.tables.read_rows(HISTORY, self.repository, PastRow)
        since = self.policy.history_since(self.now)
        kept = kept_sequences(rows, newest=self.policy.history_rows, since=since)
        if len(rows) - len(kept) < _WORTH_IT * len(rows):
            return []
        if is_dry_run:
            return self._freed(RemovalKind.HISTORY, HISTORY, len(rows), len(kept), rows=None)
        history = self.tables.read(HISTORY, self.repository)
        stays = pc.is_in(history.column("sequence"), value_set=pa.array(sorted(kept), pa.int64()))
        return self._freed(RemovalKind.HISTORY, HISTORY, len(rows), len(kept), rows=history.filter(stays))

    def _add_up_ledger(self, *, is_dry_run: bool) -> list[FreedSpace]:
        before = self.policy.books_since(self.now)
        first = self.tables.read_or_empty("ledger", self.repository, columns=["started_at", "attempts"])
        is_old = pc.and_(pc.less(first.column("started_at"), before), pc.is_null(first.column("attempts")))
        if not pc.any(is_old).as_py():
            return []
        waiting = {(row.run_id, row.sequence) for row in rows_of_unfinished_builds(self.layout.state(self.repository))}
        rows = self.tables.read_rows("ledger", self.repository, LedgerRow)
        kept = added_up_ledger(rows, before=before, besides=waiting)
        if len(kept) == len(rows):
            return []
        table = None if is_dry_run else to_table(kept, LedgerRow)
        return self._freed(RemovalKind.BOOKS, "ledger", len(rows), len(kept), rows=table)

    def _add_up_avoided(self, *, is_dry_run: bool) -> list[FreedSpace]:
        rows = self.tables.read_rows_or_empty("avoided", self.repository, AvoidedRow)
        before = self.policy.books_since(self.now)
        kept = added_up_avoided(rows, runs=self.policy.keep_runs, before=before)
        if len(rows) - len(kept) <= _WORTH_IT * len(rows):
            return []
        table = None if is_dry_run else to_table(kept, AvoidedRow)
        return self._freed(RemovalKind.BOOKS, "avoided", len(rows), len(kept), rows=table)

    def _freed(
        self, kind: RemovalKind, table: str, before: int, after: int, *, rows: pa.Table | None
    ) -> list[FreedSpace]:
        """Write the rows, if there are some to write; of a dry run the bytes are an estimate."""
        path = self.tables.path(table, self.repository)
        size = path.stat().st_size
        if rows is None:
            freed = size * (before - after) // max(1, before)
        else:
            self.tables.write(table, self.repository, rows)
            freed = max(0, size - path.stat().st_size)
        return [FreedSpace(kind, self.repository, before - after, freed)]
