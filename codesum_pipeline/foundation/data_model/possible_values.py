"""The possible values of an expression.

A value says what is known without running anything. `why` says by which step
it was found and does not count when values are compared.

No step is trusted by 1.0, which is kept for edges of a compiler's index. All sampled edges of every reason were right
(`benchmarks/graph_precision.py`), so the numbers order the reasons by what each takes for granted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from typing import Self, TypeVar

from msgspec import Struct

from codesum_pipeline.foundation.data_model.scopes import Key, Scope

T = TypeVar("T")

_CONTAINERS = ("list", "dict", "set", "tuple", "frozenset")

# More classes have little in common that is called.
MOST_ALTERNATIVES = 4


class Reason(StrEnum):
    IMPORT = "ast:import"
    SAME_FILE = "ast:same-file"
    PACKAGE = "ast:package"
    INCLUDE = "ast:include"
    LINK = "ast:link"
    SELF = "ast:self"
    SUPER = "ast:super"
    CONSTRUCTOR_TYPE = "ast:constructor-type"
    ANNOTATION = "ast:annotation"
    INFERRED_RETURN = "ast:inferred-return"
    UNIQUE_NAME = "ast:unique-name"
    REEXPORT = "ast:re-export"


CONFIDENCE: Mapping[str, float] = {
    # Nobody rebinds the name from elsewhere.
    Reason.IMPORT: 0.98,
    Reason.SAME_FILE: 0.98,
    # Among the files that one imports, and those that they import, the name is defined in one only.
    Reason.REEXPORT: 0.97,
    # Nothing of that name comes between the file and its package, or the namespaces around it.
    Reason.PACKAGE: 0.97,
    # The header that is found is the one that the compiler is set to take.
    Reason.INCLUDE: 0.95,
    # The only function of that name in the repository is linked into this program.
    Reason.LINK: 0.88,
    # No class derived from this one overrides the method.
    Reason.SELF: 0.96,
    # No class of another branch comes between in the order of bases.
    Reason.SUPER: 0.95,
    # The variable holds what it was first given.
    Reason.CONSTRUCTOR_TYPE: 0.95,
    # The annotation is true, and no derived class overrides the method.
    Reason.ANNOTATION: 0.93,
    # All results of the function are known.
    Reason.INFERRED_RETURN: 0.9,
    # Nothing outside the repository has a method of that name.
    Reason.UNIQUE_NAME: 0.8,
}


def weaker_reason(one: Reason, other: Reason) -> Reason:
    """The less trusted of two steps: a chain is as strong as its weakest link."""
    return one if CONFIDENCE[one] <= CONFIDENCE[other] else other


class NoValue(Enum):
    """Values that exist only once."""

    UNKNOWN = "cannot be told"
    AMBIGUOUS = "one of several"
    NONE = "None, or not yet bound"
    OUTSIDE = "from outside the repository"
    SELF = "the object or class that a method was called on"


class ModuleValue(Struct, frozen=True):
    """A module or package of the repository, or another place that holds names."""

    module: Key


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """An object whose members are the names of a module or place."""

    module: Key
    why: Reason = field(compare=False)


class VariableValue(Struct, frozen=True):
    """A name of a module that is no definition: what it is given says what it is."""

    module: Key
    name: str


@dataclass(frozen=True, slots=True)
class ClassValue:
    """A class of the repository; `is_own`: the one that the method around was called on, maybe a derived one."""

    scope: Scope
    why: Reason = field(default=Reason.SAME_FILE, compare=False)
    is_own: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A function of the repository; `receiver` is what it was looked up on, `overloads` are others of its name that the
    arguments of a call choose between."""

    scope: Scope
    why: Reason = field(default=Reason.SAME_FILE, compare=False)
    receiver: "ClassValue | InstanceValue | None" = field(default=None, compare=False)
    overloads: tuple[Scope, ...] = ()

    @classmethod
    def of(cls, scopes: Sequence[Scope], why: Reason) -> Self:
        """One of several functions of one name."""
        return cls(scopes[0], why, overloads=tuple(scopes[1:]))

    @property
    def scopes(self) -> tuple[Scope, ...]:
        return (self.scope, *self.overloads)


@dataclass(frozen=True, slots=True)
class InstanceValue:
    """An object of a class of the repository, or of a class derived from it; `is_own`: of the class that the method
    around was called on."""

    scope: Scope
    why: Reason = field(default=Reason.CONSTRUCTOR_TYPE, compare=False)
    is_own: bool = field(default=False, compare=False)


class SuperValue(Struct, frozen=True):
    """What `super()` gives inside a class: an object of it, seen as one of its bases."""

    scope: Scope


