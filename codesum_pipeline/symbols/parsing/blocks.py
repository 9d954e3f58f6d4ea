"""Which block of a file contains each of its names.

A block is a part of a file with names of its own: a function without a name
with its parameters, a loop, a pair of braces. Each scope of a file has a number: its
symbols those that they have anyhow, and its blocks those after them. A block that ends
where the scope around it ends is a part of that: the body of a function.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tree_sitter import Node

from codesum_pipeline.languages.declarations.declaration import Declaration
from codesum_pipeline.languages.declarations.node_code import Text
from codesum_pipeline.languages.declarations.spans import NestedRanges, is_inside
from codesum_pipeline.languages.declarations.spec import Mark
from codesum_pipeline.symbols.parsing.chains import parameter_names
from codesum_pipeline.symbols.parsing.nested_definitions import FileOutline

OUTSIDE = -1
# A row of what is written about one scope: its number, a name of it, and more.
NameRow = list[Any]
# Nodes that end with their last branch, and whose branches do not see each other's names.
_BRANCHING = frozenset({"if_statement"})


class _ScopeSpan(NamedTuple):
    """The bytes of one scope; `node` is that of a block."""

    start: int
    end: int
    symbol: int
    node: Node | None


class BlockScopes:
    """The scopes of one file; without blocks, the symbols alone."""

    def __init__(self, declaration: Declaration, outline: FileOutline, marks: Sequence[tuple[int, Mark]]) -> None:
        self._declaration = declaration
        self._symbols = len(outline.definitions)
        self._nodes: list[Node] = []
        self._around: list[int] = []
        spans = [
            _ScopeSpan(definition.nodes[0].start_byte, definition.end_byte, number, None)
            for number, definition in enumerate(outline.definitions if declaration.blocks else ())
        ]
        for number, (kind, start, node) in marks:
            if kind in declaration.blocks:
                spans.append(_ScopeSpan(start, node.end_byte, number, node))
        # The definitions come first: around a block of the same bytes is what it is the body of.
        self._nested = NestedRanges([(span.start, span.end, number) for number, span in enumerate(spans)])
        self._spans = [spans[number] for _, _, number in self._nested.ranges]
        self._numbers: list[int] = []
        # For each span the innermost function that it is or is in; -1 without one.
        self._functions: list[int] = []
        self.around_symbols = [OUTSIDE] * self._symbols
        self._hoisting = [(start, node.end_byte) for _, (kind, start, node) in marks if kind in declaration.hoisted]
        self._hoisting.sort()
        for position, (span, parent) in enumerate(zip(self._spans, self._nested.around, strict=True)):
            self._numbers.append(self._number(span, parent))
            is_function = span.node is None or span.node.type in declaration.closures
            self._functions.append(position if is_function else self._functions[parent] if parent >= 0 else OUTSIDE)

    def _number(self, span: _ScopeSpan, parent: int) -> int:
        around = self._numbers[parent] if parent >= 0 else OUTSIDE
        if span.node is None:
            self.around_symbols[span.symbol] = around
            return span.symbol
        outer = self._spans[parent] if parent >= 0 else None
        is_branching = outer is not None and outer.node is not None and outer.node.type in _BRANCHING
        if outer is not None and outer.end == span.end and not is_branching:
            return around
        self._nodes.append(span.node)
        self._around.append(around)
        return self._symbols + len(self._nodes) - 1

    def scope(self, symbol: int, start: int, *, is_hoisted: bool = False) -> int:
        """The scope of what begins at a byte of a symbol; of what is hoisted, that of the function around."""
        if not self._declaration.blocks:
            return symbol
        at = self._nested.at(start)
        while at >= 0:
            at = self._functions[at] if is_hoisted else at
            if at >= 0 and self._spans[at].symbol == symbol:
                return self._numbers[at]
            at = self._nested.around[at] if at >= 0 else OUTSIDE
        return symbol

    def is_hoisted(self, start: int) -> bool:
        """Whether a declaration around a byte is one of all the function around it."""
        return is_inside(self._hoisting, start)

    def around(self, scope: int) -> int:
        """The scope around one."""
        return self.around_symbols[scope] if scope < self._symbols else self._around[scope - self._symbols]

    def parameters(self, text: Text) -> Iterator[list[str]]:
        """The names that each block has from its head."""
        for node in self._nodes:
            declared = self._declaration.parameters(node, text)
            yield [name for parameter in declared for name in parameter_names(parameter.name)]

    @property
    def numbers(self) -> range:
        """Those of the blocks."""
        return range(self._symbols, self._symbols + len(self._nodes))


class ScopedNames:
    """Puts what is written about a file's names into the scopes that declare them."""

    def __init__(self, blocks: BlockScopes, text: Text, heads: Sequence[Sequence[Any]]) -> None:
        self._blocks = blocks
        self._parameters = dict(enumerate(head[1] for head in heads))
        self._parameters.update(zip(blocks.numbers, blocks.parameters(text), strict=True))
        self._declared = {(scope, name) for scope, names in self._parameters.items() for name in names}

    def declare(self, rows: Iterable[NameRow]) -> None:
        """Take in names of scopes."""
        self._declared.update((row[0], row[1]) for row in rows)

    def declaring(self, scope: int, name: str) -> int | None:
        """The scope whose name is meant by one in a scope."""
        while (scope, name) not in self._declared:
            if scope == OUTSIDE:
                return None
            scope = self._blocks.around(scope)
        return scope

    def is_parameter(self, scope: int, name: str) -> bool:
        """Whether a scope has a name from its head."""
        return name in self._parameters.get(scope, ())

    def written(self, content: dict[str, Any], of_symbols: Sequence[int]) -> list[list[Any]]:
        """The blocks that have names, `[scope around, names of parameters]`; all numbers in rows become theirs: of a
        block without names that of the scope around it."""
        used = {scope for scope, _ in self._declared}.union(of_symbols)
        kept = [scope for scope in self._blocks.numbers if scope in used]
        numbers = {scope: self._blocks.numbers.start + number for number, scope in enumerate(kept)}
        for scope in self._blocks.numbers:
            if scope not in used:
                around = self._blocks.around(scope)
                numbers[scope] = numbers.get(around, around)
        for kind in ("imports", "typed", "bound", "calls", "results", "around", "uses"):
            for row in content[kind]:
                row[0] = numbers.get(row[0], row[0])
        return [[numbers.get(around := self._blocks.around(scope), around), self._parameters[scope]] for scope in kept]
