"""What the document of an index says about one file, as far as the text at hand bears it out.

A document counts where each of its ranges is a whole word of the text and each definition spells its symbol. A
reference that does not spell its symbol is passed over, and noted: it is a fault of the tool, or the sign of another
text.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from codesum_pipeline.scip.messages import read_message
from codesum_pipeline.scip.places import ASSUMED, EncodedLines, PositionEncoding, Span, enclosing_range_of, range_of
from codesum_pipeline.scip.spelling import Spelling
from codesum_pipeline.scip.symbol_names import SymbolName, is_local, parse_symbol

_WORD = re.compile(r"[\w$]")
_DEFINITION = 0x1
_FORWARD_DEFINITION = 0x40
_ONE_LINE = 3


class IndexReference(Struct, frozen=True):
    """A symbol that stands at a place of the text."""

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


def compare(content: bytes, text: str) -> IndexComparison:
    r"""A document beside the text of its file, whose lines end by `\n`."""
    try:
        document = read_message("Document", content)
    except ValueError as error:
        return IndexComparison(problem=f"its document cannot be read: {error}")
    comparisons = (_compare(document, text, encoding) for encoding in _encodings(document, text))
    first = next(comparisons)
    return next((one for one in (first, *comparisons) if not one.problem), first)


def _encodings(document: Any, text: str) -> Sequence[PositionEncoding]:
    """What the document's columns may count."""
    declared = document.position_encoding
    if declared in _KNOWN_ENCODINGS and declared != PositionEncoding.UNSPECIFIED:
        return (PositionEncoding(declared),)
    return ASSUMED[:1] if text.isascii() else ASSUMED


_KNOWN_ENCODINGS = frozenset(PositionEncoding)


def _compare(document: Any, text: str, encoding: PositionEncoding) -> IndexComparison:
    lines, spelling, found = EncodedLines(text, encoding), Spelling(text), IndexComparison()
    for occurrence in document.occurrences:
        found.occurrences += 1
        found.problem = _take_in(found, occurrence, parse_symbol(occurrence.symbol), lines, spelling)
        if found.problem:
            return IndexComparison(problem=found.problem, occurrences=len(document.occurrences))
    if problem := _unwritten(found):
        return IndexComparison(problem=problem, occurrences=found.occurrences)
    found.information = {one.symbol: one for one in document.symbols if not is_local(one.symbol)}
    return found


def _take_in(
    found: IndexComparison, occurrence: Any, name: SymbolName | None, lines: EncodedLines, spelling: Spelling
) -> str:
    """Add one occurrence; the reason why the document does not count, if it does not."""
    range_ = range_of(occurrence)
    if len(range_) != _ONE_LINE:
        return _across_lines(range_, lines)
    placed = lines.span(range_)
    if placed is None:
        return f"line {range_[0] + 1} has no columns {range_[1]} to {range_[2]}"
    span, token = placed
    if not _is_whole(token, *lines.around(span)):
        return f"line {span.line} has no whole word at column {span.start}, but a part of one"
    if name is None:
        return ""
    is_spelled = spelling.is_spelled(name, token)
    if occurrence.symbol_roles & _DEFINITION:
        named = IndexReference(span, token, occurrence.symbol, name)
        found.definitions.append(_defined(named, occurrence, is_generated=not is_spelled))
    elif not is_spelled:
        found.misnamed[occurrence.symbol] += 1
    elif not occurrence.symbol_roles & _FORWARD_DEFINITION:
        found.references.append(IndexReference(span, token, occurrence.symbol, name))
    return ""


def _unwritten(found: IndexComparison) -> str:
    """The reason why the document does not count, where it defines what is not written and made from nothing there."""
    written = {one.named.span for one in found.definitions if not one.is_generated}
    written |= {one.span for one in found.references}
    for one in found.definitions:
        if one.is_generated and one.named.span not in written:
            return f"line {one.named.span.line} defines {one.named.text!r}, not {one.named.name.last.name!r}"
    return ""


def _across_lines(range_: Sequence[int], lines: EncodedLines) -> str:
    """A range of several lines says nothing about a name, but must be in the text."""
    if len(range_) == _ONE_LINE + 1 and 0 <= range_[0] <= range_[2] < len(lines):
        return ""
    return f"the text has {len(lines)} lines, and none at {list(range_)}"


def _is_whole(token: str, before: str, after: str) -> bool:
    """Whether no word goes on before or after the token."""
    if not token:
        return True
    begins = _WORD.match(token[0]) and _WORD.match(before)
    ends = _WORD.match(token[-1]) and _WORD.match(after)
    return not (begins or ends)


def _defined(named: IndexReference, occurrence: Any, *, is_generated: bool) -> IndexDefinition:
    """A definition with the lines of its whole range, or of its name."""
    range_ = enclosing_range_of(occurrence)
    line = named.span.line
    if not range_:
        return IndexDefinition(named, line, line, is_generated)
    first, last = range_[0] + 1, (range_[2] if len(range_) > _ONE_LINE else range_[0]) + 1
    return IndexDefinition(named, min(first, line), max(last, line), is_generated)
