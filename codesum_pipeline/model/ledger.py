"""What was asked of models and what it cost, one row per attempt; and what did not have to be asked, and why."""

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

    `level` is that of the text, or `ask`, `digest` or `compaction`. `sequence` counts a repository's attempts,
    `attempt` those for one document in one run. `is_estimated`: the provider did not say what it cost, and `cost_usd`
    is the most that it can be. `failure` is the kind of what went wrong and `error` says it; `answer` is kept of those
    that were not taken. `model_echoed` is the name under which the provider says that it answered. `attempts` is how
    many old ones a row stands for; None: it is one.
    """

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

    ASKED = "asked"
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
