"""Reading that ends: what is done for one file is counted, and bounded.

Some grammars try exponentially many ways out of a broken file, and some scan the rest of it again at every word: two
kilobytes of Kotlin can take hours. Steps are counted, not time or memory, so that the same file ends the same way on
every machine. One budget counts all that is done for a file: each parse of it and of its parts, and each walk over a
tree.
"""

import re
from typing import Self

from tree_sitter import Parser, Point, Tree

from codesum_pipeline.foundation.data_model.errors import NotParsed
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait, profile_of
from codesum_pipeline.foundation.worker_processes.limits import Meter, TooMuchHere, WorkLimits

# Any file may take this many; and so many more for each of its bytes as the setting `max_steps_per_byte` says.
FREE_STEPS = 500_000
# What each kind of work counts, so that a step is about a microsecond. Tree-sitter reports after every hundred
# operations.
REPORT_STEPS = 100
# Of operations that bring the parser no further: those of one that has lost its way take ten times as long.
STUCK_REPORT_STEPS = 300
LEXED_BYTES_A_STEP = 64
NODE_STEPS = 4
# What the search for a better reading of a broken file may take: for each byte, and at most. It ends with the best that
# it has found.
SEARCH_STEPS_PER_BYTE = 64
MOST_SEARCH_STEPS = 4_000_000
# Grammars that follow several readings of a broken text may hold gigabytes after few steps: so often is looked at that.
REPORTS_A_LOOK = 10
# What a harmless text has at most, so that its parser takes some 100 MB: bytes behind the first bracket that is still
# open at the end; and, in these languages, bytes without the marks of a statement's end.
LONGEST_OPEN = 2_000
LONGEST_UNENDED = 4_000
_STATEMENT_MARKS = re.compile(rb"[;{}]")
_BRACKETS = re.compile(rb"[()\[\]{}]")
_OPENING = (b"(", b"[", b"{")
# Texts on one line, and comments, by what begins those.
_QUOTED = rb""""(?:[^"\\\n]|\\.){0,300}+"|'(?:[^'\\\n]|\\.){0,300}+'|`(?:[^`\\\n]|\\.){0,300}+`|"""
# One that spans lines; where it has no end, what follows counts as code.
_LONG_TEXT = rb"""(?P<mark>["]{3}|'{3})(?:[^\\]|\\.?)*?(?:(?P=mark)|(?P<unended>\Z))|"""
_NO_CODE = {
    **{mark: re.compile(_QUOTED + mark.encode() + rb"[^\n]*", re.DOTALL) for mark in ("#", "%", ";", "--")},
    "//": re.compile(_QUOTED + rb"//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL),
}
_NO_CODE_WITH_DOCSTRINGS = re.compile(_LONG_TEXT + _NO_CODE["#"].pattern, re.DOTALL)
# What the parser is handed at a time. It is counted as read, so small pieces count well.
CHUNK = 1 << 12
# What a node's text is read by: a whole piece, needed or not.
TEXT_CHUNK = 1 << 7


class TooMuchWork(Exception):
    """A file takes more steps than one may; says how many."""


class TooCostly(NotParsed):
    """The parser met a limit of memory or processor time with a file; says which."""


class WorkBudget:
    """The steps that the work on one file may take, and those that it has taken.

    `patience` are those that it may take in this process. A parser that meets the limits of `meter` is
    ended.
    """

    def __init__(
        self, limit: int, *, called: str = "", patience: int | None = None, meter: Meter | None = None
    ) -> None:
        self.limit, self.called, self.patience = limit, called, patience
        self.meter = meter or Meter(WorkLimits())
        self.spent = 0

    @classmethod
    def of(
        cls, size: int, steps_per_byte: int, *, patience: int | None = None, limits: WorkLimits | None = None
    ) -> Self:
        """The budget of a file of so many bytes."""
        called = f"{size:,} bytes (max_steps_per_byte = {steps_per_byte})"
        meter = Meter(limits or WorkLimits())
        return cls(FREE_STEPS + steps_per_byte * size, called=called, patience=patience, meter=meter)

    @property
    def is_spent(self) -> bool:
        """Whether more was done than may be."""
        return self.spent > self.limit or (self.patience is not None and self.spent > self.patience)

    def spend(self, steps: int) -> None:
        """Count work; raises `TooMuchWork`, or `TooMuchHere`."""
        self.spent += steps
        self.check()

    def check(self) -> None:
        """Raise `TooMuchWork` past the limit, and `TooMuchHere` past the patience."""
        if self.spent > self.limit:
            raise TooMuchWork(f"too much work: more than {self.limit:,} steps, the limit for {self.called}")
        if self.is_spent:
            raise TooMuchHere

    def of_search(self, size: int) -> Self:
        """The budget of the search for a better reading of the same file, of so many bytes."""
        patience = None if self.patience is None else self.patience - self.spent
        limit = FREE_STEPS + min(SEARCH_STEPS_PER_BYTE * size, MOST_SEARCH_STEPS)
        return type(self)(limit, called=self.called, patience=patience, meter=self.meter)


def may_take_gigabytes(source: bytes, language: str) -> bool:
    """Whether the parser may, in one operation, take gigabytes for few kilobytes: at the end of a text where much is
    begun, it inserts what is missing in thousands of places at once."""
    code = _without_texts(source, language) if len(source) > LONGEST_OPEN else b""
    begun: list[int] = []
    for match in _BRACKETS.finditer(code):
        if match[0] in _OPENING:
            begun.append(match.start())
        elif begun:
            begun.pop()
    if begun and len(code) - begun[0] > LONGEST_OPEN:
        return True
    return has_trait(language, Trait.SEMICOLONS) and max(map(len, _STATEMENT_MARKS.split(code))) > LONGEST_UNENDED


def _without_texts(source: bytes, language: str) -> bytes:
    """A source without its texts and comments."""
    if not has_trait(language, Trait.DOCSTRINGS):
        return _NO_CODE[profile_of(language).line_comment].sub(b"", source)
    return _NO_CODE_WITH_DOCSTRINGS.sub(lambda match: b"" if match["unended"] is None else match[0], source)


def parse_within_bounds(parser: Parser, source: bytes, budget: WorkBudget) -> Tree:
    """The tree of a source; raises `TooMuchWork` past the budget, and `TooCostly` past its limits: `TooMuchHere` where
    it has a patience."""
    pieces = _Pieces(source, budget)
    furthest, reports, exceeded = -1, 0, ""

    def is_enough(offset: int, has_error: bool) -> bool:
        nonlocal furthest, reports, exceeded
        budget.spent += REPORT_STEPS if offset > furthest else STUCK_REPORT_STEPS
        furthest = max(furthest, offset)
        reports += 1
        if reports % REPORTS_A_LOOK == 0:
            exceeded = exceeded or budget.meter.exceeded()
        return budget.is_spent or bool(exceeded)

    try:
        tree = parser.parse(pieces, progress_callback=is_enough)
    except ValueError:
        if not budget.is_spent and not exceeded:
            raise
        parser.reset()
        budget.check()
        raise (TooMuchHere if budget.patience is not None else TooCostly(exceeded)) from None
    finally:
        pieces.end()
    budget.check()
    return tree


class _Pieces:
    """Hands a source to the parser, and then to whoever asks a node for its text.

    The binding of tree-sitter never lets go of the pieces that a parser was handed: they are views, which are released
    at the end, and each place has one.
    """

    def __init__(self, source: bytes, budget: WorkBudget) -> None:
        self._source, self._budget = source, budget
        self._view = memoryview(source)
        self._pieces: dict[int, memoryview] = {}
        self._is_parsed = False

    def __call__(self, offset: int, point: Point) -> bytes | memoryview:
        if self._is_parsed:
            return self._source[offset : offset + TEXT_CHUNK]
        if self._budget.is_spent:
            # The end of the source, so that the parser comes to its next report.
            return b""
        self._budget.spent += CHUNK // LEXED_BYTES_A_STEP
        piece = self._pieces.get(offset)
        if piece is None:
            piece = self._pieces[offset] = self._view[offset : offset + CHUNK]
        return piece

    def end(self) -> None:
        """Parsing is over."""
        self._is_parsed = True
        for piece in self._pieces.values():
            piece.release()
        self._pieces.clear()
        self._view.release()
