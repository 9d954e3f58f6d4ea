"""What the document of an index says about one file, as far as it matches the current text.

A document is used if each of its ranges is a whole word of the text and each definition spells its symbol. A reference
that does not spell its symbol is skipped and noted: it is a fault of the tool, or the sign of another text. Places have
lines from 1 and columns from 0, in bytes of UTF-8; a document counts columns in bytes, in units of UTF-16 or in
characters, and often does not say in which. In a line of ASCII they are the same.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from msgspec import Struct, field

from codesum_pipeline.symbols.scip.offering import read_message
from codesum_pipeline.symbols.scip.symbol_names import Spelling, SymbolName, is_local, parse_symbol


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
        self._are_ascii = [line.isascii() for line in self._lines]
        self._width = _WIDTHS[encoding]

    def __len__(self) -> int:
        return len(self._lines)

    def place(self, range_: Sequence[int]) -> tuple[Span, str, bool] | None:
        """The place of a range within one line, the text there, and whether that is a part of a word; None if the text
        has no such place."""
        number, start, end = range_
        if not (0 <= number < len(self._lines) and 0 <= start <= end):
            return None
        line, is_ascii = self._lines[number], self._are_ascii[number]
        first, last = (start, end) if is_ascii else (_index(line, at, self._width) for at in (start, end))
        if first is None or last is None or last > len(line):
            return None
        at_bytes = (first, last) if is_ascii else (len(line[:at].encode()) for at in (first, last))
        span = Span(number + 1, *at_bytes)
        is_cut = first < last and any(_IN_A_WORD.fullmatch(line[at - 1 : at + 1]) for at in (first, last) if at)
        return span, line[first:last], is_cut


def _range_of(occurrence: Any, *, kind: str = "range") -> tuple[int, ...]:
    """The range of an occurrence: (line, start, end), or with a second line before the end; 0-based. The `kind`
    `enclosing_range` is that of what it names, with its body; empty if the index does not say."""
    if found := tuple(getattr(occurrence, kind)):
        return found
    if occurrence.HasField(f"single_line_{kind}"):
        one = getattr(occurrence, f"single_line_{kind}")
        return one.line, one.start_character, one.end_character
    if occurrence.HasField(f"multi_line_{kind}"):
        many = getattr(occurrence, f"multi_line_{kind}")
        return many.start_line, many.start_character, many.end_line, many.end_character
    return ()


def _index(line: str, column: int, width: Callable[[str], int]) -> int | None:
    """The character at a column; None if the line is shorter, or a character goes across it."""
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


_IN_A_WORD = re.compile(r"[\w$]{2}")
_DEFINITION = 0x1
_FORWARD_DEFINITION = 0x40
_ONE_LINE = 3


class IndexReference(Struct, frozen=True):
    """A symbol at a place of the text."""

    span: Span
    text: str
    symbol: str
    name: SymbolName


class IndexDefinition(Struct, frozen=True):
    """A symbol that the file defines; `first_line` and `last_line` are those of all of it, where the index knows.

    One that is generated is not written there: something else is, that it is made from.
    """

    named: IndexReference
    first_line: int
    last_line: int
    is_generated: bool = False


class IndexComparison(Struct):
    """What a document says that counts; `problem` says why nothing does. `misnamed` counts references by symbol."""

    problem: str = ""
    occurrences: int = 0
    misnamed: Counter[str] = field(default_factory=Counter)
    definitions: list[IndexDefinition] = field(default_factory=list)
    references: list[IndexReference] = field(default_factory=list)
    information: dict[str, Any] = field(default_factory=dict)


def compare_with_text(content: bytes, text: str) -> IndexComparison:
    r"""A document beside the text of its file, whose lines end by `\n`."""
    try:
        document = read_message("Document", content)
    except ValueError as error:
        return IndexComparison(problem=f"its document cannot be read: {error}")
    # The possible units of the document's columns.
    encodings: Sequence[PositionEncoding] = ASSUMED[:1] if text.isascii() else ASSUMED
    declared = document.position_encoding
    if declared in _KNOWN_ENCODINGS and declared != PositionEncoding.UNSPECIFIED:
        encodings = (PositionEncoding(declared),)
    comparisons = (_compare(document, text, encoding) for encoding in encodings)
    first = next(comparisons)
    return next((one for one in (first, *comparisons) if not one.problem), first)


_KNOWN_ENCODINGS = frozenset(PositionEncoding)


def _compare(document: Any, text: str, encoding: PositionEncoding) -> IndexComparison:
    lines, spelling, found = EncodedLines(text, encoding), Spelling(text), IndexComparison()
    for occurrence in document.occurrences:
        found.occurrences += 1
        found.problem = _take_in(found, occurrence, parse_symbol(occurrence.symbol), lines, spelling)
        if found.problem:
            return IndexComparison(problem=found.problem, occurrences=len(document.occurrences))
    written = {one.named.span for one in found.definitions if not one.is_generated}
    written |= {one.span for one in found.references}
    for one in found.definitions:
        # A generated definition must be derived from a name that is written.
        if one.is_generated and one.named.span not in written:
            problem = f"line {one.named.span.line} defines {one.named.text!r}, not {one.named.name.last.name!r}"
            return IndexComparison(problem=problem, occurrences=found.occurrences)
    found.information = {one.symbol: one for one in document.symbols if not is_local(one.symbol)}
    return found


def _take_in(
    found: IndexComparison, occurrence: Any, name: SymbolName | None, lines: EncodedLines, spelling: Spelling
) -> str:
    """Add one occurrence; the reason why the document does not count, if it does not."""
    range_ = _range_of(occurrence)
    if len(range_) != _ONE_LINE:
        # A range of several lines says nothing about a name, but must be in the text.
        is_in_text = len(range_) == _ONE_LINE + 1 and 0 <= range_[0] <= range_[2] < len(lines)
        return "" if is_in_text else f"the text has {len(lines)} lines, and none at {list(range_)}"
    placed = lines.place(range_)
    if placed is None:
        return f"line {range_[0] + 1} has no columns {range_[1]} to {range_[2]}"
    span, token, is_cut = placed
    if is_cut:
        return f"line {span.line} has no whole word at column {span.start}, but a part of one"
    if name is None:
        return ""
    is_spelled = spelling.is_spelled(name, token)
    if occurrence.symbol_roles & _DEFINITION:
        named = IndexReference(span, token, occurrence.symbol, name)
        whole = _range_of(occurrence, kind="enclosing_range") or range_
        last = whole[2] if len(whole) > _ONE_LINE else whole[0]
        lines_of = min(whole[0] + 1, span.line), max(last + 1, span.line)
        found.definitions.append(IndexDefinition(named, *lines_of, is_generated=not is_spelled))
    elif not is_spelled:
        found.misnamed[occurrence.symbol] += 1
    elif not occurrence.symbol_roles & _FORWARD_DEFINITION:
        found.references.append(IndexReference(span, token, occurrence.symbol, name))
    return ""
