"""Each lane ranks documents by itself.

A lane has one or two signals: `code` is looked at for words and for meaning.
Scores of one signal can be compared across levels and repositories, so several
indexes give one ranking.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.embedders import Vectors
from codesum_pipeline.indexes.lanes import Lane
from codesum_pipeline.indexes.nearest import FEWEST_VECTORS
from codesum_pipeline.indexes.stored_zip import Array
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.retrieval.filters import ANYTHING, Filters, Mask, allowed_rows
from codesum_pipeline.retrieval.fusion import NO_NUMBERS, NO_SCORES, Numbers, Scores, distinct, highest
from codesum_pipeline.retrieval.query import Query
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.weights import Signal

SIGNALS: Mapping[Lane, tuple[Signal, ...]] = {
    Lane.SYMBOL: (Signal.SYMBOL,),
    Lane.CODE: (Signal.CODE_WORDS, Signal.CODE_MEANING),
    Lane.SUMMARY: (Signal.SUMMARY, Signal.SUMMARY_WORDS),
    Lane.FUSED: (Signal.FUSED,),
    Lane.KEYWORDS: (Signal.KEYWORDS,),
}
_VECTORS = {Signal.CODE_MEANING: Lane.CODE, Signal.SUMMARY: Lane.SUMMARY, Signal.FUSED: Lane.FUSED}
_WORDS = {Signal.CODE_WORDS: Lane.CODE, Signal.SUMMARY_WORDS: Lane.SUMMARY, Signal.KEYWORDS: Lane.KEYWORDS}

# The levels whose documents stand in one file each.
IN_FILES = (Level.FUNCTION, Level.CLASS, Level.FILE)

# How well a name fits: the id itself, the name in this spelling, in another; a prefix gets 1 at most.
ASKED_ID, SPELLED_NAME, EXACT_NAME = 4.0, 3.0, 2.0

# A prefix of one or two characters is no name yet.
_SHORTEST_PREFIX = 3


def signals_of(lanes: Iterable[Lane]) -> tuple[Signal, ...]:
    """The signals of some lanes, in the order of `Signal`."""
    wanted = {signal for lane in lanes for signal in SIGNALS[lane]}
    return tuple(signal for signal in Signal if signal in wanted)


def needs_vector(lanes: Iterable[Lane]) -> bool:
    """Whether a query has to be embedded."""
    return any(signal in _VECTORS for signal in signals_of(lanes))


class Shelf:
    """The documents of several indexes, numbered through: index after index, row after row; and which are asked for."""

    def __init__(self, indexes: Sequence[PublishedIndex], filters: Filters = ANYTHING) -> None:
        self.indexes = indexes
        self.filters = filters
        self.allowed = [allowed_rows(index, filters) for index in indexes]
        self._starts = [0, *accumulate(map(len, indexes))]
        self._word_scores: dict[tuple[int, Lane, tuple[str, ...]], npt.NDArray[np.float32]] = {}
        self._named: dict[tuple[int, str, int], Scored] = {}

    def number(self, position: int, row: int) -> int:
        """The number of a row of the index at a position."""
        return self._starts[position] + row

    def locate(self, number: int) -> tuple[PublishedIndex, int]:
        """The index and the row of a document."""
        position = bisect_right(self._starts, number) - 1
        return self.indexes[position], number - self._starts[position]

    def id(self, number: int) -> str:
        """The id of a document."""
        index, row = self.locate(number)
        return index.ids[row]

    def gather(self, name: str, numbers: Numbers) -> Scores:
        """One of the arrays of the documents, for some of them."""
        values = np.empty(len(numbers))
        for index, rows, places in self._split(numbers):
            values[places] = index.arrays[name][rows]
        return values

    def files(self, numbers: Numbers) -> Numbers:
        """The number of the file that each document stands in, its own for a file, -1 for a module."""
        found = np.full(len(numbers), -1, dtype=np.int64)
        for index, rows, places in self._split(numbers):
            file_rows = index.arrays["file_row"][rows].astype(np.int64)
            found[places] = np.where(file_rows >= 0, file_rows + (numbers[places] - rows), -1)
        return found

    def file(self, number: int) -> int:
        """The number of the file that a document stands in."""
        index, row = self.locate(number)
        file_row = int(index.arrays["file_row"][row])
        return file_row + number - row if file_row >= 0 else -1

    def files_named_within(self, words: Collection[str]) -> Numbers:
        """The files whose names consist of some of these words."""
        found = [index.file_names.within(words) + self.number(k, 0) for k, index in enumerate(self.indexes)]
        return np.concatenate(found)

    def called(self, names: Collection[str], level: Level) -> Numbers:
        """The documents of a level that are called by one of these names, in any case; ascending."""
        found = {
            self.number(position, row)
            for position, index in enumerate(self.indexes)
            for name in names
            for row in index.names.exactly(name)
            if index.level_of(row) == level
        }
        return np.array(sorted(found), dtype=np.int64)

    def word_scores(self, position: int, lane: Lane, tokens: tuple[str, ...]) -> npt.NDArray[np.float32]:
        """The BM25 scores of the documents of the index at a position, computed once for all levels.

        Of `code`, those of the passages follow, and a file is as good as its best passage.
        """
        scores = self._word_scores.get((position, lane, tokens))
        if scores is None:
            index = self.indexes[position]
            scores = index.words[lane].score(tokens)
            if lane is Lane.CODE:
                _raise_to_best(scores, index.passage_files)
            self._word_scores[position, lane, tokens] = scores
        return scores

    def named(self, position: int, query: Query, limit: int) -> "Scored":
        """The documents of the index at a position that are named in a query, looked up once for all levels."""
        key = (position, query.text, limit)
        if key not in self._named:
            self._named[key] = _scored_by_name(self.indexes[position], query, limit)
        return self._named[key]

    def _split(self, numbers: Numbers) -> Iterable[tuple[PublishedIndex, Numbers, Numbers | slice]]:
        if len(self.indexes) == 1:
            yield self.indexes[0], numbers, slice(None)
            return
        positions = np.searchsorted(self._starts, numbers, side="right") - 1
        for position in np.unique(positions):
            places = np.flatnonzero(positions == position)
            yield self.indexes[position], numbers[places] - self._starts[position], places


@dataclass(frozen=True, slots=True)
class Ranking:
    """Documents by number, best first, with their scores."""

    numbers: Numbers
    scores: Scores


def rank_documents(shelf: Shelf, query: Query, signal: Signal, levels: Sequence[Level], *, limit: int) -> Ranking:
    """At most `limit` documents of these levels, best first; ties break by importance, then by number.

    A document without a score is in no ranking.
    """
    found = _joined([_best(shelf, position, query, signal, levels, limit) for position in range(len(shelf.indexes))])
    if len(found.numbers) > limit:
        kept = highest(found.scores, limit)
        found = Ranking(found.numbers[kept], found.scores[kept])
    importance = shelf.gather("importance", found.numbers)
    order = np.lexsort((found.numbers, -importance, -found.scores))[:limit]
    return Ranking(found.numbers[order], found.scores[order])


def rank_passages(shelf: Shelf, query: Query, *, limit: int) -> Ranking:
    """The files of the `limit` passages that have the words of a query, best first, with the scores of these.

    All of a file is cut into passages; functions cover only a part of it.
    """
    parts = []
    for position, index in enumerate(shelf.indexes):
        scores = shelf.word_scores(position, Lane.CODE, query.tokens)[len(index) :]
        places = np.flatnonzero(scores > 0)
        allowed = shelf.allowed[position]
        if allowed is not None:
            places = places[allowed[index.passage_files[places]]]
        best = places[highest(scores[places], limit)]
        files = index.passage_files[best].astype(np.int64) + shelf.number(position, 0)
        parts.append(Ranking(files, scores[best].astype(np.float64)))
    joined = _joined(parts)
    order = np.lexsort((joined.numbers, -joined.scores))[:limit]
    return Ranking(joined.numbers[order], joined.scores[order])


def _best(shelf: Shelf, position: int, query: Query, signal: Signal, levels: Sequence[Level], limit: int) -> Ranking:
    """The highest positive scores of one index."""
    allowed = shelf.allowed[position]
    rows, scores = _scored(shelf, position, query, signal, levels, limit)
    if allowed is not None:
        rows, scores = rows[allowed[rows]], scores[allowed[rows]]
    kept = highest(scores, limit)
    return Ranking(rows[kept].astype(np.int64) + shelf.number(position, 0), scores[kept].astype(np.float64))


def _joined(parts: Sequence[Ranking]) -> Ranking:
    if len(parts) == 1:
        return parts[0]
    return Ranking(
        np.concatenate([part.numbers for part in parts]) if parts else NO_NUMBERS,
        np.concatenate([part.scores for part in parts]) if parts else NO_SCORES,
    )


Scored = tuple[npt.NDArray[np.integer], npt.NDArray[np.floating]]


def _scored(shelf: Shelf, position: int, query: Query, signal: Signal, levels: Sequence[Level], limit: int) -> Scored:
    """The rows of the levels with a positive score, and the scores."""
    index = shelf.indexes[position]
    if signal is Signal.SYMBOL:
        # What is filtered out must not use up the limit.
        rows, scores = shelf.named(position, query, limit if shelf.allowed[position] is None else len(index))
        is_wanted = np.zeros(len(LEVELS), dtype=np.bool_)
        is_wanted[[LEVELS.index(level) for level in levels]] = True
        kept = is_wanted[index.arrays["level"][rows]]
        return rows[kept], scores[kept]
    if signal in _WORDS:
        scores = shelf.word_scores(position, _WORDS[signal], query.tokens)
        spans = _spans(levels, index.rows_of)
        rows = _one([(scores[span] > 0).nonzero()[0] + span.start for span in spans])
        return rows, scores[rows]
    return _scored_by_meaning(index, query, _VECTORS[signal], levels, limit, shelf.allowed[position])


def _spans(levels: Sequence[Level], rows_of: Callable[[Level], slice]) -> list[slice]:
    """The rows of some levels; those that follow one another are taken together."""
    spans: list[slice] = []
    for rows in map(rows_of, levels):
        if spans and spans[-1].stop == rows.start:
            rows = slice(spans.pop().start, rows.stop)
        spans.append(rows)
    return spans


def _raise_to_best(scores: npt.NDArray[np.float32], passage_files: npt.NDArray[np.integer]) -> None:
    """Give files, which are numbered in ascending order, the score of their best passage, where it is higher."""
    of_passages = scores[len(scores) - len(passage_files) :]
    places = np.flatnonzero(of_passages > 0)
    if len(places):
        files = passage_files[places]
        starts = np.flatnonzero(np.diff(files, prepend=-1))
        best = np.maximum.reduceat(of_passages[places], starts)
        scores[files[starts]] = np.maximum(scores[files[starts]], best)


def _scored_by_meaning(
    index: PublishedIndex, query: Query, lane: Lane, levels: Sequence[Level], limit: int, allowed: Mask | None
) -> Scored:
    """All rows, or of many those that may be among the best; their scores are those of the exact vectors."""
    if query.vector is None:
        raise ValueError(f"lane {lane}: the query was not embedded")
    parts = []
    for span in _spans(levels, index.dense_rows_of):
        rows = _near(index, query.vector, lane, span, limit, allowed)
        scores = _products(index.vectors[lane][rows], query.vector)
        kept = (scores > 0).nonzero()[0]
        parts.append((kept + span.start if isinstance(rows, slice) else rows[kept], scores[kept]))
    found, scores = (_one(columns) for columns in zip(*parts, strict=True))
    return index.dense_rows[found], scores


def _near(
    index: PublishedIndex, query: Vectors, lane: Lane, span: slice, limit: int, allowed: Mask | None
) -> slice | Array:
    """The vectors of a span that are worth looking at: all of few."""
    cells = index.nearest.get(lane)
    if cells is None or span.stop - span.start < FEWEST_VECTORS:
        return span
    if allowed is None:
        return cells.candidates(query, limit, among=span)
    is_wanted = np.zeros(len(cells), dtype=np.bool_)
    is_wanted[span] = allowed[index.dense_rows[span]]
    few = is_wanted.nonzero()[0]
    return few if len(few) < FEWEST_VECTORS else cells.candidates(query, limit, among=is_wanted)


def _products(vectors: Vectors, query: Vectors) -> npt.NDArray[np.float32]:
    # Not `@`: BLAS starts threads for it, which wait for each other milliseconds long when the cores are busy.
    products: npt.NDArray[np.float32] = np.einsum("ij,j->i", vectors, query)
    return products


def _one(parts: Sequence[Array]) -> Array:
    """Arrays one behind the other; nothing is copied of a single one."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _scored_by_name(index: PublishedIndex, query: Query, limit: int) -> Scored:
    """An id, then exact names (those spelled as asked first), then names that begin so, the shorter ones first."""
    rows: list[npt.NDArray[np.integer]] = []
    scores: list[Scores] = []
    for name in query.names:
        if exact := index.names.exactly(name):
            spelled = [SPELLED_NAME if _is_spelled(index.ids[row], name) else EXACT_NAME for row in exact]
            rows.append(np.array(exact))
            scores.append(np.array(spelled))
        if len(name) >= _SHORTEST_PREFIX:
            longer = index.names.with_prefix(name, limit=limit)
            rows.append(longer)
            scores.append(1.0 / np.arange(1, len(longer) + 1))
    asked = index.row(query.text.strip())
    if asked is not None:
        rows.append(np.array([asked]))
        scores.append(np.array([ASKED_ID]))
    if not any(map(len, rows)):
        return NO_NUMBERS, NO_SCORES
    found, places = distinct(np.concatenate(rows).astype(np.int64))
    best = np.zeros(len(found))
    np.maximum.at(best, places, np.concatenate(scores))
    return found, best


def _is_spelled(id_: str, name: str) -> bool:
    """Whether an id ends with a name in exactly this spelling."""
    return id_.replace("::", ".").partition("#")[0].endswith(name)
