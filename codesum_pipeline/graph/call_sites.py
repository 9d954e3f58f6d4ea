"""Every call of a repository, and what became of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from codesum_pipeline.graph.facts import FileScopes
from codesum_pipeline.graph.reasons import Reason
from codesum_pipeline.graph.resolver import Resolver
from codesum_pipeline.graph.unique_names import UniqueNames
from codesum_pipeline.graph.values import (
    AMBIGUOUS,
    UNKNOWN,
    BuiltinValue,
    ClassValue,
    ContainerValue,
    ExternalValue,
    FunctionValue,
    InstanceValue,
    OneOf,
    Value,
)


class CallOutcome(StrEnum):
    """`unknown` also where a function outside the repository gave the object: it may be one that was passed in."""

    RESOLVED = "resolved"
    EXTERNAL = "external"
    BUILTIN = "builtin"
    AMBIGUOUS = "ambiguous"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CallSite:
    """One call. `target` is a document id, or a dotted name where the outcome is external and the name is known."""

    caller_id: str
    file_path: str
    line: int
    callee: str
    outcome: CallOutcome
    target: str | None = None
    reason: Reason | None = None


def resolve_calls(resolver: Resolver, unique_names: UniqueNames, file: FileScopes) -> Iterator[CallSite]:
    """The calls of one file in source order."""
    for number, callee, line in file.calls:
        scope = file.scopes[number]
        value = resolver.shape(scope, callee)
        if value is UNKNOWN:
            value = unique_names.find(resolver, scope, callee) or UNKNOWN
        outcome, target, reason = _outcome(resolver, value)
        yield CallSite(scope.caller_id, file.path, line, callee, outcome, target, reason)


def _outcome(resolver: Resolver, value: Value) -> tuple[CallOutcome, str | None, Reason | None]:
    if isinstance(value, InstanceValue):
        value = resolver.members.attribute(value, "__call__")
    match value:
        case FunctionValue(scope, why) | ClassValue(scope, why) if scope.id is not None:
            return CallOutcome.RESOLVED, scope.id, why
        case ExternalValue(dotted, is_instance):
            return CallOutcome.EXTERNAL, None if is_instance else dotted, None
        case BuiltinValue() | ContainerValue():
            return CallOutcome.BUILTIN, None, None
    is_ambiguous = value is AMBIGUOUS or isinstance(value, OneOf)
    return (CallOutcome.AMBIGUOUS if is_ambiguous else CallOutcome.UNKNOWN), None, None
