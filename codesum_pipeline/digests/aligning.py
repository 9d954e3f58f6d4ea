"""Which lines of two texts are the same, in time that grows with their lengths and not with the square of these.

Lines that each text has once tie the two together (Cohen's patience diff);
what lies between two of them is compared as a whole where it is short, and
counts as replaced where it is not.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

# Lines of both sides together.
_MOST_COMPARED = 800

Edit = tuple[int, int, int, int]


def edits(old: Sequence[str], new: Sequence[str]) -> list[Edit]:
    """Where lines `[a, b)` of the old text are lines `[c, d)` of the new one, as (a, b, c, d) in order."""
    same = _common(old, new)
    last = _common(old[same:][::-1], new[same:][::-1])
    ends = len(old) - last, len(new) - last
    ties = [(same - 1, same - 1), *_ties(old[same : ends[0]], new[same : ends[1]], same), ends]
    found: list[Edit] = []
    for (before, other), (until, end) in pairwise(ties):
        start, begin = before + 1, other + 1
        for first, stop, come, go in _between(old[start:until], new[begin:end]):
            found.append((first + start, stop + start, come + begin, go + begin))
    return found


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines both begin with."""
    for place, (one, other) in enumerate(zip(old, new, strict=False)):
        if one != other:
            return place
    return min(len(old), len(new))


def _ties(old: Sequence[str], new: Sequence[str], offset: int) -> list[tuple[int, int]]:
    """The longest ascending row of lines that each side has once; none where all can be compared with all."""
    if len(old) + len(new) <= _MOST_COMPARED:
        return []
    counts, others = Counter(old), Counter(new)
    places = {line: place for place, line in enumerate(new) if others[line] == 1 and counts[line] == 1}
    pairs = [(place, places[line]) for place, line in enumerate(old) if line in places]
    tops: list[int] = []
    rows: list[int] = []
    before: list[int | None] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(tops, place)
        tops[length : length + 1] = [place]
        rows[length : length + 1] = [number]
        before.append(rows[length - 1] if length else None)
    found = []
    at = rows[-1] if rows else None
    while at is not None:
        found.append((pairs[at][0] + offset, pairs[at][1] + offset))
        at = before[at]
    return found[::-1]


def _between(old: Sequence[str], new: Sequence[str]) -> Iterator[Edit]:
    if not old or not new or len(old) + len(new) > _MOST_COMPARED:
        if old or new:
            yield 0, len(old), 0, len(new)
        return
    # A blank line, or a brace alone, is like any other and begins nothing.
    for tag, *edit in SequenceMatcher(_says_nothing, old, new).get_opcodes():
        if tag != "equal":
            start, stop, begin, end = edit
            yield start, stop, begin, end


def _says_nothing(line: str) -> bool:
    return not any(map(str.isalnum, line))
