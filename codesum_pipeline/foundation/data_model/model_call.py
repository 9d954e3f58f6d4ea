"""Calls of models and their cost, one row per attempt; and the calls that were avoided, and why."""

from enum import StrEnum

from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import Level


class AttemptOutcome(StrEnum):
    """How an attempt ended: taken, an answer that cannot be taken, no answer, nothing sent, or never settled."""

    GOOD = "good"
    INVALID = "invalid"
    FAILED = "failed"
    NOT_SENT = "not-sent"
    INTERRUPTED = "interrupted"


class LedgerRow(Struct, frozen=True):
    """One attempt, or in `attempts` how many old ones. `answer` is kept of answers that were not taken."""

    sequence: int
    run_id: str
    id: str
    level: str
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


class AvoidanceReason(StrEnum):
    """Why a document took no call; the first that holds. `asked` is what was not avoided."""

    NOT_AVOIDED = "asked"
    PLACEHOLDER = "placeholder"
    CACHE = "cache"
    SAME_BODY = "same body elsewhere"
    CUT_OFF = "early cut-off"
    GATE = "gate"
    GRAPH = "graph within threshold"
    UNCHANGED = "unchanged"


class CallTotals(Struct, frozen=True):
    """So many calls, and about so many tokens and US dollars."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: "CallTotals") -> "CallTotals":
        return CallTotals(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.usd + other.usd,
        )

    def __sub__(self, part: "CallTotals") -> "CallTotals":
        """What is left without a part; floating point must not make its price negative."""
        return CallTotals(
            self.calls - part.calls,
            self.input_tokens - part.input_tokens,
            self.output_tokens - part.output_tokens,
            max(0.0, self.usd - part.usd),
        )


class AvoidedRow(Struct, frozen=True):
    """One cause at one level of one run."""

    run_id: str
    noted_at: str
    level: Level
    cause: AvoidanceReason
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float
