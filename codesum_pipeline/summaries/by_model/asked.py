"""What was asked of a model at one level of one build, and what came of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codesum_pipeline.model.avoided import AvoidanceReason, Saving
from codesum_pipeline.model.documents import Gate
from codesum_pipeline.model.ledger import AttemptOutcome, LedgerRow
from codesum_pipeline.summaries.by_model.meter import idle


@dataclass(frozen=True, slots=True)
class LevelCalls:
    """Sums over the attempts of a run at one level.

    `texts` were written by calls, `found` were there already. `pending` are
    documents that a later run may ask for. `predicted_usd` is what the plan
    said of those that were asked for, without the provider's prompt cache and
    with it; `avoided` what the others would have taken, by cause.
    """

    texts: int
    found: int
    pending: int
    attempts: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: float
    predicted_usd: float
    latency_p50_s: float
    latency_p95_s: float
    secrets_masked: Mapping[str, int]
    failures: Mapping[str, int]
    gates: Mapping[Gate, int]
    avoided: Mapping[AvoidanceReason, Saving]
    predicted_usd_with_cache: float = 0.0


def sum_up(
    rows: Sequence[LedgerRow],
    *,
    texts: int,
    found: int,
    pending: int,
    predicted_usd: float,
    spared_usd: float,
    secrets_masked: Mapping[str, int],
    gates: Mapping[Gate, int],
    avoided: Mapping[AvoidanceReason, Saving],
) -> LevelCalls:
    """The attempts of one run at one level; `spared_usd` of its predicted price the provider's cache takes off."""
    heard = [row.latency_s for row in rows if row.outcome in (AttemptOutcome.GOOD, AttemptOutcome.INVALID)] or [0.0]
    failures = Counter(row.failure or "interrupted" for row in rows if row.outcome is not AttemptOutcome.GOOD)
    return LevelCalls(
        texts=texts,
        found=found,
        pending=pending,
        attempts=len(rows),
        input_tokens=sum(row.prompt_tokens for row in rows),
        output_tokens=sum(row.completion_tokens for row in rows),
        cached_tokens=sum(row.cached_tokens for row in rows),
        cost_usd=sum(row.cost_usd for row in rows),
        predicted_usd=predicted_usd,
        latency_p50_s=float(np.percentile(heard, 50)),
        latency_p95_s=float(np.percentile(heard, 95)),
        secrets_masked=dict(sorted(secrets_masked.items())),
        failures=dict(sorted(failures.items())),
        gates=dict(sorted(gates.items())),
        avoided=avoided,
        predicted_usd_with_cache=predicted_usd - spared_usd,
    )


def asked_of_nobody(before: LevelCalls) -> LevelCalls:
    """What a run says of a level that it finds as it was left."""
    return sum_up(
        (),
        texts=0,
        found=0,
        pending=before.pending,
        predicted_usd=0.0,
        spared_usd=0.0,
        secrets_masked={},
        gates=before.gates,
        avoided=idle(before.avoided),
    )
