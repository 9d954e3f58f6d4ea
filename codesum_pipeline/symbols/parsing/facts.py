"""The facts about a definition, read from its marked nodes.

They are a function of the canonical source: they contain no path, no neighbour and no real line.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import Fact, Form, SymbolFacts, SymbolType
from codesum_pipeline.languages.declarations.condition_syntax import Branch
from codesum_pipeline.languages.declarations.declaration import Declaration
from codesum_pipeline.languages.declarations.hook_values import CallSyntax
from codesum_pipeline.languages.declarations.node_code import Text
from codesum_pipeline.languages.declarations.spec import Mark, Span
from codesum_pipeline.symbols.parsing.branches import branches_of, conditions_of
from codesum_pipeline.symbols.parsing.canonical import Canonical
from codesum_pipeline.symbols.parsing.condition_texts import Conditions, without_brackets
from codesum_pipeline.symbols.parsing.expressions import (
    FileTexts,
    expression_at,
    first_argument,
    pieces_between,
    read_expression,
)
from codesum_pipeline.symbols.parsing.file_tokens import Tokens
from codesum_pipeline.symbols.parsing.nested_definitions import Definition

# Distinct texts, each with the bytes that say it first.
Found = dict[str, tuple[int, int]]
MAX_TEXT = 80
MAX_FACTS = 40
# What an assignment to a variable of the function itself assigns is no effect.
LOCAL_NAMES = frozenset({
    "identifier", "constant", "simple_identifier", "variable_name", "variable", "word", "name", "shorthand",
})  # fmt: skip

_START = itemgetter(1)


class CallReader:
    """What the calls of a file are, each read once."""

    def __init__(self, declaration: Declaration, text: Text) -> None:
        self._readers = declaration.calls
        self._text = text
        self._known: dict[int, CallSyntax | None] = {}

    def read(self, kind: str, node: Node) -> CallSyntax | None:
        """The call that a node of a kind in `Declaration.calls` is; None if it is none, or calls what has no name."""
        if node.id not in self._known:
            called = self._readers[kind](node, self._text)
            self._known[node.id] = called if called is not None and called.name else None
        return self._known[node.id]


class FactReader(Struct):
    """Reads the facts of one file's definitions."""

    _declaration: Declaration
    _tokens: Tokens
    _canonical: Canonical
    _text: Text
    _calls: CallReader
    _texts: FileTexts

    def read(
        self, definition: Definition, words: Sequence[str], *, first_line: int, signature_start: int
    ) -> SymbolFacts:
        """The facts of one definition with these modifiers, without what is nested in it; its signature starts at the
        first token from `signature_start` on."""
        declaration, found = self._declaration, _DefinitionFacts()
        is_class, is_one = definition.type is SymbolType.CLASS, len(definition.nodes) == 1
        for node, body in zip(definition.nodes, definition.bodies, strict=True):
            marks = definition.marks
            if not is_one:
                first = bisect_left(marks, node.start_byte, key=_START)
                marks = marks[first : bisect_left(marks, node.end_byte, first, key=_START)]
            self._read_node(marks, node, body, found, is_class=is_class)
            self._read_conditions(marks, node, found)
        conditions = Conditions(found.branches, self._tokens, declaration.conditions)

        def facts(texts: Found, *, is_run: bool = True) -> tuple[Fact, ...]:
            """Each text with its line, the structure of what lies between its bytes, and when that is run."""
            facts_of_texts = []
            for text, (start, end) in texts.items():
                read = expression_at(self._tokens, start, end)
                line = self._canonical.line_at(start) - first_line + 1
                when = conditions.at(start) if is_run else ""
                facts_of_texts.append(Fact(text, line, read.names, read.form, read.first_text, when))
            return tuple(facts_of_texts)

        node = definition.nodes[0]
        parameters = () if is_class else tuple(declaration.parameters(node, self._text))
        # Where a docstring ends, or the first line of the signature does.
        docstring_end = (definition.docstring or node.children[0]).end_byte if declaration.docstrings else 0
        start, end = definition.start_byte, definition.end_byte
        return SymbolFacts(
            parameters=parameters,
            return_type=None if is_class else declaration.return_type(node, self._text) or None,
            returned=facts(found.returned),
            raises=tuple([self._raised(fact, found) for fact in facts(found.raises)]),
            writes=facts(found.writes),
            calls=tuple([_called(fact, found.names.get(fact.text)) for fact in facts(found.calls)]),
            fields=facts(found.fields, is_run=False),
            literals=() if is_class else self._texts.literals_in(start, end),
            attributes=() if is_class else self._texts.attributes_in(start, end, parameters),
            conditions=() if is_class else self._conditions(found.asked),
            signature_line=self._canonical.line_at(signature_start) - first_line + 1,
            docstring_line=self._canonical.lines_between(0, docstring_end)[1] - first_line if docstring_end else 1,
            is_generator=found.is_generator and not is_class,
            is_async="async" in words,
        )

    def _read_node(
        self, marks: Sequence[Mark], node: Node, body: Node | None, found: "_DefinitionFacts", *, is_class: bool
    ) -> None:
        rules = self._declaration
        start, closed = (node if is_class and not rules.is_in_body else body or node).start_byte, 0
        for kind, offset, mark in marks:
            if not (start <= offset or kind in rules.delegations) or not offset < node.end_byte:
                continue
            if kind in rules.closures and mark.end_byte < node.end_byte:
                closed = max(closed, mark.end_byte)
            if is_class and (names := rules.fields.get(kind)):
                for name in names(mark, self._text):
                    _add(found.fields, name, offset, mark.end_byte)
            if kind in rules.returns and offset >= closed:
                first = next(iter(mark.named_children), None)
                is_raise = first is not None and first.type in rules.raising_words
                self._add(found.raises if is_raise else found.returned, *self._value_at(mark))
            if kind in rules.yields and offset >= closed:
                found.is_generator = True
                self._add(found.returned, *self._value_at(mark))
            if kind in rules.raises:
                self._add(found.raises, *self._value_at(mark))
            if kind in rules.outer_names:
                found.outer.update(self._text(name) for name in mark.named_children)
            if (field := rules.assignments.get(kind)) is not None:
                # What an assignment or a step (`i++`) assigns.
                left = mark.child_by_field_name(field) if field else next(iter(mark.named_children), None)
                self._assignment(left, mark if is_class and kind in rules.members else None, found)
            if (callee := rules.callees.get(kind)) and (called := callee(mark)) is not None:
                _add(found.calls, self._short(offset, called.end_byte), offset, mark.end_byte)
            if kind in rules.calls and (call := self._calls.read(kind, mark)) is not None:
                self._call(mark, call, found)
        if body is not None and not is_class and (result := rules.result(body)) is not None:
            self._add(found.returned, result.start_byte, result.end_byte)

    def _read_conditions(self, marks: Sequence[Mark], node: Node, found: "_DefinitionFacts") -> None:
        syntax = self._declaration.conditions
        decides = syntax.marked
        deciding = [(kind, at) for kind, _, at in marks if kind in decides]
        # A guard in its head decides for a whole definition.
        deciding += [(node.type, node)] if node.type in decides else []
        for kind, at in deciding:
            branches = [*branches_of(kind, at, syntax)]
            found.branches += branches
            found.asked.update(conditions_of(kind, at, syntax, branches))

    def _call(self, node: Node, called: CallSyntax, found: "_DefinitionFacts") -> None:
        start, end = node.start_byte, node.end_byte
        if not called.receiver and called.name in self._declaration.raising_calls:
            found.names[self._add(found.raises, start, end)] = called.name
        elif not called.receiver and called.name in self._declaration.returning_calls:
            start, end = self._value_at(node)
            start = min(start + len(called.name), end) if self._short(start, end).startswith(called.name) else start
            _add(found.returned, self._short(start, end).strip(), start, end)
        else:
            # The name says more than the beginning of a long chain of calls.
            receiver = called.receiver if len(called.receiver) + len(called.name) < MAX_TEXT else "…"
            callee = f"{receiver}{called.mark}{called.name}" if receiver else called.name
            found.names[_add(found.calls, f"new {callee}" if called.is_new else callee, start, end)] = called.name

    def _assignment(self, left: Node | None, field: Node | None, found: "_DefinitionFacts") -> None:
        """What an assignment writes that is not the function's own, or the fields that it gives a class."""
        for target in self._declaration.targets(left) if left is not None else ():
            start, end = target.start_byte, target.end_byte
            name = self._text(target) if field is not None or found.outer else ""
            if target.type not in LOCAL_NAMES or name in found.outer:
                written = self._short(start, end)
                # `.x = 1` and `["x"] = 1` fill a new object.
                _add(found.writes, "" if written.startswith((".", "[")) else written, start, end)
            elif field is not None and not (name.startswith("__") and name.endswith("__")):
                self._add(found.fields, start, (field.child_by_field_name("type") or target).end_byte)

    def _value_at(self, node: Node) -> tuple[int, int]:
        """The first byte and the end of what a statement gives; the same where it gives nothing."""
        if (value := self._declaration.value_span) is not None:
            return value(node)
        words = self._declaration.raising_words
        shown = [child for child in node.named_children if not child.is_extra and child.type not in words]
        # What is left by its name is not the function.
        if not shown or node.child_by_field_name("label") is not None:
            return node.start_byte, node.start_byte
        return shown[0].start_byte, shown[-1].end_byte

    def _raised(self, fact: Fact, found: "_DefinitionFacts") -> Fact:
        """An error by its class; of a call that raises what it is given, that, where it is a class."""
        name = found.names.get(fact.text)
        if name is None:
            return fact
        names = read_expression([*first_argument(pieces_between(self._tokens, *found.raises[fact.text]))]).names
        return replace(fact, names=names if names and names[-1][:1].isupper() else (name,), form=Form.CALL)

    def _conditions(self, asked: Iterable[Span]) -> tuple[str, ...]:
        """What is asked in some bytes, as distinct texts in source order."""
        texts: Found = {}
        for start, end in sorted(asked):
            _add(texts, without_brackets(self._short(start, end).removesuffix(";").strip()), start, end)
        return tuple(texts)

    def _short(self, start: int, end: int) -> str:
        return self._tokens.text(start, end, max_tokens=MAX_TEXT + 1) if start < end else ""

    def _add(self, texts: Found, start: int, end: int) -> str:
        return _add(texts, self._short(start, end), start, end)


def _add(texts: Found, text: str, start: int, end: int) -> str:
    """Take in a text as it is shown: on one line of bounded length."""
    shown = text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
    if shown and len(texts) < MAX_FACTS:
        texts.setdefault(shown, (start, end))
    return shown


def _called(fact: Fact, name: str | None) -> Fact:
    """A call with the chain that leads to it, as far as that is one."""
    if name is None:
        return fact
    bare = name.strip("!?$@")
    names = fact.names if fact.names[-1:] == (bare,) else (bare,) if bare.isidentifier() else ()
    return replace(fact, names=names, form=Form.CALL)


class _DefinitionFacts(Struct):
    """What one definition says, by texts.

    `names` are what is called, by the text of the call; `outer` are names that are not the function's own; `asked` are
    the bytes of its conditions.
    """

    returned: Found = {}
    raises: Found = {}
    writes: Found = {}
    calls: Found = {}
    fields: Found = {}
    names: dict[str, str] = {}
    outer: set[str] = set()
    is_generator: bool = False
    branches: list[Branch] = []
    asked: set[Span] = set()
