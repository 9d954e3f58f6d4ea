"""What the hooks of a language answer with: definitions, calls, imports, types."""

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import SymbolType

# In place of the first byte of the last name, for a callee that has none: what a call, an item or a lambda gives.
NAMELESS = -1


class DefinitionHead(Struct, frozen=True):
    """What a node defines."""

    # Its own name, after those of an owner that does not enclose it: a Go method's receiver, `Shape::area` of C++.
    parts: tuple[str, ...]
    # Without one it is no symbol, only a scope: a namespace, a Rust `impl`.
    type: SymbolType | None
    # Where the signature ends; without it, at the node's end.
    body: Node | None = None
    # Where the signature begins, if annotations come first inside of the node; without it, at the node's beginning.
    head: Node | None = None
    # The access that members have until a label of `Declaration.sections` changes it.
    section: str = ""
    # Clauses of one definition have the same one, such as its arity.
    clause: str = ""
    # It defines something only as a member, or where it is documented, and nothing inside a function.
    is_prototype: bool = False
    # It defines nothing inside a function.
    is_guess: bool = False
    # A node after this one that belongs to the definition.
    tail: Node | None = None
    # It is one of those that a label of sections is about.
    is_sectioned: bool = True


class CallSyntax(Struct, frozen=True):
    """A call as written: `receiver.name(…)`; the receiver is "" for a plain name. With `is_new`, it makes an object.

    `mark` is the mark between the two, if it is not a dot.
    """

    receiver: str
    name: str
    is_new: bool = False
    mark: str = "."


class ImportSyntax(Struct, frozen=True):
    """One imported name.

    `module` is the path as the language writes it, without quotes. `name` is
    what is taken from it: None for the module itself, `*` for all of it.
    `alias` is what it is called here, where that is not the last part.
    `level` counts the steps up where a language writes them apart.
    """

    module: str
    name: str | None = None
    alias: str | None = None
    level: int = 0


class TypedName(Struct, frozen=True):
    """A variable, parameter or field that says what class it is of: `name` has the type `type`, as written."""

    name: str
    type: str


class Extension(Struct, frozen=True):
    """What is said of a type outside of it: `type` as written also has these bases."""

    type: str
    bases: tuple[str, ...]


class NamedWord(NamedTuple):
    """A token that names something: its first byte, its text, its kind, and that of what it is directly in."""

    start: int
    text: str
    kind: str
    around: str


# The same without names, since a file has thousands of them.
WordRow = tuple[int, str, str, str]


class References(Struct, frozen=True):
    """What a file refers to, as JSON; of each of its calls, in that order, the first byte of the callee's last name."""

    json: str
    names: tuple[int, ...]


class Docstrings(Struct, frozen=True):
    """Documentation in the body of what it documents: `find` finds it in a body or a file, and `text` reads it from its
    canonical lines. `is_empty` says whether a statement is only a placeholder for a body."""

    find: Callable[[Node | None], Node | None]
    text: Callable[[str], str | None]
    is_empty: Callable[[Node], bool]