class ExternalValue(Struct, frozen=True):
    """Something outside the repository by its whole name; `is_instance`: an object of that class."""

    dotted: str
    is_instance: bool = False


class BuiltinValue(Struct, frozen=True):
    """A builtin function, class or method, `owner` being whose method; `is_instance`: an object of that class."""

    name: str
    is_instance: bool = False
    owner: "ContainerValue | None" = None


class ContainerValue(Struct, frozen=True):
    """An object that holds others: `iterable` (one kind of element), `dict` (key, value), `tuple`, `context`."""

    kind: str
    items: "tuple[Value, ...]"


class OneOf(Struct, frozen=True):
    """One of some objects or classes of the repository: what all of them have is known."""

    values: "tuple[ClassValue | InstanceValue, ...]"


Value = (
    NoValue
    | ModuleValue
    | ObjectValue
    | VariableValue
    | ClassValue
    | FunctionValue
    | InstanceValue
    | SuperValue
    | ExternalValue
    | BuiltinValue
    | ContainerValue
    | OneOf
)

UNKNOWN = NoValue.UNKNOWN
AMBIGUOUS = NoValue.AMBIGUOUS
NONE = NoValue.NONE
OUTSIDE = NoValue.OUTSIDE


def is_outside(value: Value) -> bool:
    """Whether a value is known to come from outside the repository."""
    return isinstance(value, ExternalValue | BuiltinValue) or value is OUTSIDE


def is_inside(value: Value) -> bool:
    """Whether a value is of the repository, or holds such values."""
    if isinstance(value, ContainerValue):
        return any(is_inside(item) for item in value.items)
    return isinstance(value, ClassValue | FunctionValue | InstanceValue | OneOf)


def agree_on_value(values: Sequence[Value]) -> Value:
    """The one thing that all values are; where they differ, one of few objects or classes, or ambiguous."""
    known = [value for value in values if value is not NONE]
    if not known:
        return NONE if values else UNKNOWN
    first = known[0]
    if len(known) == 1:
        return first
    if all(type(value) is type(first) and value == first for value in known):
        least = max(known, key=_doubt)
        return least if all(is_own(value) for value in known) else not_own(least)
    if all(is_outside(value) for value in known):
        return OUTSIDE
    if all(_is_container(value) for value in known):
        return _together(known)
    if all(value is UNKNOWN or is_outside(value) for value in known):
        return UNKNOWN
    return _one_of(known)


def _is_container(value: Value) -> bool:
    is_builtin = isinstance(value, BuiltinValue) and value.is_instance and value.name in _CONTAINERS
    return is_builtin or isinstance(value, ContainerValue)


def _together(values: list[Value]) -> Value:
    """Containers of one kind, with what their elements agree on; of others, only that they are containers."""
    found = [value for value in values if isinstance(value, ContainerValue)]
    first = found[0]
    if all((value.kind, len(value.items)) == (first.kind, len(first.items)) for value in found) and found == values:
        items = zip(*(value.items for value in found), strict=True)
        return ContainerValue(first.kind, tuple(agree_on_value(list(same)) for same in items))
    return BuiltinValue(_CONTAINERS[0] if first.kind == "iterable" else first.kind, is_instance=True)


def _one_of(values: list[Value]) -> Value:
    found: dict[ClassValue | InstanceValue, list[ClassValue | InstanceValue]] = {}
    for value in values:
        for one in value.values if isinstance(value, OneOf) else (value,):
            if not isinstance(one, ClassValue | InstanceValue):
                return AMBIGUOUS
            found.setdefault(one, []).append(one)
    if len(found) > MOST_ALTERNATIVES:
        return AMBIGUOUS
    return OneOf(tuple(not_own(max(same, key=_doubt)) for same in found.values()))


def is_own(value: Value) -> bool:
    """Whether a value's class is the one that the method around was called on."""
    return isinstance(value, ClassValue | InstanceValue) and value.is_own


def not_own(value: T) -> T:
    """The same, seen from elsewhere than from the method that it was found in."""
    return replace(value, is_own=False) if isinstance(value, ClassValue | InstanceValue) and value.is_own else value


def _doubt(value: Value) -> float:
    return -CONFIDENCE[value.why] if isinstance(value, ClassValue | FunctionValue | InstanceValue) else 0.0


def found_by(value: Value, why: Reason) -> Value:
    """A class or function under another reason, whatever else as it is."""
    return replace(value, why=why) if isinstance(value, ClassValue | FunctionValue) else value


def weaken_value(value: Value, why: Reason) -> Value:
    """A value that was reached through another one: trusted no more than that."""
    if isinstance(value, ClassValue | FunctionValue | InstanceValue | ObjectValue):
        reason = weaker_reason(value.why, why)
        return value if reason is value.why else replace(value, why=reason)
    return value
