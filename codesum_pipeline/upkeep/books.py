"""Old rows of the books, added up: what a month cost stays what it was, by model, level and outcome.

One row then stands for several attempts, and says how many. Its `run_id` is
the month, or of the meter of avoided work the day.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from math import fsum
from operator import attrgetter

from msgspec.structs import replace

from codesum_pipeline.model.avoided import AvoidedRow
from codesum_pipeline.model.ledger import LedgerRow

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
        kinds = (row.model, row.level.value, row.outcome.value, row.failure or "", str(row.is_estimated))
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
