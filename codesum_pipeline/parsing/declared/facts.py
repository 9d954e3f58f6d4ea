"""What a definition says about itself, read off its marked nodes.

Everything here is a function of the canonical source: no path, no neighbour
and no real line stands in it.
"""

from bisect import bisect_left
from collections.abc import Sequence
from operator import itemgetter

from tree_sitter import Node

from codesum_pipeline.model.symbols import Fact, SymbolFacts, SymbolType
from codesum_pipeline.parsing.canonical import Canonical
from codesum_pipeline.parsing.declared.declaration import Called, Declaration, Text
from codesum_pipeline.parsing.declared.definitions import Definition
from codesum_pipeline.parsing.python_facts import MAX_FACTS, MAX_TEXT, shorten
from codesum_pipeline.parsing.walk import Mark, Tokens

# What an assignment to a variable of the function itself assigns is no effect.
LOCAL_NAMES = frozenset({
    "identifier", "constant", "simple_identifier", "variable_name", "variable", "word", "name", "shorthand",
})  # fmt: skip

_START = itemgetter(1)


class Calls:
    """What the calls of a file are, each read once."""

    def __init__(self, declaration: Declaration, text: Text) -> None:
        self._readers = declaration.calls
        self._text = text
        self._known: dict[int, Called | None] = {}

    def read(self, kind: str, node: Node) -> Called | None:
        """The call that a node of a kind in `Declaration.calls` is; None if it is none."""
        if node.id not in self._known:
            self._known[node.id] = self._readers[kind](node, self._text)
        return self._known[node.id]


class FactReader:
    """Reads the facts of one file's definitions."""

    def __init__(
        self, declaration: Declaration, tokens: Tokens, canonical: Canonical, text: Text, calls: Calls
    ) -> None:
        self._declaration = declaration
        self._tokens = tokens
        self._canonical = canonical
        self._text = text
        self._calls = calls

    def read(self, definition: Definition, *, first_line: int, is_async: bool) -> SymbolFacts:
        """The facts of one definition, without what is nested in it."""
        found = _Found()
        is_class = definition.type is SymbolType.CLASS
        for node, body in zip(definition.nodes, definition.bodies, strict=True):
            self._read_node(_marks_of(definition, node), node, body, found, is_class=is_class)

        def facts(texts: dict[str, int]) -> tuple[Fact, ...]:
            return tuple(
                [Fact(text, self._canonical.line_at(offset) - first_line + 1) for text, offset in texts.items()]
            )

        node = definition.nodes[0]
        return SymbolFacts(
            parameters=() if is_class else tuple(self._declaration.parameters(node, self._text)),
            return_type=None if is_class else self._declaration.return_type(node, self._text) or None,
            returned=facts(found.returned),
            raises=facts(found.raises),
            writes=facts(found.writes),
            calls=facts(found.calls),
            fields=facts(found.fields),
            is_generator=found.is_generator and not is_class,
            is_async=is_async,
        )

    def _read_node(
        self, marks: Sequence[Mark], node: Node, body: Node | None, found: "_Found", *, is_class: bool
    ) -> None:
        rules = self._declaration.facts
        start, closed = (node if is_class else body or node).start_byte, 0
        for kind, offset, mark in marks:
            if not (start <= offset or kind in rules.delegations) or not offset < node.end_byte:
                continue
            if kind in rules.closures and mark.end_byte < node.end_byte:
                closed = max(closed, mark.end_byte)
            if is_class and (names := rules.fields.get(kind)):
                for name in names(mark, self._text):
                    self._add(found.fields, name, offset)
            if kind in rules.returns and offset >= closed:
                first = next(iter(mark.named_children), None)
                is_raise = first is not None and first.type in rules.raising_words
                self._add(found.raises if is_raise else found.returned, self._value(mark), offset)
            if kind in rules.yields and offset >= closed:
                found.is_generator = True
                self._add(found.returned, self._value(mark), offset)
            if kind in rules.raises:
                self._add(found.raises, self._value(mark), offset)
            if kind in rules.assignments:
                self._assignment(_assigned(mark, rules.assignments[kind]), found)
            if kind in self._declaration.calls:
                self._call(mark, self._calls.read(kind, mark), found)
        if body is not None and not is_class and (result := rules.result(body)) is not None:
            self._add(found.returned, self._short(result.start_byte, result.end_byte), result.start_byte)

    def _call(self, node: Node, called: Called | None, found: "_Found") -> None:
        if called is None:
            return
        if not called.receiver and called.name in self._declaration.facts.raising_calls:
            self._add(found.raises, self._short(node.start_byte, node.end_byte), node.start_byte)
            return
        if not called.receiver and called.name in self._declaration.facts.returning_calls:
            self._add(found.returned, self._value(node).removeprefix(called.name).strip(), node.start_byte)
            return
        # The name says more than the beginning of a long chain of calls.
        receiver = called.receiver if len(called.receiver) + len(called.name) < MAX_TEXT else "…"
        callee = f"{receiver}{called.mark}{called.name}" if receiver else called.name
        self._add(found.calls, f"new {callee}" if called.is_new else callee, node.start_byte)

    def _assignment(self, left: Node | None, found: "_Found") -> None:
        targets = left.named_children if left is not None and left.type.endswith("_list") else [left]
        for target in targets:
            if target is not None and target.type not in LOCAL_NAMES:
                written = self._short(target.start_byte, target.end_byte)
                # `.x = 1` and `["x"] = 1` fill a new object.
                self._add(found.writes, "" if written.startswith((".", "[")) else written, target.start_byte)

    def _value(self, node: Node) -> str:
        if node.child_by_field_name("label") is not None:
            return ""  # what is left by its name is not the function
        words = self._declaration.facts.raising_words
        shown = [child for child in node.named_children if not child.is_extra and child.type not in words]
        return self._short(shown[0].start_byte, shown[-1].end_byte) if shown else ""

    def _short(self, start: int, end: int) -> str:
        return self._tokens.text(start, end, max_tokens=MAX_TEXT + 1)

    def _add(self, texts: dict[str, int], text: str, offset: int) -> None:
        if text and len(texts) < MAX_FACTS:
            texts.setdefault(shorten(text), offset)


def _marks_of(definition: Definition, clause: Node) -> Sequence[Mark]:
    """The marks of one of the clauses of a definition."""
    if len(definition.nodes) == 1:
        return definition.marks
    first = bisect_left(definition.marks, clause.start_byte, key=_START)
    return definition.marks[first : bisect_left(definition.marks, clause.end_byte, first, key=_START)]


def _assigned(node: Node, field: str) -> Node | None:
    """What an assignment or a step (`i++`) assigns."""
    return node.child_by_field_name(field) if field else next(iter(node.named_children), None)


class _Found:
    """Distinct texts, each with the first byte that says it."""

    def __init__(self) -> None:
        self.returned: dict[str, int] = {}
        self.raises: dict[str, int] = {}
        self.writes: dict[str, int] = {}
        self.calls: dict[str, int] = {}
        self.fields: dict[str, int] = {}
        self.is_generator = False
