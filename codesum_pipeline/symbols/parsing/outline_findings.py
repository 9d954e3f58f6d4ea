"""What is found in a file that is read by a table: definitions, calls, the types that are named."""

from collections.abc import Sequence

from msgspec import Struct, field
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.symbols.parsing.outline_pieces import TextSpan

Place = Node | TextSpan


class OutlineDefinition(Struct):
    """One definition; `start` is the first byte of its documentation, `code_start` that of its marks or of itself,
    `code_end` where it ends without documentation below it, `body_start` where its signature ends."""

    type: SymbolType
    kind: str
    parts: tuple[str, ...]
    start: int
    code_start: int
    node_start: int
    end: int
    code_end: int
    body_start: int | None
    docs: list[Place]
    parent: int | None = None
    arity: int = -1
    is_private: bool = False
    has_error: bool = False
    fields: dict[str, int] = field(default_factory=dict)


class NamedPlace(Struct, frozen=True):
    """A call or a type that is named: what stands before its last name, that name, and where both begin; `is_own` is a
    call on the object around it."""

    scope: str
    name: str
    start: int
    name_start: int
    definition: int
    is_own: bool = False


class FileFindings(Struct):
    """All that a query found in a file, in the order of the source; `comments` are those that document the file."""

    definitions: list[OutlineDefinition]
    calls: list[NamedPlace]
    types: list[NamedPlace]
    constants: list[str]
    branches: list[int]
    comments: list[Place]
    errors: int


def without_repeated(places: Sequence[NamedPlace]) -> list[NamedPlace]:
    """Each place once, where several patterns found it: with what stands before its name."""
    found: dict[int, NamedPlace] = {}
    for place in places:
        if place.name_start not in found or place.scope or place.is_own:
            found[place.name_start] = place
    return [found[start] for start in sorted(found)]


def with_owners(found: list[OutlineDefinition]) -> list[OutlineDefinition]:
    """What names a class of the file before its own name belongs to that."""
    classes: dict[tuple[str, ...], int] = {}
    for number, one in enumerate(found):
        if one.type is SymbolType.CLASS:
            classes.setdefault(one.parts, number)
    for number, one in enumerate(found):
        owner = classes.get(one.parts[:-1])
        if one.parent is None and owner is not None and owner != number:
            one.parent = owner
    return found
