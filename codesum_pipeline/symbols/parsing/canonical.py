"""Canonical source: a program's text with only what its meaning depends on.

It is rendered from the syntax tree. Comments and blank lines go; each
statement starts a line, indented by its block depth; the tokens of a
statement are spaced by one fixed table of neighbouring tokens.
What a formatter may change without changing the syntax tree (quotes, trailing
commas, brackets around a whole expression) shows one way, as each language
says. A literal that spans lines gives several lines; a docstring's margin
follows the depth, as every reader of docstrings assumes. What does not parse
is rendered token by token, on lines as written.

A file is rendered once. A symbol's canonical source is a slice of its lines,
taken relative to its own depth, so a method moved to another depth renders
the same.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain

from msgspec import Struct

from codesum_pipeline.languages.declarations.hook_values import NAMELESS, References
from codesum_pipeline.symbols.parsing.directives import BLANKS, OUTER_BLANKS
from codesum_pipeline.symbols.parsing.file_tokens import Tokens

INDENT = "    "
# 10,000 blocks in each other would take 200 MB of blanks.
DEEPEST_INDENT = 50
# The depth of lines that are never indented.
IN_LITERAL = -1
TRIPLE_QUOTES = ('"""', "'''")
# What a docstring's line without text looks like: nothing, or the closing quotes alone.
BLANK_PIECES = ("", *TRIPLE_QUOTES)


class DocComment(Struct, frozen=True):
    """A comment that documents something: its lines without margin (one character per byte), and their offsets."""

    start_byte: int
    lines: tuple[tuple[str, int], ...]


class Canonical(Struct):
    """A file's canonical lines, added one after the other by `lay_out`.

    For each line: its text without indent, its depth (`IN_LITERAL`: never
    indented), and the first byte of the source that it shows. `row_ends` are
    the bytes after each real line.
    """

    texts: list[str]
    depths: list[int]
    offsets: list[int]
    row_ends: list[int]

    def append(self, text: str, depth: int, offset: int) -> None:
        """Add a line."""
        self.texts.append(text)
        self.depths.append(depth)
        self.offsets.append(offset)

    def extend(self, lines: Iterable[tuple[str, int, int]]) -> None:
        """Add lines."""
        texts, depths, offsets = self.texts, self.depths, self.offsets
        for text, depth, offset in lines:
            texts.append(text)
            depths.append(depth)
            offsets.append(offset)

    def source(self, first: int, end: int) -> str:
        """Lines `first` up to, not including, `end`, relative to the depth of the first."""
        if first >= end:
            return ""
        base = self.depths[first]
        indents = {depth: INDENT * min(depth - base, DEEPEST_INDENT) for depth in {*self.depths[first:end]}}
        return "\n".join(
            [indents[depth] + text for depth, text in zip(self.depths[first:end], self.texts[first:end], strict=True)]
        )

    def real_lines(self, first: int, end: int) -> tuple[int, ...]:
        """The 1-based real line of each of these lines."""
        row_ends = self.row_ends
        return tuple([bisect_right(row_ends, offset) + 1 for offset in self.offsets[first:end]])

    def real_line(self, offset: int) -> int:
        """The 1-based real line of a byte."""
        return bisect_right(self.row_ends, offset) + 1

    def place(self, offset: int) -> tuple[int, int]:
        """The 1-based real line of a byte, and how many bytes are before it on that line."""
        line = self.real_line(offset)
        return line, offset - (self.row_ends[line - 2] if line > 1 else 0)

    def row_starts(self, offset: int) -> Iterator[int]:
        """The first bytes of the real lines after the one of a byte."""
        # `islice` would go through all rows before.
        return map(self.row_ends.__getitem__, range(bisect_right(self.row_ends, offset), len(self.row_ends)))

    def line_at(self, offset: int) -> int:
        """The 0-based canonical line that shows the byte at `offset`."""
        return bisect_right(self.offsets, offset) - 1

    def lines_between(self, start_byte: int, end_byte: int) -> tuple[int, int]:
        """First line and end line (exclusive) of what starts between two bytes."""
        return bisect_left(self.offsets, start_byte), bisect_left(self.offsets, end_byte)


