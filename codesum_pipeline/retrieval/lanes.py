"""Each lane ranks documents by itself.

A lane has one or two signals: `code` is looked at for words and for meaning.
Scores of one signal can be compared across levels and repositories, so several
indexes give one ranking.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.lanes import Lane
from codesum_pipeline.model.documents import Level
from codesum_pipeline.retrieval.fusion import NO_NUMBERS, NO_SCORES, Numbers, Scores
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
    """The documents of several indexes, numbered through: index after index, row after row."""

    def __init__(self, indexes: Sequence[PublishedIndex]) -> None:
        self.indexes = indexes
        self._starts = np.cumsum([0, *(len(index) for index in indexes)])

    def number(self, position: int, row: int) -> int:
        """The number of a row of the index at a position."""
        return int(self._starts[position]) + row

    def locate(self, number: int) -> tuple[PublishedIndex, int]:
        """The index and the row of a document."""
        position = int(np.searchsorted(self._starts, number, side="right")) - 1
        return self.indexes[position], number - int(self._starts[position])

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

    def _split(self, numbers: Numbers) -> Iterable[tuple[PublishedIndex, Numbers, Numbers]]:
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
    importance = shelf.gather("importance", found.numbers)
    order = np.lexsort((found.numbers, -importance, -found.scores))[:limit]
    return Ranking(found.numbers[order], found.scores[order])


def rank_passages(shelf: Shelf, query: Query, *, limit: int) -> Ranking:
    """The files of the `limit` passages that have the words of a query, best first, with the scores of these.

    All of a file is cut into passages; functions cover only a part of it.
    """
    parts = []
    for position, index in enumerate(shelf.indexes):
        scores = index.words[Lane.CODE].score(query.tokens)[len(index) :]
        best = _highest(np.flatnonzero(scores > 0), scores, limit)
        files = index.passage_files[best].astype(np.int64) + shelf.number(position, 0)
        parts.append(Ranking(files, scores[best].astype(np.float64)))
    joined = _joined(parts)
    order = np.lexsort((joined.numbers, -joined.scores))[:limit]
    return Ranking(joined.numbers[order], joined.scores[order])


def _best(shelf: Shelf, position: int, query: Query, signal: Signal, levels: Sequence[Level], limit: int) -> Ranking:
    """The highest positive scores of one index."""
    index = shelf.indexes[position]
    rows, scores = _scored(index, query, signal, levels, limit)
    kept = _highest(np.arange(len(rows)), scores, limit)
    return Ranking(rows[kept].astype(np.int64) + shelf.number(position, 0), scores[kept].astype(np.float64))


def _highest(places: Numbers, scores: npt.NDArray[np.floating], limit: int) -> Numbers:
    """Those of some places with the `limit` highest scores, and those that are as good as the last of them."""
    if len(places) <= limit:
        return places
    found = scores[places]
    lowest = np.partition(found, len(found) - limit)[len(found) - limit]
    highest: Numbers = places[found >= lowest]
    return highest


def _joined(parts: Sequence[Ranking]) -> Ranking:
    return Ranking(
        np.concatenate([part.numbers for part in parts]) if parts else NO_NUMBERS,
        np.concatenate([part.scores for part in parts]) if parts else NO_SCORES,
    )


Scored = tuple[npt.NDArray[np.integer], npt.NDArray[np.floating]]


def _scored(index: PublishedIndex, query: Query, signal: Signal, levels: Sequence[Level], limit: int) -> Scored:
    """The rows of the levels with a positive score, and the scores."""
    if signal is Signal.SYMBOL:
        return _scored_by_name(index, query, levels, limit)
    if signal in _WORDS:
        scores = index.words[_WORDS[signal]].score(query.tokens)
        if signal is Signal.CODE_WORDS:
            # A file is as good as its best passage.
            np.maximum.at(scores, index.passage_files, scores[len(index) :])
        rows = np.concatenate([_positive(scores, index.rows_of(level)) for level in levels])
        return rows, scores[rows]
    return _scored_by_meaning(index, query, _VECTORS[signal], levels)


def _positive(scores: npt.NDArray[np.float32], rows: slice) -> npt.NDArray[np.integer]:
    found: npt.NDArray[np.integer] = np.flatnonzero(scores[rows] > 0) + rows.start
    return found


def _scored_by_meaning(index: PublishedIndex, query: Query, lane: Lane, levels: Sequence[Level]) -> Scored:
    if query.vector is None:
        raise ValueError(f"lane {lane}: the query was not embedded")
    # Not `@`: BLAS starts threads for it, which wait for each other milliseconds long when the cores are busy.
    scores = np.einsum("ij,j->i", index.vectors[lane], query.vector)
    found = np.concatenate([_positive(scores, index.dense_rows_of(level)) for level in levels])
    return index.dense_rows[found], scores[found]


def _scored_by_name(index: PublishedIndex, query: Query, levels: Sequence[Level], limit: int) -> Scored:
    """An id, then exact names (those spelled as asked first), then names that begin so, the shorter ones first."""
    found: dict[int, float] = {}
    for name in query.names:
        for row in index.names.exactly(name):
            spelled = _is_spelled(index.ids[row], name)
            found[row] = max(found.get(row, 0.0), SPELLED_NAME if spelled else EXACT_NAME)
        if len(name) >= _SHORTEST_PREFIX:
            for place, row in enumerate(index.names.with_prefix(name, limit=limit)):
                found[row] = max(found.get(row, 0.0), 1.0 / (1 + place))
    asked = index.row(query.text.strip())
    if asked is not None:
        found[asked] = ASKED_ID
    rows = sorted(row for row in found if index.level_of(row) in levels)
    return np.array(rows, dtype=np.int64), np.array([found[row] for row in rows])


def _is_spelled(id_: str, name: str) -> bool:
    """Whether an id ends with a name in exactly this spelling."""
    return id_.replace("::", ".").partition("#")[0].endswith(name)
