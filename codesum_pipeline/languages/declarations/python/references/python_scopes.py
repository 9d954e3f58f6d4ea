"""The scopes of a Python file and the names that are bound in them.

A function's or class's scope covers its body alone: decorators, defaults, annotations and bases are evaluated around
it. A comprehension's covers all of it but what its first loop draws from.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from msgspec import Struct, field
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.bindings import Bound, ScopeKind
from codesum_pipeline.languages.declarations.python.references.python_expressions import (
    MAX_DOTTED_LENGTH,
    ExpressionReader,
)
from codesum_pipeline.languages.declarations.spans import NestedRanges
from codesum_pipeline.languages.declarations.spec import split_words

Binding = list[Any]
SEQUENCES = split_words("pattern_list tuple_pattern list_pattern expression_list tuple list parenthesized_expression")


class NameScope(Struct):
    """One scope, filled while the file is read. `symbol` is its symbol's id without the path."""

    kind: ScopeKind
    parent: int
    symbol: str | None = None
    names: dict[str, list[Binding]] = field(default_factory=dict)
    attributes: dict[str, list[list[Any]]] = field(default_factory=dict)
    receiver: str | None = None
    is_generator: bool = False
    returns: str | None = None
    decorators: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()


class ScopeRanges:
    """Which scope contains a byte of the file. Scopes are numbered in source order, 0 being the file; `parents` is
    filled by the reader, in that order."""

    def __init__(self, length: int) -> None:
        self.parents = [-1]
        # A hole in a scope (which belongs to its parent) is ~scope.
        self.length = length + 1
        self._added = [(0, self.length, 0)]
        self._by_body: dict[tuple[int, int], int] = {}

    def add(self, node: Node, scope: int) -> None:
        self._added.append((node.start_byte, node.end_byte, scope))
        self._by_body.setdefault((node.start_byte, node.end_byte), scope)

    def close(self) -> None:
        """From here on positions can be asked for."""
        self._nested = NestedRanges(self._added)
        self._own = {scope: position for position, (_, _, scope) in enumerate(self._nested.ranges)}

    def scope_of(self, body: Node) -> int | None:
        """The scope that is all of a node."""
        return self._by_body.get((body.start_byte, body.end_byte))

    def start_of(self, scope: int) -> int:
        """Where a scope begins."""
        return self._nested.ranges[self._own[scope]][0]

    def scope_at(self, position: int, *, besides: int = -1) -> int:
        """The innermost scope at a position, or the one around that where it is the scope `besides`."""
        found = self._nested.at(position)
        if besides >= 0 and found == self._own.get(besides):
            found = self._nested.around[found]
        scope = self._nested.ranges[found][2]
        return scope if scope >= 0 else self.parents[~scope]

    def scopes_at(self, positions: Iterable[int]) -> list[int]:
        """The innermost scopes at some positions."""
        scopes = [self._nested.ranges[found][2] for found in self._nested.at_each(positions)]
        return [scope if scope >= 0 else self.parents[~scope] for scope in scopes]


class BoundName(NamedTuple):
    """One binding: what is bound is read at `read_at`, and holds from `holds_from`, both bytes of the file; unless it
    `is_sure`, an earlier one may hold still."""

    scope: int
    position: int
    name: str
    binding: Binding
    read_at: int
    holds_from: int
    is_sure: bool


class BoundAttribute(NamedTuple):
    """One binding of an attribute of a name."""

    scope: int
    position: int
    owner: str
    attribute: str
    binding: Binding
    read_at: int


class NameTable:
    """The scopes of one file, and bindings as they are found, in any order."""

    def __init__(self, source: bytes) -> None:
        self.expressions = ExpressionReader(source)
        self.text = self.expressions.text
        self.scopes = [NameScope(ScopeKind.MODULE, -1, "")]
        self.ranges = ScopeRanges(len(source))
        self.names: list[BoundName] = []
        self.attributes: list[BoundAttribute] = []

    def scope_at(self, node: Node) -> int:
        """The scope that contains a node."""
        return self.ranges.scope_at(node.start_byte)

    def bind(
        self,
        scope: int,
        node: Node,
        binding: Binding,
        name: str | None = None,
        *,
        by: Node | None = None,
        holds_from: int | None = None,
        is_sure: bool = True,
    ) -> None:
        """Record one binding of what a node names, `by` the statement that brings it about, if that takes time: what is
        bound is read first, and holds when the statement is through."""
        start = node.start_byte
        read_at, until = (start, start) if by is None else (by.start_byte, by.end_byte)
        until = until if holds_from is None else holds_from
        name = self.text(node) if name is None else name
        self.names.append(BoundName(scope, start, name, binding, read_at, until, is_sure))

    def bind_targets(
        self, scope: int, target: Node, value: str | None, *, by: Node | None = None, holds_from: int | None = None
    ) -> None:
        """Bind each name of a target, which may be a nested tuple; `value` is the shape of what is assigned."""
        waiting = [(target, value)]
        while waiting:
            node, shape = waiting.pop()
            kind = node.type
            if kind == "identifier":
                # A value of None does not determine a type.
                self.bind(scope, node, valued(shape), by=by, holds_from=holds_from, is_sure=shape != "<None>")
            elif kind == "attribute":
                self.bind_attribute(scope, node, valued(shape), by or node)
            elif kind in SEQUENCES:
                has_known_items = shape is not None and "|" not in shape and len(shape) <= MAX_DOTTED_LENGTH
                has_known_items = has_known_items and kind != "parenthesized_expression"
                for position, child in enumerate(node.named_children):
                    waiting.append((child, f"{shape}#{position}" if has_known_items else None))
            elif kind in ("list_splat_pattern", "list_splat", "as_pattern_target"):
                inner = shape if kind == "as_pattern_target" else None
                waiting.extend((child, inner) for child in node.named_children)

    def bind_attribute(self, scope: int, node: Node, binding: Binding, by: Node) -> None:
        """Record the binding of an attribute of a name by a statement."""
        owner, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        if owner is not None and name is not None and owner.type == "identifier":
            names = self.text(owner), self.text(name)
            self.attributes.append(BoundAttribute(scope, node.start_byte, *names, binding, by.start_byte))


def valued(shape: str | None) -> Binding:
    """The binding of a name to a value of this shape, None for one that cannot be described."""
    return [Bound.UNKNOWN] if shape is None else [Bound.VALUE, shape]
