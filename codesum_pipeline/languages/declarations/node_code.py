"""The text of a node: canonical, on one line, or as it is written in the file."""

from collections.abc import Callable
from typing import Self

from tree_sitter import Node

from codesum_pipeline.languages.declarations.nodes import find_field

# The class of a longer expression or type cannot be determined.
MAX_CHAIN = 120
MAX_TYPE = 200
# A longer text is no name, member or call whose class could be determined.
MAX_VALUE = 300


class Code(str):
    """Canonical text on one line that knows its origin: the bytes that it covers in the source, or its parts.

    Whatever is cut off one or added to it is plain text, and so at most a name.
    """

    __slots__ = ("parts", "span")
    parts: tuple[str, ...]
    span: tuple[int, int] | None

    @classmethod
    def of(cls, text: str, *parts: str) -> Self:
        """A text put together from parts."""
        code = cls(text)
        code.parts, code.span = parts, None
        return code


# The canonical text of a node on one line.
Text = Callable[[Node | None], Code]


def field_text(node: Node | None, name: str, text: Text) -> Code:
    """The canonical text of a node's field; empty without it."""
    return text(node.child_by_field_name(name) if node is not None else None)


def raw_text(node: Node | None, *fields: str) -> str:
    """A node's own text, or that of the node that fields lead to, with blanks as one; empty without it."""
    held = find_field(node, *fields) if fields else node
    return " ".join(held.text.decode("utf-8", "replace").split()) if held is not None and held.text else ""


def short_text(node: Node | None, *fields: str) -> str:
    """The same of what may be a name; empty for what is longer than one, such as a chain of calls, each of whose links
    would be read again."""
    held = find_field(node, *fields) if fields else node
    return raw_text(held) if held is not None and held.end_byte - held.start_byte <= MAX_VALUE else ""
