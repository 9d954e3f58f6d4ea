"""What a component's markup runs and shows, as code of TSX: a statement for each element and each expression.

`<UserCard @click="save(x)" v-for="x in xs">` becomes `(<UserCard/>);`, `(x) => { save(x) };` and `(xs);`. Each
statement stands by itself, so that a broken one hides no other. The names that markup binds (an item of a loop, what a
slot passes) are the parameters of a function around a statement: they are not those of the script. Of a pattern all
words count as such names, so that an edge may be missing and none is wrong.
"""

import re
from collections.abc import Iterable, Iterator
from html import unescape

from msgspec import Struct, field
from tree_sitter import Node

_NAME = re.compile(r"[A-Za-z_$][\w$]*")
# Words in a pattern that are no names.
_WORDS = frozenset(("as", "in", "of", "default", "null", "true", "false", "undefined", "this", "new", "typeof", "void"))
_COMPONENT = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
# More names around one expression are not written by hand.
_MOST_NAMES = 100
Names = tuple[str, ...]


class MarkupCode(Struct):
    """What was found in the markup of a file: statements, and what others may use of the component, with its byte."""

    statements: list[str] = field(default_factory=list)
    slots: dict[str, int] = field(default_factory=dict)
    events: dict[str, int] = field(default_factory=dict)

    def add_component(self, name: str, names: Names) -> None:
        """An element that is made of a component, unless markup around it binds its name."""
        if _COMPONENT.fullmatch(name) and name.partition(".")[0] not in names:
            self.statements.append(f"(<{name}/>);")

    def add_slot(self, name: str, start: int) -> None:
        """A place for what is written between the tags of the component; one without a name is that of all else."""
        if name not in ("", "default"):
            self.slots.setdefault(name, start)

    def add_expression(self, code: str, names: Names) -> None:
        """A value that is shown or passed on."""
        if code := code.strip():
            self.statements.append(f"{_head(names)}({code.removeprefix('...')}\n);")

    def add_handler(self, code: str, names: Names) -> None:
        """Statements that are run, or a function."""
        if code.strip():
            self.statements.append(f"{_head(names)}{{{code}\n}};")

    @property
    def code(self) -> str:
        return "\n".join(self.statements)


def _head(names: Names) -> str:
    return f"({', '.join(names[-_MOST_NAMES:])}) => " if names else ""


def names_in(pattern: str) -> Iterator[str]:
    """The names that a pattern may bind: all that are written in it."""
    return (name for name in _NAME.findall(pattern) if name not in _WORDS)


def with_names(names: Names, more: Iterable[str]) -> Names:
    """The names that are bound around an expression, each once."""
    return tuple(dict.fromkeys((*names, *more)))


class MarkupReader:
    """Reads the markup of one file; `_found` is what it has found."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._found = MarkupCode()

    def _text(self, node: Node) -> str:
        """The text of a node as written."""
        return self._source[node.start_byte : node.end_byte].decode(errors="replace")

    def _attribute(self, node: Node) -> str | None:
        """The value of an attribute in quotes, as HTML means it; None without one."""
        for child in node.named_children:
            if child.type == "quoted_attribute_value":
                return unescape(self._text(child)[1:-1])
            if child.type == "attribute_value":
                return unescape(self._text(child))
        return None
