"""Prunes the tables to which builds append: unneeded rows are deleted, and old cost records are added up.

The cost of a month by model, level and outcome does not change. One row then sums up several attempts, and says how
many. Its `run_id` is the month, or the day in the meter of avoided work.

From the history, a build reads each document's last row, and the last row that wrote its text; the lift ledger
adds up the cost of current texts; `codesum explain` follows causes to earlier rows. These stay for as long as their
document does. Of all other rows each document keeps the newest few, for some time. Rows of compactions, and those that
an attestation says are kept, stay for ever.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby, islice
from math import fsum
from operator import attrgetter

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.builds.compaction.attestation import Attestation, Policy
from codesum_pipeline.builds.maintenance.freed import FreedSpace, RemovalKind
from codesum_pipeline.foundation.data_model.document import CompactionRecord, HistoryEvent
from codesum_pipeline.foundation.data_model.model_call import AvoidedRow, LedgerRow
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.settings.operation_settings import MaintenanceSettings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.rows import to_table
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.texts.llm.ledger_readings import rows_of_unfinished_builds

_MONTH, _DAY = len("2026-01"), len("2026-01-01")
# What of the rows of the meter is added up.
_AVOIDED = ("calls", "input_tokens", "output_tokens", "usd")


def add_up_ledger(
    rows: Sequence[LedgerRow], *, before: str, besides: Collection[tuple[str, int]] = ()
) -> list[LedgerRow]:
    """The rows with those that began before a moment added up by month; `besides` are runs and numbers of rows that
    are not touched, since they may be brought into the table once more."""
    is_old = [row.started_at < before and (row.run_id, row.sequence) not in besides for row in rows]
    old, young = ([row for row, is_one in zip(rows, is_old, strict=True) if is_one is which] for which in (True, False))

    def kind(row: LedgerRow) -> tuple[str, ...]:
        month = row.started_at[:_MONTH]
        return month, row.model, row.level, row.outcome.value, row.failure or "", str(row.is_estimated)

    return [*(_one_attempt([*group]) for _, group in groupby(sorted(old, key=kind), key=kind)), *young]


def add_up_avoided(rows: Sequence[AvoidedRow], *, runs: int, before: str) -> list[AvoidedRow]:
    """The meter, in which what the newest `runs` noted stays, and the rest is added up by day, old rows by month."""
    noted: dict[str, str] = {}
    for row in rows:
        noted[row.run_id] = max(row.noted_at, noted.get(row.run_id, ""))
    newest = set(sorted(noted, key=lambda run: (noted[run], run))[-runs:])
    kept = [row for row in rows if row.run_id in newest and row.noted_at >= before]
    kept_rows = set(kept)

    def kind(row: AvoidedRow) -> tuple[str, str, str]:
        return row.noted_at[: _DAY if row.noted_at >= before else _MONTH], row.level.value, row.cause.value

    added_up = []
    for (period, *_), group in groupby(sorted((row for row in rows if row not in kept_rows), key=kind), key=kind):
        first, *others = group
        sums = {name: sum((getattr(row, name) for row in others), getattr(first, name)) for name in _AVOIDED}
        day = period if len(period) == _DAY else f"{period}-01"
        added_up.append(replace(first, run_id=period, noted_at=f"{day}T00:00:00.000Z", **sums))
    return [*added_up, *kept]


def _one_attempt(rows: Sequence[LedgerRow]) -> LedgerRow:
    """One row for several; the waits are their mean."""
    month = rows[0].started_at[:_MONTH]
    attempts = sum(row.attempts or 1 for row in rows)
    return replace(
        max(rows, key=attrgetter("sequence")),
        run_id=month,
        id="",
        request_hash="",
        attempt=0,
        started_at=f"{month}-01T00:00:00.000Z",
        reserved_usd=fsum(row.reserved_usd for row in rows),
        error=None,
        prompt_tokens=sum(row.prompt_tokens for row in rows),
        completion_tokens=sum(row.completion_tokens for row in rows),
        cached_tokens=sum(row.cached_tokens for row in rows),
        cost_usd=fsum(row.cost_usd for row in rows),
        latency_s=fsum(row.latency_s * (row.attempts or 1) for row in rows) / attempts,
        answer=None,
        model_echoed=None,
        attempts=attempts,
    )


class PastRow(Struct, frozen=True):
    """What a row of the history says that decides whether it stays."""

    sequence: int
    id: str
    event: HistoryEvent
    cause_ids: tuple[str, ...]
    text_hash: str
    written_at: str
    cost_usd: float
    compaction: CompactionRecord | None = None


def kept_sequences(history: Sequence[PastRow], *, newest: int, since: str) -> frozenset[int]:
    """The numbers of the rows that stay: the `newest` of each document that were written at `since` or later, and
    whatever is needed. The last row always stays, so that numbers never come back."""
    of_documents: dict[str, list[PastRow]] = {}
    kept = {row.sequence for row in history[-1:]}
    for row in history:
        if row.event is HistoryEvent.COMPACTED:
            kept.add(row.sequence)
        else:
            of_documents.setdefault(row.id, []).append(row)
        if row.compaction:
            # The sources that a compaction keeps and does not replace.
            attestation = Attestation.of_record(row.compaction)
            sources = attestation.sources if attestation.policy is Policy.KEPT else ()
            kept |= {int(source.id.partition(":")[0]) for source in sources}
    for rows in of_documents.values():
        kept |= {row.sequence for row in rows[-newest:] if row.written_at >= since}
        last = rows[-1]
        if last.event is not HistoryEvent.REMOVED:
            # The last row, those that explain it, the one that wrote the text, and what was paid for that text.
            written = [row.sequence for row in rows if row.event is HistoryEvent.WRITTEN]
            kept |= {*written[-1:], *(row.sequence for row in rows if row.cost_usd and row.text_hash == last.text_hash)}
            kept |= {row.sequence for row in _chain(of_documents, last)}
    return frozenset(kept)


def _chain(of_documents: dict[str, list[PastRow]], last: PastRow) -> Iterator[PastRow]:
    """The rows that explain a row, as `summaries.history.explain` follows them, and itself."""
    waiting, seen = [last], {last.sequence}
    while waiting:
        row = waiting.pop()
        yield row
        for cause in _causes(of_documents, row):
            if cause.sequence not in seen:
                seen.add(cause.sequence)
                waiting.append(cause)


def _causes(of_documents: dict[str, list[PastRow]], row: PastRow) -> Iterator[PastRow]:
    is_looked_at = row.event is HistoryEvent.SAME_TEXT
    for id_ in row.cause_ids:
        if id_ == row.id:
            continue
        earlier = (
            found
            for found in reversed(of_documents.get(id_, ()))
            if found.sequence < row.sequence and (is_looked_at or found.event is not HistoryEvent.SAME_TEXT)
        )
        yield from islice(earlier, 1)
    if is_looked_at:
        written = (found for found in reversed(of_documents[row.id]) if found.event is HistoryEvent.WRITTEN)
        yield from islice(written, 1)


HISTORY = "document_history"
# A table is written as a whole, and steps that read it run once more: less is not worth that.
_WORTH_IT = 0.2


class GrowingTables(Struct, frozen=True):
    """The growing tables of one repository. Its lease must be held, except for a dry run."""

    tables: TableStore
    layout: HomeLayout
    repository: str
    policy: MaintenanceSettings
    now: datetime

    def prune(self, *, is_dry_run: bool) -> Iterator[FreedSpace]:
        """Each table is replaced in one step, or stays as it is."""
        yield from self._prune_history(is_dry_run=is_dry_run)
        yield from self._add_up_ledger(is_dry_run=is_dry_run)
        rows = self.tables.read_rows_or_empty("avoided", self.repository, AvoidedRow)
        kept = add_up_avoided(rows, runs=self.policy.keep_runs, before=self._days_ago(self.policy.books_days))
        if len(rows) - len(kept) > _WORTH_IT * len(rows):
            table = None if is_dry_run else to_table(kept, AvoidedRow)
            yield self._freed(RemovalKind.BOOKS, "avoided", len(rows), len(kept), rows=table)

    def _days_ago(self, days: int) -> str:
        return iso_moment(self.now - timedelta(days=days))

    def _prune_history(self, *, is_dry_run: bool) -> Iterator[FreedSpace]:
        ids = self.tables.read_or_empty(HISTORY, self.repository, columns=["id"]).column("id")
        if len(ids) <= (1 + _WORTH_IT) * pc.count_distinct(ids).as_py():
            return
        rows = self.tables.read_rows(HISTORY, self.repository, PastRow)
        since = self._days_ago(self.policy.history_days)
        kept = kept_sequences(rows, newest=self.policy.history_rows, since=since)
        if len(rows) - len(kept) >= _WORTH_IT * len(rows):
            history = None
            if not is_dry_run:
                history = self.tables.read(HISTORY, self.repository)
                stays = pc.is_in(history.column("sequence"), value_set=pa.array(sorted(kept), pa.int64()))
                history = history.filter(stays)
            yield self._freed(RemovalKind.HISTORY, HISTORY, len(rows), len(kept), rows=history)

    def _add_up_ledger(self, *, is_dry_run: bool) -> Iterator[FreedSpace]:
        before = self._days_ago(self.policy.books_days)
        first = self.tables.read_or_empty("ledger", self.repository, columns=["started_at", "attempts"])
        is_old = pc.and_(pc.less(first.column("started_at"), before), pc.is_null(first.column("attempts")))
        if not pc.any(is_old).as_py():
            return
        waiting = {(row.run_id, row.sequence) for row in rows_of_unfinished_builds(self.layout.state(self.repository))}
        rows = self.tables.read_rows("ledger", self.repository, LedgerRow)
        kept = add_up_ledger(rows, before=before, besides=waiting)
        if len(kept) < len(rows):
            table = None if is_dry_run else to_table(kept, LedgerRow)
            yield self._freed(RemovalKind.BOOKS, "ledger", len(rows), len(kept), rows=table)

    def _freed(self, kind: RemovalKind, table: str, before: int, after: int, *, rows: pa.Table | None) -> FreedSpace:
        """Write the rows, if there are some to write; of a dry run the bytes are an estimate."""
        path = self.tables.path(table, self.repository)
        size = path.stat().st_size
        if rows is None:
            freed = size * (before - after) // max(1, before)
        else:
            self.tables.write(table, self.repository, rows)
            freed = max(0, size - path.stat().st_size)
        return FreedSpace(kind, self.repository, before - after, freed)
