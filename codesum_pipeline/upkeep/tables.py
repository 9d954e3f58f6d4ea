"""Old rows of the books, added up: what a month cost stays what it was, by model, level and outcome.

One row then stands for several attempts, and says how many. Its `run_id` is
the month, or of the meter of avoided work the day.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from math import fsum
from operator import attrgetter

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.compaction.attestation import Attestation, Policy
from codesum_pipeline.llm.ledger import rows_of_unfinished_builds
from codesum_pipeline.model.documents import CompactionRecord, HistoryEvent
from codesum_pipeline.model.ledger import AvoidedRow, LedgerRow
from codesum_pipeline.settings.operation import MaintenanceSettings
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.rows import to_table
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.upkeep.freed import FreedSpace, RemovalKind

_MONTH, _DAY = len("2026-01"), len("2026-01-01")


def added_up_ledger(
    rows: Sequence[LedgerRow], *, before: str, besides: Collection[tuple[str, int]] = ()
) -> list[LedgerRow]:
    """The rows with those that began before a moment added up by month; `besides` are runs and numbers of rows that
    are not touched, since they may be brought into the table once more."""
    old = [row for row in rows if row.started_at < before and (row.run_id, row.sequence) not in besides]
    are_old = {(row.run_id, row.sequence) for row in old}
    young = [row for row in rows if (row.run_id, row.sequence) not in are_old]
    return [*(_one_attempt(list(group)) for group in _grouped(old)), *young]


def added_up_avoided(rows: Sequence[AvoidedRow], *, runs: int, before: str) -> list[AvoidedRow]:
    """The meter with what the newest `runs` noted as it is, what came before added up by day, and what was noted
    before a moment by month."""
    noted: dict[str, str] = {}
    for row in rows:
        noted[row.run_id] = max(row.noted_at, noted.get(row.run_id, ""))
    newest = set(sorted(noted, key=lambda run: (noted[run], run))[-runs:])
    kept = [row for row in rows if row.run_id in newest and row.noted_at >= before]
    kept_rows = set(kept)
    sums: dict[tuple[str, str, str], AvoidedRow] = {}
    for row in rows:
        if row in kept_rows:
            continue
        period = row.noted_at[: _DAY if row.noted_at >= before else _MONTH]
        place = (period, row.level.value, row.cause.value)
        sums[place] = _sum(sums[place], row) if place in sums else _of_period(row, period)
    return [*(sums[place] for place in sorted(sums)), *kept]


def _grouped(rows: Iterable[LedgerRow]) -> Iterable[Iterable[LedgerRow]]:
    def key(row: LedgerRow) -> tuple[str, ...]:
        kinds = (row.model, row.level, row.outcome.value, row.failure or "", str(row.is_estimated))
        return (row.started_at[:_MONTH], *kinds)

    return (group for _, group in groupby(sorted(rows, key=key), key=key))


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


def _of_period(row: AvoidedRow, period: str) -> AvoidedRow:
    day = period if len(period) == _DAY else f"{period}-01"
    return replace(row, run_id=period, noted_at=f"{day}T00:00:00.000Z")


def _sum(one: AvoidedRow, other: AvoidedRow) -> AvoidedRow:
    return replace(
        one,
        calls=one.calls + other.calls,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        usd=one.usd + other.usd,
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
    of_documents = _by_document(history)
    kept = {row.sequence for row in history[-1:]}
    kept |= {row.sequence for row in history if row.event is HistoryEvent.COMPACTED}
    kept |= _attested(history)
    kept |= {row.sequence for rows in of_documents.values() for row in rows[-newest:] if row.written_at >= since}
    for rows in of_documents.values():
        if rows[-1].event is not HistoryEvent.REMOVED:
            kept |= _needed(rows)
            kept |= {row.sequence for row in _chain(of_documents, rows[-1])}
    return frozenset(kept)


def _by_document(history: Sequence[PastRow]) -> dict[str, list[PastRow]]:
    found: dict[str, list[PastRow]] = {}
    for row in history:
        if row.event is not HistoryEvent.COMPACTED:
            found.setdefault(row.id, []).append(row)
    return found


def _needed(rows: Sequence[PastRow]) -> set[int]:
    """Of a document that stands: its last row, the one that wrote its text, and what was paid for that text."""
    last = rows[-1]
    written = [row.sequence for row in rows if row.event is HistoryEvent.WRITTEN]
    paid = [row.sequence for row in rows if row.cost_usd and row.text_hash == last.text_hash]
    return {last.sequence, *written[-1:], *paid}


def _chain(of_documents: dict[str, list[PastRow]], last: PastRow) -> Iterator[PastRow]:
    """The rows that explain a row, as `summaries.explain` follows them, and itself."""
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
        yield from _first(earlier)
    if is_looked_at:
        yield from _first(found for found in reversed(of_documents[row.id]) if found.event is HistoryEvent.WRITTEN)


def _first(rows: Iterator[PastRow]) -> Iterator[PastRow]:
    found = next(rows, None)
    if found is not None:
        yield found


def _attested(history: Sequence[PastRow]) -> set[int]:
    """The sources that compactions stand beside, not in place of."""
    attestations = [Attestation.of(row.compaction.attestation.encode()) for row in history if row.compaction]
    kept: Collection[str] = {
        source.id for found in attestations if found.policy is Policy.KEPT for source in found.sources
    }
    return {int(id_.partition(":")[0]) for id_ in kept}


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
