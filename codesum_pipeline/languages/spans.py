"""Which of some parts of a file a byte is in."""

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter

from codesum_pipeline.languages.spec import Span


def is_inside(spans: Sequence[Span], place: int) -> bool:
    """Whether a byte is in one of some parts, which are in order."""
    k = bisect_right(spans, place, key=itemgetter(0)) - 1
    return k >= 0 and place < spans[k][1]


class NestedRanges:
    """Ranges of bytes that lie beside or within each other: start, end, and a number."""

    def __init__(self, ranges: list[tuple[int, int, int]]) -> None:
        self.ranges = sorted(ranges, key=lambda entry: (entry[0], -entry[1], entry[2] < 0, entry[2]))
        self.around: list[int] = []
        self._starts = [start for start, _, _ in self.ranges]
        open_ranges: list[int] = []
        for position, (start, _, _) in enumerate(self.ranges):
            while open_ranges and self.ranges[open_ranges[-1]][1] <= start:
                open_ranges.pop()
            self.around.append(open_ranges[-1] if open_ranges else -1)
            open_ranges.append(position)

    def at(self, byte: int) -> int:
        """The position of the innermost range around a byte; -1 where there is none."""
        found = bisect_right(self._starts, byte) - 1
        while found >= 0 and self.ranges[found][1] <= byte:
            found = self.around[found]
        return found
