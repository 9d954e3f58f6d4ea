"""Parts of a file: which one a byte is in, and the file with something else in their places."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

from codesum_pipeline.languages.declarations.spec import Span

_NOT_LINE_END = re.compile(rb"[^\n]")


def is_inside(spans: Sequence[Span], place: int) -> bool:
    """Whether a byte is in one of some parts, which are in order."""
    k = bisect_right(spans, place, key=itemgetter(0)) - 1
    return k >= 0 and place < spans[k][1]


def replaced(source: bytes, spans: Iterable[Span], shown: Callable[[bytes], bytes]) -> bytes:
    """A source with each of some parts, in order, as `shown` shows it; what is in two of them is shown with one."""
    pieces, position = [], 0
    for start, end in spans:
        pieces += [source[position:start], shown(source[max(start, position) : end])]
        position = max(position, end)
    return b"".join([*pieces, source[position:]])


def as_blanks(part: bytes) -> bytes:
    """As many blanks; lines end where they did."""
    return _NOT_LINE_END.sub(b" ", part)


def blanked_out(source: bytes, spans: Iterable[Span]) -> bytes:
    """A source with blanks in place of some parts, which are in order."""
    return replaced(source, spans, as_blanks)


def only_shown(source: bytes, spans: Sequence[Span]) -> bytes:
    """A source with blanks in place of all but some parts, which are in order."""
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    return blanked_out(source, zip([0, *ends], [*starts, len(source)], strict=True))


class NestedRanges:
    """Ranges of bytes that lie beside or within each other: start, end, and a number."""

    def __init__(self, ranges: list[tuple[int, int, int]]) -> None:
        self.ranges = sorted(ranges, key=lambda entry: (entry[0], -entry[1], entry[2] < 0, entry[2]))
        self.around: list[int] = []
        # From each of these bytes on, until the next of them, the innermost range.
        self._bounds: list[int] = []
        self._innermost: list[int] = []
        open_ranges: list[int] = []
        for position, (start, _, _) in enumerate(self.ranges):
            self._close(open_ranges, start)
            self.around.append(open_ranges[-1] if open_ranges else -1)
            open_ranges.append(position)
            self._bounds.append(start)
            self._innermost.append(position)
        self._close(open_ranges, None)

    def _close(self, open_ranges: list[int], byte: int | None) -> None:
        """Take out the innermost ranges that end before a byte; without one, all."""
        while open_ranges and (byte is None or self.ranges[open_ranges[-1]][1] <= byte):
            self._bounds.append(max(self.ranges[open_ranges.pop()][1], self._bounds[-1]))
            self._innermost.append(open_ranges[-1] if open_ranges else -1)

    def at(self, byte: int) -> int:
        """The position of the innermost range around a byte; -1 where there is none."""
        found = bisect_right(self._bounds, byte) - 1
        return self._innermost[found] if found >= 0 else -1

    def number_at(self, byte: int) -> int:
        """The number of the innermost range around a byte; -1 where there is none."""
        found = self.at(byte)
        return self.ranges[found][2] if found >= 0 else -1

    def at_each(self, places: Iterable[int]) -> list[int]:
        """The same of several bytes."""
        bounds, innermost = self._bounds, self._innermost
        return [innermost[before - 1] if (before := bisect_right(bounds, place)) else -1 for place in places]
