"""What a Python definition says about itself: parameters, results, errors, writes, calls, fields.

Everything here is read off the canonical source: no path, no neighbour and
no real line stands in it.
"""

from collections.abc import Callable, Iterator, Mapping

from tree_sitter import Node

from codesum_pipeline.model.symbols import Fact, Parameter, SymbolFacts, SymbolType
from codesum_pipeline.parsing.canonical import Canonical
from codesum_pipeline.parsing.definitions import SyntaxDefinition
from codesum_pipeline.parsing.expressions import FileTexts, expression_at
from codesum_pipeline.parsing.walk import Tokens

# Distinct texts, each with the bytes that say it first.
Found = dict[str, tuple[int, int]]
MAX_TEXT = 80
MAX_FACTS = 40
RECEIVERS = frozenset({"self", "cls", "mcs", "mcls", "metacls"})


def shorten(text: str) -> str:
    """A text on one line of bounded length."""
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def fact_at(tokens: Tokens, text: str, line: int, start: int, end: int) -> Fact:
    """A fact with the structure of what stands between two bytes."""
    read = expression_at(tokens, start, end)
    return Fact(text, line, read.names, read.form, read.said)


def read_facts(
    definition: SyntaxDefinition,
    tokens: Tokens,
    canonical: Canonical,
    texts: FileTexts,
    *,
    first_line: int,
    docstring_end: int,
    is_async: bool,
    is_static: bool,
) -> SymbolFacts:
    """The facts of one definition, without what is nested in it; `texts` are those of the file."""
    node = definition.node
    body = node.child_by_field_name("body")
    body_start = body.start_byte if body else node.end_byte
    is_class = definition.type is SymbolType.CLASS
    reader = _FactReader(tokens.text, is_class=is_class)
    for kind, start, mark in definition.marks:
        if start >= body_start and (read := READERS.get(kind)):
            read(reader, mark, start)

    def facts(found: Found) -> tuple[Fact, ...]:
        return tuple([
            fact_at(tokens, text, canonical.line_at(start) - first_line + 1, start, end)
            for text, (start, end) in found.items()
        ])  # fmt: skip

    parameters = () if is_class else read_parameters(node, tokens, is_static=is_static)
    return_type = node.child_by_field_name("return_type")
    return SymbolFacts(
        parameters=parameters,
        return_type=tokens.text(return_type.start_byte, return_type.end_byte) if return_type else None,
        returned=facts(reader.returned),
        raises=facts(reader.raises),
        writes=facts(reader.writes),
        calls=facts(reader.calls),
        fields=facts(reader.fields),
        literals=() if is_class else texts.literals_in(definition.start_byte, definition.end_byte),
        attributes=() if is_class else texts.attributes_in(definition.start_byte, definition.end_byte, parameters),
        signature_line=canonical.line_at(node.start_byte) - first_line + 1,
        docstring_line=docstring_end - first_line,
        is_generator=reader.is_generator and not is_class,
        is_async=is_async,
    )


