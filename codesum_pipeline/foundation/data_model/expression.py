"""What an expression and a type are made of, as parsing hands it to the graph.

In JSON a plain name is its text and a call a list: `a.b(1, 2)` is `["a", ["b", 2]]`, `new A()` is `[["A", 0, 1]]`.
The names of a type are texts and its arguments lists: `a.Map<Key, Item[]>` is
`["a", "Map", ["Key"], ["[]", ["Item"]]]`. What cannot be read is null.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

# The number of arguments of a step that is no call; -1 is a call with an unknown number.
NO_CALL = -2
# Steps and types that have no name of their own.
ELEMENT = "[]"
UNWRAPPED = "?"
CAST = ":"
# An object whose members are named after the function that it is written in.
OBJECT = "{}"
# The beginning of a type's full name.
ROOT = "\\"


class TypeName(NamedTuple):
    """The names of a type, outermost first, and its arguments; a list is the type `[]` of what it holds."""

    names: tuple[str, ...]
    arguments: tuple["TypeName | None", ...] = ()

    @property
    def is_list(self) -> bool:
        return self.names == (ELEMENT,)


class ExpressionStep(NamedTuple):
    """One step of an expression: a name, and with how many arguments it is called.

    `[]` takes an element, `?` what is in a result or an option; `:` is an object of a type.
    """

    name: str
    arguments: int = NO_CALL
    is_new: bool = False
    type: TypeName | None = None


# The steps that lead to the value of an expression; none for no expression.
Chain = tuple[ExpressionStep, ...]


def chain_to_json(chain: Chain | None) -> list[Any] | None:
    """A chain in the form that the module's docstring describes."""
    return None if chain is None else [_step_to_json(step) for step in chain]


def _step_to_json(step: ExpressionStep) -> Any:
    if step.name == CAST:
        return [CAST, type_to_json(step.type)]
    if step.arguments == NO_CALL and not step.is_new:
        return step.name
    return [step.name, step.arguments, 1] if step.is_new else [step.name, step.arguments]


def chain_from_json(written: Sequence[Any] | None) -> Chain | None:
    """What `chain_to_json` wrote."""
    if written is None:
        return None
    if len(written) == 1 and isinstance(written[0], str):
        return chain_of(written[0])
    return tuple([_step_from_json(step) for step in written])


@lru_cache(maxsize=1 << 15)
def chain_of(name: str) -> Chain:
    """The chain that one name is."""
    return (ExpressionStep(name),)


def _step_from_json(written: Any) -> ExpressionStep:
    if isinstance(written, str):
        return chain_of(written)[0]
    name, arguments, *is_new = written
    return (
        ExpressionStep(CAST, type=type_from_json(arguments))
        if name == CAST
        else ExpressionStep(name, arguments, bool(is_new))
    )


def type_to_json(type_: TypeName | None) -> list[Any] | None:
    """A type in the form that the module's docstring describes."""
    return None if type_ is None else [*type_.names, *map(type_to_json, type_.arguments)]


def type_from_json(written: Sequence[Any] | None) -> TypeName | None:
    """What `type_to_json` wrote."""
    if written is None:
        return None
    if len(written) == 1:
        return type_of(written[0])
    names = tuple([part for part in written if isinstance(part, str)])
    return TypeName(names, tuple([type_from_json(part) for part in written[len(names) :]]))


@lru_cache(maxsize=1 << 15)
def type_of(name: str) -> TypeName:
    """The type that one name is."""
    return TypeName((name,))
