"""What a search answers with: hits, and the lines of a source that fit a query best.

An excerpt counts words as the index does, so it agrees with the rank: a line is worth the query's words in it, each
once, and rare words more. An index holds no sources; the caller reads the file at the commit of the index.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.retrieval.reader import IndexedDocument
from codesum_pipeline.retrieval.weights import Signal

# Digits of a shown score.
DIGITS = 6
_ORDER = {signal: place for place, signal in enumerate(Signal)}


class Hit(Struct, frozen=True):
    """A document that a search found. `why` names its ranks; files and modules have no lines."""

    id: str
    type: str
    repo: str
    file_path: str
    start_line: int | None
    end_line: int | None
    qualified_name: str | None
    score: float
    summary: str
    signature_summary: str | None
    why: str


def make_hit(found: IndexedDocument, *, score: float, ranks: Mapping[Signal, int], notes: Sequence[str]) -> Hit:
    return Hit(
        id=found.id,
        type=found.level.value,
        repo=found.repo,
        file_path=found.path,
        score=round(score, DIGITS),
        why=explain_ranks(ranks, notes),
        **found.shown(),
    )


def explain_ranks(ranks: Mapping[Signal, int], notes: Sequence[str]) -> str:
    """The ranks, best first, then other reasons: `summary #1, code words #3; test code`. A file without a rank of its
    own was found by the documents and passages in it."""
    best_first = sorted(ranks.items(), key=lambda item: (item[1], _ORDER[item[0]]))
    ranked = ", ".join(f"{signal} #{rank}" for signal, rank in best_first)
    return "; ".join([ranked or "what stands in it", *notes])


# A line beyond this is data; its beginning tells what kind.
_LONGEST_LINE = 400


class Excerpt(Struct, frozen=True):
    """Lines that follow one another, the first of which is `start_line`; very long ones are cut with `…`."""

    start_line: int
    lines: tuple[str, ...]


def best_lines(
    source: str, query: str, *, size: int, start_line: int | None = None, end_line: int | None = None
) -> Excerpt:
    """At most `size` lines of a source, or of its lines from `start_line` to `end_line`, that fit a query best. Among
    windows with the same words of the query, the one that has them most often wins, then the first one. Without any
    word of the query, the excerpt is the beginning."""
    lines = source.removesuffix("\n").split("\n")
    first = (start_line or 1) - 1
    span = lines[first : end_line or len(lines)]
    start = first + _best_start(span, frozenset(tokenize(query)), size)
    return Excerpt(start + 1, tuple(map(_cut, lines[start : min(start + size, first + len(span))])))


def _best_start(lines: Sequence[str], words: frozenset[str], size: int) -> int:
    """Where the best window begins; its words stand in its middle as far as there is room."""
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
