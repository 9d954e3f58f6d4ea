"""What an expression of a declared language may stand for."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from codesum_pipeline.graph.declared.definitions import CodePlace, Key, ScopeDefinition
from codesum_pipeline.graph.reasons import Reason, weaker
from codesum_pipeline.model.expressions import TypeName


class NoFamilyValue(Enum):
    """Values of which only one exists."""

    UNKNOWN = "cannot be told"
    AMBIGUOUS = "one of several"
    BUILTIN = "part of the language"
    OUTSIDE = "from outside the repository"


@dataclass(frozen=True, slots=True)
class Space:
    """A package, module or other place that holds names."""

    key: Key


@dataclass(frozen=True, slots=True)
class NamedDefinitions:
    """The definitions of one name: one, or the overloads of a function."""

    definitions: tuple[ScopeDefinition, ...]
    why: Reason

    @property
    def as_class(self) -> ScopeDefinition | None:
        return next((definition for definition in self.definitions if definition.is_class), None)


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class, or of a file that is one; `is_super`: seen as one of its bases."""

    owner: ScopeDefinition | Space
    why: Reason
    is_super: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """An object of a type outside the repository whose arguments say what it holds or gives."""

    type: TypeName
    place: CodePlace


@dataclass(frozen=True, slots=True)
class Variable:
    """A name of a module that is no definition: what it is given says what it is."""

    key: Key
    name: str


@dataclass(frozen=True, slots=True)
class External:
    """Something outside of the repository by its name; `is_instance`: an object of that class."""

    name: str
    is_instance: bool = False


Value = NoFamilyValue | Space | Variable | NamedDefinitions | Instance | Held | External

UNKNOWN = NoFamilyValue.UNKNOWN
AMBIGUOUS = NoFamilyValue.AMBIGUOUS
BUILTIN = NoFamilyValue.BUILTIN
OUTSIDE = NoFamilyValue.OUTSIDE


def weakened(value: Value, why: Reason) -> Value:
    """A value reached by one more step: trusted no more than that."""
    if isinstance(value, NamedDefinitions):
        return NamedDefinitions(value.definitions, weaker(why, value.why))
    if isinstance(value, Instance):
        return Instance(value.owner, weaker(why, value.why), value.is_super)
    return value


def agree(values: Sequence[Value]) -> Value:
    """The one thing that all values are."""
    if not values:
        return UNKNOWN
    first = values[0]
    if all(same(first, value) for value in values[1:]):
        return first
    if all(isinstance(value, External) or value in (OUTSIDE, BUILTIN) for value in values):
        return OUTSIDE
    return AMBIGUOUS


def same(one: Value, other: Value) -> bool:
    """Whether two values are one thing, however they were found."""
    if isinstance(one, NamedDefinitions) and isinstance(other, NamedDefinitions):
        return one.definitions == other.definitions
    if isinstance(one, Instance) and isinstance(other, Instance):
        return one.owner == other.owner
    return one == other
