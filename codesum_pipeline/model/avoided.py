"""What a build did not have to ask of a model, and why: one row per run, level and cause."""

from enum import StrEnum

from msgspec import Struct

from codesum_pipeline.model.documents import Level


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
