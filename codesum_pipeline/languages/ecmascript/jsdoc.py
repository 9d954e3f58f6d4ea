"""The types that documenting comments of JavaScript say: `@param {Type} name`, `@returns {Type}`, `@type {Type}`."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from codesum_pipeline.languages.declaration import Code, Text, TypedName
from codesum_pipeline.languages.ecmascript.facts import typed_name
from codesum_pipeline.languages.hooks import raw_text

_TAG = re.compile(
    r"@(?:(?P<param>param|arg|argument)|(?P<result>returns?)|type)\s*\{(?P<type>[^{}]*)\}(?:\s*\[?(?P<name>[\w$]+)(?!\.))?"
)
_PIECE = re.compile(r"[\w$]+|\S")
_LONGEST = 4_000


def documented(docstring: str) -> Iterator[TypedName]:
    """The parameters of which a comment says the type; without a name, the type of the result."""
    for tag in _TAG.finditer(docstring[:_LONGEST]):
        if tag["result"]:
            yield TypedName("", _type(tag["type"]))
        elif tag["param"] and tag["name"]:
            yield TypedName(tag["name"], _type(tag["type"]))


def typed_below(comment: Node, text: Text) -> Iterator[TypedName]:
    """The variable or field below a comment that says its type."""
    said = raw_text(comment)
    if "@type" not in said[:_LONGEST] or not said.startswith("/**"):
        return
    tag = next((tag for tag in _TAG.finditer(said[:_LONGEST]) if not (tag["param"] or tag["result"])), None)
    below = comment.next_named_sibling
    name = typed_name(below, text) if tag is not None and below is not None else ""
    if tag is not None and name:
        yield TypedName(name, _type(tag["type"]))


def _type(said: str) -> Code:
    """A type without the marks that say that it may be missing or repeated."""
    plain = said.strip().removeprefix("...").lstrip("?!").rstrip("=")
    return Code.of(plain, *_PIECE.findall(plain))
