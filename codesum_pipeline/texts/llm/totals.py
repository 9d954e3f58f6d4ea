"""Rows of the ledger, added up."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

from msgspec import Struct

from codesum_pipeline.foundation.data_model.model_call import (
    AttemptOutcome,
    AvoidanceReason,
    AvoidedRow,
    CallTotals,
    LedgerRow,
)

Key = TypeVar("Key", str, tuple[str, ...])
_ANSWERED = (AttemptOutcome.GOOD, AttemptOutcome.INVALID)


class Totals(Struct, frozen=True):
    """Sums over attempts: how many were sent and how many gave a text, tokens, dollars, waits.

    `estimated_usd` is the unconfirmed part of `cost_usd`: the most that calls
    without an answer can have cost. Latencies are of answers.
    `failures` are counts by kind, most frequent first.
    """

    calls: int
    texts: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost_usd: float
    estimated_usd: float
    latency_p50_s: float
    latency_p95_s: float
    failures: tuple[tuple[str, int], ...]

    @property
    def cached_share(self) -> float:
        """The share of the tokens read that a provider's cache held."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


def add_up_calls(rows: Iterable[LedgerRow]) -> Totals:
    """All of them together."""
    rows = list(rows)
    waits = sorted((row.latency_s, _count(row)) for row in rows if row.outcome in _ANSWERED)
    kinds: Counter[str] = Counter()
    for row in rows:
        if row.outcome is not AttemptOutcome.GOOD:
            kinds[row.failure or row.outcome.value] += _count(row)
    return Totals(
        calls=sum(_count(row) for row in rows if row.outcome is not AttemptOutcome.NOT_SENT),
        texts=sum(_count(row) for row in rows if row.outcome is AttemptOutcome.GOOD),
        prompt_tokens=sum(row.prompt_tokens for row in rows),
        completion_tokens=sum(row.completion_tokens for row in rows),
        cached_tokens=sum(row.cached_tokens for row in rows),
        cost_usd=math.fsum(row.cost_usd for row in rows),
        estimated_usd=math.fsum(row.cost_usd for row in rows if row.is_estimated),
        latency_p50_s=_percentile(waits, 0.5),
        latency_p95_s=_percentile(waits, 0.95),
        failures=tuple(sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))),
    )


def add_up_calls_by(keyed: Iterable[tuple[Key, LedgerRow]]) -> dict[Key, Totals]:
    """By the key that each row is given with, in its order."""
    groups: dict[Key, list[LedgerRow]] = {}
    for key, row in keyed:
        groups.setdefault(key, []).append(row)
    return {key: add_up_calls(groups[key]) for key in sorted(groups)}


def _count(row: LedgerRow) -> int:
    """The number of calls in a row: old ones are added up."""
    return row.attempts or 1


def _percentile(ordered: Sequence[tuple[float, int]], share: float) -> float:
    """The smallest of values, each with how often it was seen, that at least `share` of all do not exceed (nearest
    rank)."""
    remaining = math.ceil(share * sum(count for _, count in ordered))
    for value, count in ordered:
        remaining -= count
        if remaining <= 0:
            return value
    return 0.0


def avoided_by_cause(rows: Iterable[AvoidedRow]) -> dict[AvoidanceReason, CallTotals]:
    """What builds did not have to ask a model for, by cause, in the order of the causes."""
    found: dict[AvoidanceReason, CallTotals] = {}
    for row in rows:
        saving = CallTotals(row.calls, row.input_tokens, row.output_tokens, row.usd)
        found[row.cause] = found.get(row.cause, CallTotals()) + saving
    return {cause: found[cause] for cause in AvoidanceReason if cause in found}
