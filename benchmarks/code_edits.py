"""Small edits of code, made by its syntax tree: some change what it does, the others what nobody's text should tell.

*Mutants* turn a condition, drop a call that is a statement, or change a word of a message. *Cosmetic* edits add or
change a comment inside a body (not the one that opens it), a blank line, the indentation, the quotes of a text, or
break the arguments of a call over lines. `benchmarks/code_edits.toml` has what differs by language.
"""

import re
import tomllib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct
from tree_sitter import Language, Node, Parser

from codesum_pipeline.languages.declarations.declaration import Declaration
from codesum_pipeline.symbols.parsing.parsers import PARSERS

TABLE = Path(__file__).with_name("code_edits.toml")
_BRANCH = re.compile(r"(?:^|_)(?:if|elif|elsif|elseif|unless|while|until|guard|guards|ternary|conditional)(?:_|$)")
_TEXT = re.compile(r"^(?!.*(?:content|fragment|start|end|escape|type)).*(?:string|quoted|text|encapsed|raw)")
_WORD = re.compile(rb"(?<![%{$\\\w@:#&])[a-zA-Z]{4,}(?![\w}(:=])")
_PLAIN_TEXT = re.compile(rb"[\w .,+-]*")
_DOC_MARKS = (b"///", b"//!", b"/**", b"/*!", b"---", b"-- |", b"-- ^", b"{-#")
_ATTRIBUTE = re.compile(r"^(?:attribute_item|annotation|decorator|attribute_list)$")
_LEAST_WORDS = 3
_HEAD_BYTES = 80
_MOST_ABOVE = 6


class Edit(Struct, frozen=True):
    """The bytes from `start` up to `end` become `text`."""

    kind: str
    start: int
    end: int
    text: bytes

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.text + source[self.end :]


class Habits(Struct, frozen=True):
    """How code of one language is edited (`code_edits.toml` explains the fields)."""

    comment: str
    negation: str = ""
    quotes: bool = False
    is_indented: bool = False
    breaks: str | None = None
    last_is_value: bool = False


class Place(Struct, frozen=True):
    """A node with its ancestors, outermost first."""

    node: Node
    above: Sequence[Node]

    @property
    def parent(self) -> Node | None:
        return self.above[-1] if self.above else None


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(TABLE.read_text("utf-8"))


@cache
def _words(part: str, name: str) -> frozenset[str]:
    return frozenset(_table()[part][name].split())


@cache
def habits_of(language: str) -> Habits:
    """How code of a language is edited."""
    return Habits(**_table()["languages"][language])


LANGUAGES = tuple(sorted(_table()["languages"]))


@cache
def _tree_parser(language: str) -> Parser:
    return Parser(Language(PARSERS[language].declaration.spec.grammar()))


@cache
def _containers(language: str) -> frozenset[str]:
    spec = PARSERS[language].declaration.spec
    return spec.rows | spec.containers | spec.blocks | spec.braced


class Code(Struct, frozen=True):
    """A source with the places of its tree."""

    language: str
    source: bytes
    places: Sequence[Place]

    @classmethod
    def of(cls, language: str, source: bytes) -> "Code":
        """Nothing is found in what does not parse."""
        root = _tree_parser(language).parse(source).root_node
        return cls(language, source, [] if root.has_error else [*_places(root)])

    @property
    def declaration(self) -> Declaration:
        return PARSERS[self.language].declaration

    @property
    def habits(self) -> Habits:
        return habits_of(self.language)

    def text(self, node: Node) -> bytes:
        return self.source[node.start_byte : node.end_byte]

    def is_comment(self, node: Node) -> bool:
        return node.type in self.declaration.spec.comments or "comment" in node.type

    def is_text(self, place: Place) -> bool:
        """Whether a node is a text literal, and no part of one."""
        parent = place.parent
        return bool(_TEXT.search(place.node.type)) and not (parent and _TEXT.search(parent.type))