def lay_out(
    tokens: Tokens, source: bytes, docstrings: Collection[int], comments: Sequence[DocComment] = ()
) -> Canonical:
    """Put tokens on lines. `docstrings` are the first bytes of the literals whose margin is layout.

    Each of `comments`, in source order, comes before the line that starts after it, at that line's depth.
    """
    row_ends = list(accumulate([len(row) + 1 for row in source.split(b"\n")]))
    canonical = Canonical([], [], [], row_ends)
    waiting = list(reversed(comments))
    parts, offsets = tokens.parts, tokens.offsets
    ends = [*tokens.line_tokens[1:], len(offsets)]
    for first, end, depth in zip(tokens.line_tokens, ends, tokens.line_depths, strict=False):
        text = "".join(parts[first:end])
        start = offsets[first]
        while waiting and waiting[-1].start_byte < start:
            canonical.extend((line, depth, offset) for line, offset in waiting.pop().lines)
        if not text:
            continue
        if start in docstrings and end == first + 1:
            text = _without_outer_blanks(text)
        if "\n" not in text:
            canonical.append(text, depth, start)
        elif start in docstrings and end == first + 1:
            canonical.extend(_docstring_lines(text, depth, start, canonical.row_starts(start)))
        else:
            canonical.extend(_literal_lines(tokens, first, end, depth, canonical))
    for comment in reversed(waiting):
        canonical.extend((line, 0, offset) for line, offset in comment.lines)
    if not tokens.is_ascii:
        canonical.texts[:] = [tokens.decoded(text) for text in canonical.texts]
    return canonical


def _literal_lines(
    tokens: Tokens, first: int, end: int, depth: int, canonical: Canonical
) -> Iterator[tuple[str, int, int]]:
    """The lines of a statement with literals that span lines, as written after their first line."""
    line, offset = "", tokens.offsets[first]
    for token in range(first, end):
        part = tokens.parts[token]
        begin, *others = part.split("\n")
        line += begin
        for piece, position in zip(others, canonical.row_starts(tokens.offsets[token]) if others else (), strict=False):
            yield line, depth, offset
            line, depth, offset = piece, IN_LITERAL, position
    yield line, depth, offset


def _without_outer_blanks(literal: str) -> str:
    """A docstring without blanks after its opening quotes and before its closing ones, nor empty lines there."""
    prefix, quotes, body = literal.partition(TRIPLE_QUOTES[0])
    if not quotes or not body.endswith(quotes) or prefix not in ("", "r") or "\\\n" in body:
        return literal
    body = body[:-3].lstrip(BLANKS)
    shown = body.rstrip(OUTER_BLANKS)
    if shown.endswith(("\\", '"')):
        return f"{prefix}{quotes}{body}{quotes}"
    ending = "\n" if "\n" in body[len(shown) :] else ""
    return f"{prefix}{quotes}{shown}{ending}{quotes}"


def _docstring_lines(literal: str, depth: int, start: int, rows: Iterator[int]) -> Iterator[tuple[str, int, int]]:
    """The lines of a docstring with its margin moved to `depth` and its lines' trailing blanks gone.

    A line that continues another's (after a backslash) has no margin of its
    own; a literal with such lines, but for the first, stays as it is.
    """
    first, *others = literal.split("\n")
    if not _is_movable(first, others):
        yield first, depth, start
        for line, offset in zip(others, rows, strict=False):
            yield line, IN_LITERAL, offset
        return
    yield _without_trailing_blanks(first), depth, start
    margins = [_margin(line) for line in others]
    least = min([margin for margin in margins if margin is not None], default=0)
    *inner, last = zip(others, margins, rows, strict=False)
    for line, margin, offset in inner:
        shown = _without_trailing_blanks(line.lstrip(BLANKS))
        yield (" " * (margin - least) + shown, depth, offset) if margin is not None else (shown, IN_LITERAL, offset)
    line, margin, offset = last
    yield " " * ((margin or least) - least) + line.lstrip(BLANKS), depth, offset


def _is_movable(first: str, others: Sequence[str]) -> bool:
    opening = first.lstrip("rRuU")
    continues = first.endswith("\\") and opening.rstrip("\\") not in TRIPLE_QUOTES
    return opening.startswith(TRIPLE_QUOTES) and not continues and not any(line.endswith("\\") for line in others)


def _margin(line: str) -> int | None:
    """The width of a line's indent; None if there is nothing after it, or only the closing quotes."""
    shown = line.lstrip(BLANKS)
    if shown in BLANK_PIECES:
        return None
    width = len(line) - len(shown)
    return width if "\t" not in line[:width] else len(line[:width].expandtabs())


def _without_trailing_blanks(line: str) -> str:
    """Blanks after a backslash are an escaped one, which stays."""
    shown = line.rstrip(BLANKS)
    return line if shown.endswith("\\") else shown


def call_places(references: References, canonical: Canonical) -> tuple[int, ...]:
    """The lines and columns of `FileFacts.call_places`."""
    places = ((0, 0) if start == NAMELESS else canonical.place(start) for start in references.names)
    return tuple(chain.from_iterable(places))
