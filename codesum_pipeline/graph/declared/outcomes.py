"""What has become of a call: its end, its target and why, from what it calls."""

from codesum_pipeline.graph.call_sites import Outcome
from codesum_pipeline.graph.declared.values import AMBIGUOUS, BUILTIN, OUTSIDE, Defined, External, Value
from codesum_pipeline.graph.reasons import Reason


def outcome_of(value: Value) -> tuple[Outcome, str | None, Reason | None]:
    """How a call ends that calls this value."""
    match value:
        case Defined((definition,), why):
            return Outcome.RESOLVED, definition.id, why
        case External(name, is_instance):
            return Outcome.EXTERNAL, None if is_instance else name, None
        case Defined():
            return Outcome.AMBIGUOUS, None, None
    if value is OUTSIDE:
        return Outcome.EXTERNAL, None, None
    if value is BUILTIN:
        return Outcome.BUILTIN, None, None
    return (Outcome.AMBIGUOUS if value is AMBIGUOUS else Outcome.UNKNOWN), None, None
