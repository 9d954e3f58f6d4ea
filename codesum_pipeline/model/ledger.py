"""What was asked of models and what it cost: one row per attempt."""

from enum import StrEnum

from msgspec import Struct

from codesum_pipeline.model.documents import Level


class AttemptOutcome(StrEnum):
    """How an attempt ended: taken, an answer that cannot be taken, no answer, nothing sent, or never settled."""

    GOOD = "good"
    INVALID = "invalid"
    FAILED = "failed"
    NOT_SENT = "not-sent"
    INTERRUPTED = "interrupted"


class LedgerRow(Struct, frozen=True):
    """One attempt.

    `sequence` counts a repository's attempts, `attempt` those for one document
    in one run. `is_estimated`: the provider did not say what it cost, and
    `cost_usd` is the most that it can be. `failure` is the kind of what went
    wrong and `error` says it; `answer` is kept of answers that were not taken.
    `model_echoed` is the name under which the provider says that it answered.
    `attempts` is how many old ones a row stands for; None: it is one.
    """

    sequence: int
    run_id: str
    id: str
    level: Level
    request_hash: str
    model: str
    attempt: int
    started_at: str
    reserved_usd: float
    outcome: AttemptOutcome
    failure: str | None
    error: str | None
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost_usd: float
    is_estimated: bool
    latency_s: float
    answer: str | None
    model_echoed: str | None = None
    attempts: int | None = None
