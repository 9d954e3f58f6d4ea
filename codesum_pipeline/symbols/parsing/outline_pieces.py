"""Cuts a file into the statements that define something, by patterns, where no grammar reads what people write.

The three patterns are those of a table (`Marks`). In what one of them finds without a group, nothing counts.
"""

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.languages.outlines.outline_table import CALL, KINDS, TYPE, Marks

_PARTS = re.compile(rb'"[^"]*"|`[^`]*`|\[[^\[\]]*\]|<[^<>]*>|[^\s."`\[\]]+')
_USES = {"call": CALL, "command": CALL, "type": TYPE}


class TextSpan(Struct, frozen=True):
    """A part of a file; it can stand for a node of a grammar."""

    start_byte: int
    end_byte: int
    type: str = ""
    has_error: bool = False


class Statement(Struct, frozen=True):
    """A statement that defines something of a kind; `body` is where its signature ends, -1 for nowhere, and `uses` are
    what it calls and the types that it names, each with its capture."""

    kind: str
    start: int
    end: int
    names: list[TextSpan]
    body: int
    fields: list[TextSpan]
    uses: list[tuple[str, TextSpan]]
    branches: list[TextSpan]


def cut_in_pieces(marks: Marks, source: bytes) -> tuple[list[Statement], list[TextSpan]]:
    """The statements of a file that define something, and the comments outside of all bodies."""
    cutter = _Cutter(marks, source)
    return [*cutter.pieces()], cutter.comments


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


class _Cutter:
    """Cuts one file: what it knows of the statement that has begun."""

    def __init__(self, marks: Marks, source: bytes) -> None:
        self._marks, self._source = marks, source
        self.comments: list[TextSpan] = []
        self._head: re.Match[bytes] | None = None
        self._kind, self._body, self._depth, self._is_held = "", -1, 0, False

    def pieces(self) -> Iterator[Statement]:
        """One after the other."""
        after, comments = 0, -1
        for mark in _compiled(self._marks.statements).finditer(self._source):
            if self._source[after : mark.start()].strip():
                comments = -1
            start = mark.start() if comments < 0 else comments
            after = mark.end()
            if mark.lastgroup == "comment":
                self.comments.append(TextSpan(mark.start(), after))
                comments = start
            else:
                comments = -1
                yield from self._at(mark, start)
        yield from self._ended(len(self._source))

    def _at(self, mark: re.Match[bytes], start: int) -> Iterator[Statement]:
        """What a mark ends; `start` is where the comments before it begin."""
        kind, is_routine = mark.lastgroup, KINDS.get(self._kind) is SymbolType.FUNCTION
        if kind == "head" and not (is_routine and self._depth):
            yield from self._ended(start)
            groups = mark.groupdict()
            self._kind = next(kind for kind in KINDS if groups.get(kind) is not None)
            self._head, self._depth, self._is_held = mark, 0, self._kind == "module"
            self._body = -1 if groups.get("rest") is None else mark.start("rest")
        elif kind == "stop" or (kind == "start" and not (is_routine or self._is_held)):
            yield from self._ended(mark.start())
        elif kind == "end" and not (self._is_held or (is_routine and self._depth)):
            yield from self._ended(mark.end())
        elif is_routine and kind in ("open", "hold", "body"):
            self._body = mark.start() if self._body < 0 else self._body
            self._is_held |= kind == "hold" and not self._depth
            self._depth += kind == "open"
        elif kind == "close":
            self._depth = max(0, self._depth - 1)

    def _ended(self, end: int) -> Iterator[Statement]:
        head, kind, self._head, self._kind = self._head, self._kind, None, ""
        if head is None:
            return
        start = head.start("head")
        end = start + len(self._source[start:end].rstrip())
        piece = Statement(kind, start, end, self._parts(*head.span("name")), self._body, [], [], [])
        if head[0].endswith(b"("):
            self._read_items(head.end(), piece)
        for part in _compiled(self._marks.uses).finditer(self._source, head.end("name"), end):
            if part.lastgroup == "branch":
                piece.branches.append(TextSpan(part.start(), part.end()))
            elif part.lastgroup is not None:
                self._add_use(piece, _USES[part.lastgroup], part.span(part.lastgroup))
        yield piece

    def _read_items(self, start: int, piece: Statement) -> None:
        """The first names of the items in a bracket that is open at a place are fields, the second ones types."""
        level, names = 1, 0
        for part in _compiled(self._marks.items).finditer(self._source, start, piece.end):
            if part.lastgroup == "name" and level == 1:
                if not names:
                    piece.fields.append(self._parts(*part.span())[-1])
                elif names == 1:
                    self._add_use(piece, TYPE, part.span())
            level += (part[0] == b"(") - (part[0] == b")")
            if not level:
                break
            if part.lastgroup != "comment":
                names = 0 if level == 1 and part[0] == b"," else names + 1

    def _add_use(self, piece: Statement, capture: str, span: tuple[int, int]) -> None:
        piece.uses.append((capture, self._parts(*span)[-1]))

    def _parts(self, start: int, end: int) -> list[TextSpan]:
        """The parts of a name with dots."""
        parts = _PARTS.finditer(self._source[start:end])
        return [TextSpan(start + part.start(), start + part.end()) for part in parts]
