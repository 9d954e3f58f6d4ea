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
# Of a longer class the methods are documents themselves.
_MOST_TELLING = 300
# The share of words against a cosine.
_WORDS = 0.25
# A shorter stem is in every second word.
_SHORTEST_STEM = 3
# A line beyond this is data.
_LONGEST_LINE = 400
_LETTERS = re.compile(r"[^\W\d_]+")
_TWO_WORDS = re.compile(r"[\W\d_]*+([^\W\d_]++)[\W\d_]++[^\W\d_]")
# Lines that say nothing alone: they begin and end no passage.
_CLOSING = frozenset("{}()[];,")


class Passage(Struct, frozen=True):
    """Lines of a file, both ends included. In a notebook, the first is line `cell_line` of `cell`."""

    start_line: int
    end_line: int
    cell: int | None = None
    cell_line: int | None = None


class TellingLines(Struct, frozen=True):
    """A few lines by their numbers, and their share of the query's words."""

    lines: dict[int, str]
    share: float


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
    has_line = [line is None or start <= line - first < start + _SIZE for start in starts]
    may_be = has_line if any(has_line) else [True] * len(has_line)
    place = _best_window(span, starts, _SIZE, query, may_be=may_be, compared=_MOST_COMPARED)[0]
    said = enumerate(span[place : place + _SIZE])
    inside = [number for number, text in said if not _CLOSING.issuperset(text.strip())]
    low, high = (inside[0], inside[-1]) if inside else (0, 0)
    return Passage(first + place + low, first + place + high)


def find_telling(
    lines: Sequence[str],
    query: str,
    *,
    most: int,
    start_line: int,
    line: int | None = None,
    known: str = "",
    by_words: bool = False,
) -> TellingLines:
    """At most `most` of the lines that begin with `start_line` that fit a query best together, with `line` among them.
    Left out are lines of one word or none, and those whose words stand in what is `known`. `by_words` alone is cheaper,
    and says as well how much the best lines of several documents tell."""
    known = _spaced(known)
    numbered = enumerate((text[:_LONGEST_LINE] for text in lines[:_MOST_TELLING]), start=start_line)
    telling = {number: text for number, text in numbered if _tells(text, known)}
    if not telling:
        return NO_LINES
    numbers, texts = [*telling], [*telling.values()]
    starts = range(max(1, len(texts) - most + 1))
    may_be = [line not in telling or line in numbers[start : start + most] for start in starts]
    compared = 1 if by_words else _FEW_COMPARED
    place, share = _best_window(texts, starts, most, query, may_be=may_be, compared=compared)
    return TellingLines({number: telling[number] for number in numbers[place : place + most]}, share)


def _tells(line: str, known: str) -> bool:
    """Whether a line has two words, and its words do not stand in what is `known`."""
    found = _TWO_WORDS.match(line)
    if found is None:
        return False
    return f" {found[1].lower()} " not in known or _spaced(line) not in known


def _spaced(text: str) -> str:
    """The runs of letters of a text, in small letters, one space between two and at both ends."""
    return f" {' '.join(_LETTERS.findall(text.lower()))} "


def _best_window(
    lines: Sequence[str], starts: Sequence[int], size: int, query: str, *, may_be: Sequence[bool], compared: int
) -> tuple[int, float]:
    """Where among `starts` the best window of `size` lines begins, and its share of the query's words. So many windows
    are `compared` as vectors; of one the words decide."""
    shares = _shares_of_words(lines, starts, size, query)
    worth = np.where(may_be, shares, -1.0)
    some = np.sort(np.argsort(-worth, kind="stable")[:compared])
    some = some[worth[some] >= 0]
    if len(some) == 1:
        return starts[some[0]], float(shares[some[0]])
    windows = ["\n".join(lines[starts[place] : starts[place] + size]) for place in some]
    model = load_embedder(STATIC)
    nearness = model.embed(windows) @ model.embed_query(query)
    best = int((nearness + _WORDS * shares[some]).argmax())
    return starts[some[best]], float(shares[some[best]])


def _shares_of_words(lines: Sequence[str], starts: Sequence[int], size: int, query: str) -> npt.NDArray[np.float64]:
    """The share of a query's stems that each window has, rare ones counting more."""
    stems = {stem for stem in tokenize(query) if len(stem) >= _SHORTEST_STEM}
    lowered = [line.lower() for line in lines]
    first = np.array(starts)
    end = np.minimum(first + size, len(lines))
    shares, total = np.zeros(len(starts)), 0.0
    for stem in sorted(stems):
        lines_before = np.concatenate([[0], np.cumsum([stem in line for line in lowered])])
        has = lines_before[end] > lines_before[first]
        weight = math.log1p(len(starts) / max(1, has.sum()))
        shares += weight * has
        total += weight
    return shares / total if total else shares