def _places(root: Node) -> Iterator[Place]:
    """All nodes in the order of the source."""
    cursor, above = root.walk(), [root]
    yield Place(root, ())
    if not cursor.goto_first_child():
        return
    while (node := cursor.node) is not None:
        yield Place(node, tuple(above))
        if cursor.goto_first_child():
            above.append(node)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent() or cursor.node == root:
                return
            above.pop()


def turned_conditions(code: Code) -> Iterator[Edit]:
    """Comparisons in conditions as their opposites, and conditions with or without a negation."""
    for place in code.places:
        node, parent = place.node, place.parent
        if parent is None or not _is_in_condition(code, place):
            continue
        opposite = _opposite(code, node) if not node.child_count else None
        is_between = parent.child_count >= 3 and parent.children[0] != node != parent.children[-1]
        if opposite and (is_between or opposite.startswith("-")):
            yield Edit("condition", node.start_byte, node.end_byte, opposite.encode())
        elif code.text(node) in (b"not", b"!") and parent.named_child_count == 1 and parent.children[0] == node:
            yield Edit("condition", node.start_byte, parent.named_children[0].start_byte, b"")
        elif code.habits.negation and _is_plain_condition(place):
            yield Edit("condition", node.start_byte, node.start_byte, code.habits.negation.encode())


def _opposite(code: Code, node: Node) -> str | None:
    found = _table()["opposites"].get(code.text(node).decode("utf-8", "replace"))
    respelled = {"lua": "~=", "haskell": "/="}.get(code.language)
    return respelled if found == "!=" and respelled else found


def _is_in_condition(code: Code, place: Place) -> bool:
    """Whether a node is in the head of a branch: between both there is no block and no statement."""
    spec = code.declaration.spec
    # A test of a shell is a statement.
    inner = (_containers(code.language) | spec.lines | spec.openers) - {"test_command"}
    for node in reversed(place.above[-_MOST_ABOVE:]):
        if _BRANCH.search(node.type) or _is_macro_branch(code, node):
            return True
        if node.type in inner:
            return False
    return False


def _is_macro_branch(code: Code, node: Node) -> bool:
    """Elixir's `if` is a call."""
    return (
        code.language == "elixir" and node.type == "call" and code.text(node)[:7].split(b" ")[0] in (b"if", b"unless")
    )


def _is_plain_condition(place: Place) -> bool:
    """Whether a node is a name or a call, and all of a condition."""
    node, parent = place.node, place.parent
    is_plain = node.type in ("identifier", "simple_identifier", "attribute", "variable_name", *_words("calls", "calls"))
    if parent is None or not is_plain:
        return False
    if parent.type == "parenthesized_expression" and len(place.above) > 1:
        return place.above[-2].child_by_field_name("condition") == parent
    return parent.child_by_field_name("condition") == node


def dropped_calls(code: Code) -> Iterator[Edit]:
    """Statements that are calls, left out with their line."""
    for node, siblings in _statements(code):
        is_last = node == siblings[-1]
        if len(siblings) < 2 or (is_last and code.habits.last_is_value) or not _is_call(code, node):
            continue
        start, end = node.start_byte, node.end_byte
        if code.source[end : end + 1] == b";":
            end += 1
        yield Edit("call", start, end, b"")


def _is_call(code: Code, node: Node) -> bool:
    while node.type in _words("calls", "statements") and node.named_child_count == 1:
        (node,) = node.named_children
    head = re.split(rb"[\s(.!:]", code.text(node), maxsplit=1)[0].decode("utf-8", "replace")
    has_block = any("block" in child.type or child.type in ("lambda", "closure") for child in node.children)
    return node.type in _words("calls", "calls") and not has_block and head not in _words("calls", "keywords")


def _statements(code: Code) -> Iterator[tuple[Node, Sequence[Node]]]:
    """What stands in a block, with all that does."""
    containers = _containers(code.language)
    for place in code.places:
        if place.node.type in containers and place.above:
            found = [child for child in place.node.named_children if not code.is_comment(child)]
            yield from ((child, found) for child in found)


