"""The lines of a definition or file that fit a query: the passage of a long one, and the few that tell why it fits.

Windows of a few lines are compared with the query as documents are: by the vectors of the model that ships with the
package, and by the share of the query's words that a window has.
"""

import math
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import is_long
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.indexes.embedders.static import STATIC
from codesum_pipeline.indexes.lanes.tokens import tokenize

# Twelve lines contain the wanted ones more often than seven or ten (`benchmarks/results/long_functions.md`), and are
# still one look.
_SIZE = 12
_STEP = 3
# So many windows with the largest shares of the query's words are compared as vectors: more found no more.
_MOST_COMPARED = 16
# Of windows of three or four lines eight are enough (`benchmarks/results/hits.md`).
_FEW_COMPARED = 8
# What lies behind so many lines is not looked at: ten milliseconds are enough for a file of data.
_MOST_LINES = 5_000
# The share of words against a cosine.
_WORDS = 0.25
# A shorter stem is in every second word.
_SHORTEST_STEM = 3
# A line beyond this is data.
_LONGEST_LINE = 400
_LETTERS = re.compile(r"[^\W\d_]+")
# Lines that say nothing alone: they begin and end no passage.
_CLOSING = frozenset("{}()[];,")


class Passage(Struct, frozen=True):
    """Lines of a file, both ends included."""

    start_line: int
    end_line: int


class TellingLines(Struct, frozen=True):
    """A few lines by their numbers, and how well they fit: their cosine and their share of the query's words."""

    lines: dict[int, str]
    fit: float


NO_LINES = TellingLines({}, 0.0)


def find_passage(
    source: str,
    query: str,
    *,
    start_line: int | None = None,
    end_line: int | None = None,
    line: int | None = None,
) -> Passage | None:
    """The lines of a source, or of its lines from `start_line` to `end_line`, that fit a query best; None where there
    are not more than `LONG_LINES`. With a `line`, the passage is around that one."""
    lines = source.removesuffix("\n").split("\n")
    first, last = start_line or 1, min(end_line or len(lines), len(lines))
    if not is_long(first, last):
        return None
    if line is not None and first <= line <= last:
        first, last = max(first, line - _SIZE + 1), min(last, line + _SIZE - 1)
    span = [text[:_LONGEST_LINE] for text in lines[first - 1 : min(last, first - 1 + _MOST_LINES)]]
    starts = range(0, max(1, len(span) - _SIZE + _STEP), _STEP)
    windows = ["\n".join(span[start : start + _SIZE]) for start in starts]
    has_line = [line is None or start <= line - first < start + _SIZE for start in starts]
    place = _STEP * _best_window(windows, query, has_line if any(has_line) else [True] * len(windows))[0]
    said = enumerate(span[place : place + _SIZE])
    inside = [number for number, text in said if not _CLOSING.issuperset(text.strip())]
    low, high = (inside[0], inside[-1]) if inside else (0, 0)
    return Passage(first + place + low, first + place + high)


def find_telling(
    source: str, query: str, *, most: int, start_line: int, end_line: int, line: int | None = None, known: str = ""
) -> TellingLines:
    """At most `most` lines from `start_line` to `end_line` that fit a query best together, with `line` among them. Left
    out are lines of one word or none, and those whose words stand in what is `known`."""
    lines = source.removesuffix("\n").split("\n")[start_line - 1 : min(end_line, start_line - 1 + _MOST_LINES)]
    known = _spaced(known)
    telling = {
        number: text
        for number, text in enumerate((text[:_LONGEST_LINE] for text in lines), start=start_line)
        if (words := _spaced(text)).count(" ") > 2 and words not in known
    }
    if not telling:
        return NO_LINES
    numbers, texts = [*telling], [*telling.values()]
    starts = range(max(1, len(texts) - most + 1))
    windows = ["\n".join(texts[start : start + most]) for start in starts]
    may_be = [line not in telling or line in numbers[start : start + most] for start in starts]
    place, nearness, share = _best_window(windows, query, may_be, compared=_FEW_COMPARED)
    return TellingLines({number: telling[number] for number in numbers[place : place + most]}, nearness + share)


def _spaced(text: str) -> str:
    """The runs of letters of a text, in small letters, one space between two and at both ends; empty without any."""
    words = " ".join(_LETTERS.findall(text.lower()))
    return f" {words} " if words else ""


def _best_window(
    windows: Sequence[str], query: str, may_be: Sequence[bool], *, compared: int = _MOST_COMPARED
) -> tuple[int, float, float]:
    """The place of the best window, its cosine, and its share of the query's words."""
    shares = _shares_of_words([window.lower() for window in windows], query)
    worth = np.where(may_be, shares, -1.0)
    some = np.sort(np.argsort(-worth, kind="stable")[:compared])
    some = some[worth[some] >= 0]
    model = load_embedder(STATIC)
    nearness = model.embed([windows[place] for place in some]) @ model.embed_query(query)
    best = int((nearness + _WORDS * shares[some]).argmax())
    return int(some[best]), float(nearness[best]), float(shares[some[best]])


def _shares_of_words(windows: Sequence[str], query: str) -> npt.NDArray[np.float64]:
    """The share of a query's stems that each window has, rare ones counting more."""
    stems = {stem for stem in tokenize(query) if len(stem) >= _SHORTEST_STEM}
    shares, total = np.zeros(len(windows)), 0.0
    for stem in sorted(stems):
        has = np.array([stem in window for window in windows])
        weight = math.log1p(len(windows) / max(1, has.sum()))
        shares += weight * has
        total += weight
    return shares / total if total else shares
