"""What an expression may stand for.

A value says what is known without running anything. `why` tells by which step
it was found and does not count when values are compared.
"""

from dataclasses import dataclass, field, replace
from enum import Enum

from codesum_pipeline.graph.facts import ScopeFacts
from codesum_pipeline.graph.module_paths import ModulePath
from codesum_pipeline.graph.reasons import CONFIDENCE, Reason, weaker


class Nothing(Enum):
    """Values of which only one exists."""

    UNKNOWN = "cannot be told"
    AMBIGUOUS = "one of several"
    NONE = "None, or not yet bound"
    EXTERNAL_RESULT = "given back by something outside the repository"
    SELF = "the object or class that a method was called on"


@dataclass(frozen=True, slots=True)
class ModuleValue:
    """A module or package of the repository."""

    module: ModulePath


@dataclass(frozen=True, slots=True)
class ClassValue:
    """A class of the repository."""

    scope: ScopeFacts
    why: Reason = field(default=Reason.SAME_FILE, compare=False)


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A function of the repository; `receiver` is what it was looked up on."""

    scope: ScopeFacts
    why: Reason = field(default=Reason.SAME_FILE, compare=False)
    receiver: "ClassValue | InstanceValue | None" = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class InstanceValue:
    """An object of a class of the repository, or of a class derived from it."""

    scope: ScopeFacts
    why: Reason = field(default=Reason.CONSTRUCTOR_TYPE, compare=False)


@dataclass(frozen=True, slots=True)
class SuperValue:
    """What `super()` gives inside a class."""

    scope: ScopeFacts


@dataclass(frozen=True, slots=True)
class ExternalValue:
    """Something outside the repository by its dotted name; `is_instance`: an object of that class."""

    dotted: str
    is_instance: bool = False


@dataclass(frozen=True, slots=True)
class BuiltinValue:
    """A builtin function, class or method, `owner` being whose method; `is_instance`: an object of that class."""

    name: str
    is_instance: bool = False
    owner: "ContainerValue | None" = None


@dataclass(frozen=True, slots=True)
class ContainerValue:
    """An object that holds others: `iterable` (one kind of element), `dict` (key, value), `tuple`, `context`."""

    kind: str
    items: "tuple[Value, ...]"


Value = (
    Nothing
    | ModuleValue
    | ClassValue
    | FunctionValue
    | InstanceValue
    | SuperValue
    | ExternalValue
    | BuiltinValue
    | ContainerValue
)

UNKNOWN = Nothing.UNKNOWN
AMBIGUOUS = Nothing.AMBIGUOUS
NONE = Nothing.NONE
EXTERNAL_RESULT = Nothing.EXTERNAL_RESULT


def is_outside(value: Value) -> bool:
    """Whether a value is known to come from outside the repository."""
    return isinstance(value, ExternalValue | BuiltinValue) or value is EXTERNAL_RESULT


def agree(values: list[Value]) -> Value:
    """The one thing that all values are; one of several, if they differ, is ambiguous."""
    known = [value for value in values if value is not NONE]
    if not known:
        return NONE if values else UNKNOWN
    first = known[0]
    if all(type(value) is type(first) and value == first for value in known):
        return max(known, key=_doubt)
    if all(is_outside(value) for value in known):
        return EXTERNAL_RESULT
    return UNKNOWN if all(value is UNKNOWN or is_outside(value) for value in known) else AMBIGUOUS


def _doubt(value: Value) -> float:
    return -CONFIDENCE[value.why] if isinstance(value, ClassValue | FunctionValue | InstanceValue) else 0.0


def found_by(value: Value, why: Reason) -> Value:
    """A class or function under another reason, whatever else as it is."""
    return replace(value, why=why) if isinstance(value, ClassValue | FunctionValue) else value


def weakened(value: Value, why: Reason) -> Value:
    """A value that was reached through another one: trusted no more than that."""
    if isinstance(value, ClassValue | FunctionValue | InstanceValue):
        reason = weaker(value.why, why)
        return value if reason is value.why else replace(value, why=reason)
    return value