class _FactReader:
    """Sorts a definition's marked nodes into distinct texts, each with the first byte that says it."""

    __slots__ = (
        "_is_class",
        "_outer_names",
        "_text",
        "calls",
        "fields",
        "is_generator",
        "raises",
        "returned",
        "writes",
    )

    def __init__(self, text: Callable[..., str], *, is_class: bool) -> None:
        self._text = text
        self._is_class = is_class
        self._outer_names: set[str] = set()
        self.returned: Found = {}
        self.raises: Found = {}
        self.writes: Found = {}
        self.calls: Found = {}
        self.fields: Found = {}
        self.is_generator = False

    def call(self, node: Node, start: int) -> None:
        callee = node.child(0)
        if callee is not None:
            self._add(self.calls, start, callee.end_byte, end_of_all=node.end_byte)

    def return_(self, node: Node, start: int) -> None:
        self._add(self.returned, start + len("return"), node.end_byte)

    def yield_(self, node: Node, start: int) -> None:
        self.is_generator = True
        self._add(self.returned, start + len("yield"), node.end_byte)

    def raise_(self, node: Node, start: int) -> None:
        end = next((child.start_byte for child in node.children if child.type == "from"), node.end_byte)
        self._add(self.raises, start + len("raise"), end)

    def assignment(self, node: Node, start: int) -> None:
        left = node.child(0)
        if not self._is_class and not self._outer_names and (left is None or left.type == "identifier"):
            return
        annotation = node.child_by_field_name("type") if self._is_class else None
        for target in targets(left):
            self._target(target, annotation, is_field=self._is_class and node.type == "assignment")

    def _target(self, target: Node, annotation: Node | None, *, is_field: bool) -> None:
        start, end = target.start_byte, target.end_byte
        if target.type != "identifier":
            self._add(self.writes, start, end)
            return
        name = self._text(start, end)
        if name in self._outer_names:
            self._add(self.writes, start, end)
        elif is_field and not (name.startswith("__") and name.endswith("__")):
            self._add(self.fields, start, annotation.end_byte if annotation else end)

    def outer(self, node: Node, start: int) -> None:
        self._outer_names.update(self._text(name.start_byte, name.end_byte) for name in node.named_children)

    def _add(self, found: Found, start: int, end: int, *, end_of_all: int = 0) -> None:
        """Add the text between two bytes, unless it is empty, known, or one too many; of a longer expression where
        that has another end."""
        if len(found) < MAX_FACTS and (text := shorten(self._text(start, end, max_tokens=MAX_TEXT + 1))):
            found.setdefault(text, (start, end_of_all or end))


READERS: Mapping[str, Callable[[_FactReader, Node, int], None]] = {
    "call": _FactReader.call,
    "return_statement": _FactReader.return_,
    "yield": _FactReader.yield_,
    "raise_statement": _FactReader.raise_,
    "assignment": _FactReader.assignment,
    "augmented_assignment": _FactReader.assignment,
    "global_statement": _FactReader.outer,
    "nonlocal_statement": _FactReader.outer,
}


def targets(left: Node | None) -> Iterator[Node]:
    """The names, attributes and items that an assignment's left side assigns, in source order."""
    waiting = [left] if left else []
    while waiting:
        node = waiting.pop()
        if node.type in ("identifier", "attribute", "subscript"):
            yield node
        else:
            waiting.extend(reversed(node.named_children))


def read_parameters(definition: Node, tokens: Tokens, *, is_static: bool) -> tuple[Parameter, ...]:
    """A function's parameters as written; the first is the receiver if its name says so."""
    node = definition.child_by_field_name("parameters")
    parameters: list[Parameter] = []
    kind = "positional"
    for child in node.named_children if node else ():
        if child.type == "keyword_separator":
            kind = "keyword"
        elif child.type not in ("positional_separator", "comment", "line_continuation", "ERROR"):
            parameter = _parameter(child, tokens, kind)
            if not parameters and not is_static and parameter.name in RECEIVERS:
                parameter = Parameter(parameter.name, parameter.type, parameter.default, "receiver")
            if parameter.kind == "var_positional":
                kind = "keyword"
            parameters.append(parameter)
    return tuple(parameters)


SPLATS = {"list_splat_pattern": "var_positional", "dictionary_splat_pattern": "var_keyword"}


def _parameter(node: Node, tokens: Tokens, kind: str) -> Parameter:
    def text(part: Node | None) -> str | None:
        return tokens.text(part.start_byte, part.end_byte) if part else None

    named = node.child_by_field_name("name") or node
    if node.type == "typed_parameter":
        named = node.named_children[0]
    return Parameter(
        name=(text(named) or "").lstrip("*"),
        type=text(node.child_by_field_name("type")),
        default=text(node.child_by_field_name("value")),
        kind=SPLATS.get(named.type, kind),
    )
