"""String literals of manifests that are programs, with the calls and names around them.

A Gemfile, a build.sbt or a setup.py is parsed by its language's grammar and never run: the names around a literal give
its meaning.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct
from tree_sitter import Language, Node, Parser

from codesum_pipeline.languages.registry import declaration_of
from codesum_pipeline.overviews.manifests.manifest import MalformedManifest
from codesum_pipeline.parsing.bounded import ParserGaveUp, parse_within_bounds

_LITERALS = frozenset({"string", "string_literal", "line_string_literal", "interpolated_string", "atom"})
_NAMING = frozenset({
    "call", "call_expression", "function_call", "keyword_argument", "pair", "assignment", "assignment_statement",
    "assignment_expression", "value_argument", "field", "infix_expression", "property_declaration",
})  # fmt: skip
# The field of a naming node with its name; a node without one is named by its first child.
_NAME_FIELDS = ("method", "function", "target", "name", "key", "left")
_LONGEST_NAME = 80
# No manifest nests as deep.
_DEEPEST = 60
_NAME = re.compile(r"[\w.@/-]+[?!]?")
_QUOTES = "\"'`"


class Literal(Struct, frozen=True):
    """A string, or an atom; `before` and `after` are the source up to the neighbouring literals.

    `under` are the names of the calls, arguments and assignments around it, outermost first; literals with the same
    innermost naming node have the same `call`.
    """

    text: str
    line: int
    under: tuple[str, ...]
    call: int
    before: str
    after: str


@lru_cache(maxsize=8)
def _parser(language: str) -> Parser:
    return Parser(Language(declaration_of(language).spec.grammar()))


def read_literals(text: str, language: str) -> list[Literal]:
    """All literals in source order; raises `MalformedManifest` where the parser gives up."""
    source = text.encode()
    try:
        tree = parse_within_bounds(_parser(language), source)
    except ParserGaveUp as error:
        raise MalformedManifest(f"no parser comes to an end with it: {error}") from error
    found = list(_literals(tree.root_node))
    literals = []
    for number, (node, under, call) in enumerate(found):
        start = found[number - 1][0].end_byte if number else 0
        end = found[number + 1][0].start_byte if number + 1 < len(found) else len(source)
        literals.append(
            Literal(
                text=_text(source, node.start_byte, node.end_byte).strip(_QUOTES).removeprefix(":"),
                line=node.start_point.row + 1,
                under=under,
                call=call,
                before=_text(source, start, node.start_byte),
                after=_text(source, node.end_byte, end),
            )
        )
    return literals


def _literals(root: Node) -> Iterator[tuple[Node, tuple[str, ...], int]]:
    """Depth first, without recursion."""
    waiting: list[tuple[Node, tuple[str, ...], int]] = [(root, (), 0)]
    while waiting:
        node, under, call = waiting.pop()
        if node.type in _LITERALS:
            yield node, under, call
            continue
        if node.type in _NAMING and (name := _name(node)):
            under, call = (*under, name), node.id
        if len(under) < _DEEPEST:
            waiting.extend((child, under, call) for child in reversed(node.named_children))


def _name(node: Node) -> str:
    part = next((found for name in _NAME_FIELDS if (found := node.child_by_field_name(name))), None)
    if part is None:
        part = next((child for child in node.named_children[:1] if child.type not in _LITERALS), None)
    if part is None or part.end_byte - part.start_byte > _LONGEST_NAME or part.text is None:
        return ""
    name = part.text.decode("utf-8", "replace").strip(".: ").rpartition(".")[2].strip(_QUOTES)
    return name if _NAME.fullmatch(name) else ""


def _text(source: bytes, start: int, end: int) -> str:
    return source[start:end].decode("utf-8", "replace")
