"""Ranges of a SCIP document as places in a text: 1-based lines, 0-based columns in bytes of UTF-8.

A document counts columns in bytes, in units of UTF-16 or in characters, and often does not say in which. In a line of
ASCII they are the same.
"""

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple


class PositionEncoding(IntEnum):
    """What columns count; values of the format."""

    UNSPECIFIED = 0
    UTF8 = 1
    UTF16 = 2
    UTF32 = 3


# Pyright and the compiler of TypeScript, whose indexers do not say it, count in UTF-16.
ASSUMED = (PositionEncoding.UTF16, PositionEncoding.UTF32, PositionEncoding.UTF8)


class Span(NamedTuple):
    """A part of one line: its number from 1, and columns in bytes, the end not included."""

    line: int
    start: int
    end: int


class EncodedLines:
    r"""The lines of a text that ends them by `\n`, with the columns of an encoding."""

    def __init__(self, text: str, encoding: PositionEncoding) -> None:
        self._lines = text.split("\n")
        self._width = _WIDTHS[encoding]

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, number: int) -> str:
        """A line by its number from 1."""
        return self._lines[number - 1]

    def span(self, range_: Sequence[int]) -> tuple[Span, str] | None:
        """The place of a range within one line, and the text there; None where the text has no such place."""
        number, start, end = range_
        if not (0 <= number < len(self._lines) and 0 <= start <= end):
            return None
        line = self._lines[number]
        if line.isascii():
            return (Span(number + 1, start, end), line[start:end]) if end <= len(line) else None
        first, last = _index(line, start, self._width), _index(line, end, self._width)
        if first is None or last is None:
            return None
        return Span(number + 1, len(line[:first].encode()), len(line[:last].encode())), line[first:last]

    def around(self, span: Span) -> tuple[str, str]:
        """The characters right before and after a place; empty at the ends of its line."""
        line = self._lines[span.line - 1]
        if not line.isascii():
            encoded = line.encode()
            before, after = encoded[: span.start].decode(), encoded[span.end :].decode()
            return before[-1:], after[:1]
        return line[span.start - 1 : span.start] if span.start else "", line[span.end : span.end + 1]

    def follows(self, span: Span) -> str:
        """What stands after a place in its line."""
        return self._lines[span.line - 1].encode()[span.end :].decode()


def range_of(occurrence: Any) -> tuple[int, ...]:
    """The range of an occurrence: (line, start, end), or with a second line before the end; 0-based."""
    return _range(occurrence, "range", "single_line_range", "multi_line_range")


def enclosing_range_of(occurrence: Any) -> tuple[int, ...]:
    """The range of what an occurrence names, with its body; empty where the index does not say."""
    return _range(occurrence, "enclosing_range", "single_line_enclosing_range", "multi_line_enclosing_range")


def _range(occurrence: Any, plain: str, single: str, multi: str) -> tuple[int, ...]:
    if found := tuple(getattr(occurrence, plain)):
        return found
    if occurrence.HasField(single):
        one = getattr(occurrence, single)
        return one.line, one.start_character, one.end_character
    if occurrence.HasField(multi):
        many = getattr(occurrence, multi)
        return many.start_line, many.start_character, many.end_line, many.end_character
    return ()


def _index(line: str, column: int, width: Callable[[str], int]) -> int | None:
    """The character at a column; None where the line is shorter, or a character goes across it."""
    at = 0
    for index, character in enumerate(line):
        if at >= column:
            return index if at == column else None
        at += width(character)
    return len(line) if at == column else None


_WIDTHS: dict[PositionEncoding, Callable[[str], int]] = {
    PositionEncoding.UTF8: lambda character: len(character.encode()),
    PositionEncoding.UTF16: lambda character: 2 if ord(character) > 0xFFFF else 1,
    PositionEncoding.UTF32: lambda character: 1,
}