def changed_messages(code: Code) -> Iterator[Edit]:
    """Texts that are raised, logged or printed, with another word."""
    heads = re.compile(_table()["messages"]["heads"].encode())
    for place in code.places:
        node = place.node
        if not code.is_text(place) or len(_WORD.findall(code.text(node))) < _LEAST_WORDS:
            continue
        around = next((one for one in reversed(place.above[-_MOST_ABOVE:]) if _speaks(code, one, node, heads)), None)
        if around is not None:
            yield from other_word_in(code.source, node.start_byte + 1, node.end_byte, "message")


def _speaks(code: Code, around: Node, text: Node, heads: re.Pattern[bytes]) -> bool:
    head = code.source[around.start_byte : min(text.start_byte, around.start_byte + _HEAD_BYTES)]
    is_one = around.type in _words("calls", "calls") or "throw" in around.type or "raise" in around.type
    return (is_one or "creation" in around.type or "new" in around.type or "echo" in around.type) and bool(
        heads.search(head)
    )


def other_word_in(source: bytes, start: int, end: int, kind: str) -> Iterator[Edit]:
    """The longest word of a text or comment, as another one."""
    found = [*_WORD.finditer(source, start, end)]
    if found:
        match = max(found, key=lambda one: (len(one[0]), -one.start()))
        words = _table()["messages"]["words"].encode().split()
        other = words[match.start() % len(words)]
        yield Edit(kind, match.start(), match.end(), other.capitalize() if match[0].istitle() else other)


def _line_starts(code: Code) -> Iterator[tuple[int, bytes]]:
    """Where a statement of a block, neither its first nor a definition, begins its line: the line's first byte, and its
    indentation."""
    definitions = code.declaration.definitions.keys() | code.declaration.spec.wrappers
    for node, siblings in _statements(code):
        # What documents a definition at the begin of a statement stands above the statement.
        if node in siblings[: 1 + _is_docstring(code, siblings[0])] or _begins_a_definition(node, definitions):
            continue
        previous = node.prev_sibling
        if previous is None or code.is_comment(previous):
            continue
        line = code.source.rfind(b"\n", 0, node.start_byte) + 1
        indent = code.source[line : node.start_byte]
        # A line that goes on is no place for another.
        if not indent.strip() and not code.source[:line].rstrip(b"\n").endswith(b"\\"):
            yield line, indent


def _is_docstring(code: Code, node: Node) -> bool:
    """Whether a statement is nothing but a text: a comment behind it opens the body."""
    return code.text(node).lstrip(b"rRuUbB")[:1] in (b"'", b'"')


def _begins_a_definition(node: Node, definitions: Container[str]) -> bool:
    """Whether something is defined on a node's first line, or an attribute of it is."""
    row = node.start_point.row
    return (
        node.type in definitions
        or bool(_ATTRIBUTE.search(node.type))
        or any(
            _begins_a_definition(child, definitions) for child in node.named_children if child.start_point.row == row
        )
    )


def added_comments(code: Code) -> Iterator[Edit]:
    """Comments on a line of their own inside a block."""
    for line, indent in _line_starts(code):
        note = f"{code.habits.comment} Kept in this order for the older callers.\n".encode()
        yield Edit("comment added", line, line, indent + note)


def blank_lines(code: Code) -> Iterator[Edit]:
    """Blank lines between statements."""
    yield from (Edit("blank line", line, line, b"\n") for line, _ in _line_starts(code))


