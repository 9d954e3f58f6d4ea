"""What has become of a call: its end, its target and why, from what it calls."""

from codesum_pipeline.graph.call_sites import CallOutcome
from codesum_pipeline.graph.declared.values import AMBIGUOUS, BUILTIN, OUTSIDE, External, NamedDefinitions, Value
from codesum_pipeline.graph.reasons import Reason


def outcome_of(value: Value) -> tuple[CallOutcome, str | None, Reason | None]:
    """How a call ends that calls this value."""
    match value:
        case NamedDefinitions((definition,), why):
            return CallOutcome.RESOLVED, definition.id, why
        case External(name, is_instance):
            return CallOutcome.EXTERNAL, None if is_instance else name, None
        case NamedDefinitions():
            return CallOutcome.AMBIGUOUS, None, None
    if value is OUTSIDE:
        return CallOutcome.EXTERNAL, None, None
    if value is BUILTIN:
        return CallOutcome.BUILTIN, None, None
    return (CallOutcome.AMBIGUOUS if value is AMBIGUOUS else CallOutcome.UNKNOWN), None, None
