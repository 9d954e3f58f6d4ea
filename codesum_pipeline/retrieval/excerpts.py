"""The lines of a source that have most of a query.

Words are counted as the index counts them, so an excerpt agrees with the rank:
a line is worth the query's words in it, each once and the rarer the more. An
index holds no sources; whoever shows an excerpt reads the file of the commit
that the index stands for.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from codesum_pipeline.indexes.tokens import tokenize

# A line beyond this is data; its beginning tells what kind.
_LONGEST_LINE = 400


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines that follow one another, the first of which is `start_line`; very long ones are cut with `…`."""

    start_line: int
    lines: tuple[str, ...]


def best_lines(
    source: str, query: str, *, size: int, start_line: int | None = None, end_line: int | None = None
) -> Excerpt:
    """At most `size` lines of a source, or of its lines from `start_line` to `end_line`, that fit a query best.

    Of windows with the same words of the query it is the one that has them most often, of those the first. Without
    any word of the query it is where the source begins.
    """
    lines = source.removesuffix("\n").split("\n")
    first = (start_line or 1) - 1
    span = lines[first : end_line or len(lines)]
    start = first + _best_start(span, frozenset(tokenize(query)), size)
    return Excerpt(start + 1, tuple(map(_cut, lines[start : min(start + size, first + len(span))])))


def _best_start(lines: Sequence[str], words: frozenset[str], size: int) -> int:
    """Where the best window begins: the words that it has stand in its middle as far as there is room."""
    found = [(place, has) for place, line in enumerate(lines) if (has := words.intersection(tokenize(line)))]
    if not found:
        return 0
    frequency = Counter(word for _, has in found for word in has)
    worth = {word: math.log1p(len(lines) / frequency[word]) for word in frequency}
    best, place, last = (-1.0, -1.0), 0, 0
    for position, (begin, _) in enumerate(found):
        inside = [(other, has) for other, has in found[position : position + size] if other < begin + size]
        often = Counter(word for _, has in inside for word in has)
        fit = (math.fsum(worth[word] for word in often), math.fsum(worth[word] * often[word] for word in often))
        if fit > best:
            best, place, last = fit, begin, inside[-1][0]
    room = size - (last - place + 1)
    return max(0, min(place - room // 2, len(lines) - size))


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"