def changed_comments(code: Code) -> Iterator[Edit]:
    """Comments between two statements inside a definition, with another word."""
    definitions = code.declaration.definitions.keys() | code.declaration.spec.wrappers
    for place in code.places:
        node = place.node
        if not code.is_comment(node) or place.parent is None or place.parent.type not in _containers(code.language):
            continue
        before, behind = node.prev_named_sibling, node.next_named_sibling
        if before is None or behind is None or code.is_comment(before) or code.is_comment(behind):
            continue
        if _is_docstring(code, before):
            continue
        is_inside = any(one.type in definitions for one in place.above)
        is_plain = not code.text(node).startswith(_DOC_MARKS)
        if is_inside and is_plain and not _begins_a_definition(behind, definitions):
            yield from other_word_in(code.source, node.start_byte + 1, node.end_byte, "comment changed")


def other_quotes(code: Code) -> Iterator[Edit]:
    """Short plain texts in the other quotes."""
    if not code.habits.quotes:
        return
    for node in (place.node for place in code.places if place.node.type == "string"):
        text = code.text(node)
        quote = text[:1]
        if quote in (b"'", b'"') and len(text) > 2 and text[-1:] == quote and _PLAIN_TEXT.fullmatch(text[1:-1]):
            other = b'"' if quote == b"'" else b"'"
            yield Edit("quotes", node.start_byte, node.end_byte, other + text[1:-1] + other)


def broken_calls(code: Code) -> Iterator[Edit]:
    """Arguments of calls on lines of their own. No formatter breaks what stands inside a text."""
    if code.habits.breaks is None:
        return
    for node in (place.node for place in code.places if not any(_TEXT.search(one.type) for one in place.above)):
        text = code.text(node)
        is_list = "argument" in node.type and text[:1] == b"(" and text[-1:] == b")"
        if not is_list or node.named_child_count < 2 or b"\n" in text or any(map(code.is_comment, node.children)):
            continue
        line = code.source.rfind(b"\n", 0, node.start_byte) + 1
        indent = re.match(rb"[ \t]*", code.source[line:])[0]  # type: ignore[index]
        parts = [code.source[one.start_byte : one.end_byte] for one in node.children]
        yield Edit("broken call", node.start_byte, node.end_byte, _on_lines(parts, indent, code.habits.breaks))


def _on_lines(parts: Sequence[bytes], indent: bytes, comma: str) -> bytes:
    rows, row = [], b""
    for part in parts[1:-1]:
        if part == b",":
            rows.append(row + b",")
            row = b""
        else:
            row += part if not row else b" " + part
    rows = [*rows, row + comma.encode()] if row else rows
    return b"(\n" + b"".join(indent + b"    " + one + b"\n" for one in rows) + indent + b")"


def indented_anew(code: Code) -> Iterator[Edit]:
    """The whole file with twice the blanks at the begin of its lines; what is inside a text or a comment moves as the
    line that this begins on, or not at all."""
    if not code.habits.is_indented or not code.places:
        return
    kept = _lines_inside(code)
    lines = code.source.split(b"\n")
    shifted = [
        line if number in kept or not line.strip() else re.match(rb"[ \t]*", line)[0] + line  # type: ignore[index]
        for number, line in enumerate(lines)
    ]
    text = b"\n".join(shifted)
    if text != code.source:
        yield Edit("indentation", 0, len(code.source), text)


def _lines_inside(code: Code) -> frozenset[int]:
    """The lines (from 0) that begin inside a text or a comment."""
    spec = code.declaration.spec
    found: set[int] = set()
    for node in (place.node for place in code.places):
        if node.type in spec.atoms or node.type in spec.trailing or code.is_comment(node) or "string" in node.type:
            found.update(range(node.start_point.row + 1, node.end_point.row + 1))
    return frozenset(found)


Maker = Callable[[Code], Iterator[Edit]]

MUTANTS: Mapping[str, Maker] = {"condition": turned_conditions, "call": dropped_calls, "message": changed_messages}
COSMETIC: Mapping[str, Maker] = {
    "comment added": added_comments,
    "comment changed": changed_comments,
    "blank line": blank_lines,
    "indentation": indented_anew,
    "quotes": other_quotes,
    "broken call": broken_calls,
}
