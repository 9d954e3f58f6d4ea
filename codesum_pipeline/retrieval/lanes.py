"""Each lane ranks documents by itself.

A lane has one or two signals: `code` is looked at for words and for meaning.
Scores of one signal can be compared across levels and repositories: each index
is looked at once for all levels, and what is best is chosen among all indexes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.embedders import Vectors
from codesum_pipeline.indexes.lanes import Lane
from codesum_pipeline.indexes.nearest import FEWEST_VECTORS, NearestVectors
from codesum_pipeline.indexes.stored_zip import Array
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.model.ids import without_suffix
from codesum_pipeline.retrieval.filters import Mask
from codesum_pipeline.retrieval.fit import share_of_words
from codesum_pipeline.retrieval.fusion import NO_NUMBERS, NO_SCORES, Numbers, Scores, distinct, highest_above_zero
from codesum_pipeline.retrieval.query import Query
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.shelf import Shelf, joined
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

# The numbers from which on OpenBLAS takes threads for a product, and how many vectors it takes at a time.
_NUMBERS_FOR_THREADS = 9216
_AT_A_TIME = 4

# A prefix of one or two characters is no name yet.
_SHORTEST_PREFIX = 3


def signals_of(lanes: Iterable[Lane]) -> tuple[Signal, ...]:
    """The signals of some lanes, in the order of `Signal`."""
    wanted = {signal for lane in lanes for signal in SIGNALS[lane]}
    return tuple(signal for signal in Signal if signal in wanted)


def needs_vector(lanes: Iterable[Lane]) -> bool:
    """Whether a query has to be embedded."""
    return any(signal in _VECTORS for signal in signals_of(lanes))


@dataclass(frozen=True, slots=True)
class Found:
    """Documents by number, ascending, with their scores."""

    numbers: Numbers
    scores: Scores


NOTHING = Found(NO_NUMBERS, NO_SCORES)


@dataclass(frozen=True, slots=True)
class _Scored:
    """Documents of one index by row, ascending, with their scores; level k begins at `bounds[k]`."""

    rows: npt.NDArray[np.integer]
    scores: npt.NDArray[np.floating]
    bounds: Sequence[int]


class Lookup:
    """What each signal says about the documents of a shelf; `limit` is how many of a ranking are wanted."""

    def __init__(self, shelf: Shelf, query: Query, *, limit: int) -> None:
        self._shelf = shelf
        self._query = query
        self._limit = limit
        self._scored_before: dict[tuple[int, Signal], _Scored] = {}
        self._word_scores: dict[tuple[int, Lane], npt.NDArray[np.float32]] = {}

    def best(self, signal: Signal, levels: Sequence[Level]) -> Found:
        """The `limit` documents of these levels with the highest scores above 0, and those that are as good as the last
        of them."""
        starts: list[int] = []
        parts: list[tuple[Array, Array]] = []
        for position, start in enumerate(self._shelf.starts[:-1]):
            scored = self._scored(position, signal, levels)
            spans = _spans(levels, scored.bounds)
            starts += [start] * len(spans)
            parts += [(scored.rows[span], scored.scores[span]) for span in spans]
        rows, scores = (joined(columns) for columns in zip(*parts, strict=True))
        kept = highest_above_zero(scores, self._limit)
        return Found(rows[kept].astype(np.int64) + _starts_of(kept, parts, starts), scores[kept].astype(np.float64))

    def best_passages(self) -> Found:
        """The files of the `limit` passages that have the words of a query, with the scores of these.

        All of a file is cut into passages; functions cover only a part of it.
        """
        parts = []
        for position, (index, start) in enumerate(self._shelf.with_starts()):
            scores = self._scores_of_words(position, Lane.CODE)[len(index) :]
            allowed = self._shelf.allowed[position]
            if allowed is not None:
                scores = np.where(allowed[index.passage_files], scores, 0)
            kept = highest_above_zero(scores, self._limit)
            parts.append((index.passage_files[kept].astype(np.int64) + start, scores[kept]))
        files, scores = (joined(columns) for columns in zip(*parts, strict=True))
        kept = highest_above_zero(scores, self._limit)
        return Found(files[kept], scores[kept].astype(np.float64))

    def share_of_words(self, position: int) -> float:
        """How much of the query's words the code of one document, or one passage, of an index has."""
        index, allowed = self._shelf.indexes[position], self._shelf.allowed[position]
        scores = self._scores_of_words(position, Lane.CODE)
        if allowed is not None:
            scores = np.where(np.concatenate((allowed, allowed[index.passage_files])), scores, 0)
        # A file has no words of its own, but those of its passages.
        files = index.rows_of(Level.FILE)
        scores = np.concatenate((scores[: files.start], np.zeros(files.stop - files.start), scores[files.stop :]))
        return share_of_words(index.words[Lane.CODE], self._query.tokens, scores)

    def _scored(self, position: int, signal: Signal, levels: Sequence[Level]) -> _Scored:
        """The documents of one index that a signal says something about: of all levels, as far as it costs nothing."""
        index, allowed = self._shelf.indexes[position], self._shelf.allowed[position]
        if signal in _VECTORS and (cells := index.nearest.get(_VECTORS[signal])) is not None:
            return self._near(index, cells, _VECTORS[signal], levels, allowed)
        key = position, signal
        if key not in self._scored_before:
            scored = self._scored_of_all(position, signal)
            self._scored_before[key] = scored if allowed is None else _passing(scored, index, allowed)
        return self._scored_before[key]

    def _scored_of_all(self, position: int, signal: Signal) -> _Scored:
        index, query = self._shelf.indexes[position], self._query
        if signal in _VECTORS:
            vectors = index.vectors[_VECTORS[signal]]
            return _Scored(index.dense_rows, products(vectors, _vector_of(query)), index.dense_starts)
        if signal in _WORDS:
            scores = self._scores_of_words(position, _WORDS[signal])
            rows = (scores[: len(index)] > 0).nonzero()[0]
            return _Scored(rows, scores[rows], _bounds(rows, index))
        # What is filtered out must not use up the limit.
        limit = self._limit if self._shelf.allowed[position] is None else len(index)
        rows, named = _scored_by_name(index, query, limit)
        return _Scored(rows, named, _bounds(rows, index))

    def _scores_of_words(self, position: int, lane: Lane) -> npt.NDArray[np.float32]:
        """The BM25 scores of the documents of the index at a position.

        Of `code`, those of the passages follow, and a file is as good as its best passage.
        """
        scores = self._word_scores.get((position, lane))
        if scores is None:
            index = self._shelf.indexes[position]
            scores = self._word_scores[position, lane] = index.words[lane].score(self._query.tokens)
            if lane is Lane.CODE:
                np.maximum.at(scores, index.passage_files, scores[len(index) :])
        return scores

    def _near(
        self, index: PublishedIndex, cells: NearestVectors, lane: Lane, levels: Sequence[Level], allowed: Mask | None
    ) -> _Scored:
        """Of many vectors those that may be among the best of some levels; their scores are those of exact vectors."""
        vector = _vector_of(self._query)
        places = [
            _worth_looking_at(index, cells, vector, span, self._limit, allowed)
            for span in _spans(levels, index.dense_starts)
        ]
        rows = joined([index.dense_rows[some] for some in places])
        scores = joined([products(index.vectors[lane][some], vector) for some in places])
        scored = _Scored(rows, scores, _bounds(rows, index))
        return scored if allowed is None else _passing(scored, index, allowed)


def _passing(scored: _Scored, index: PublishedIndex, allowed: Mask) -> _Scored:
    """The documents that filters let pass."""
    passes = allowed[scored.rows]
    rows = scored.rows[passes]
    return _Scored(rows, scored.scores[passes], _bounds(rows, index))


def _bounds(rows: npt.NDArray[np.integer], index: PublishedIndex) -> list[int]:
    """Where in some rows, ascending, each level begins."""
    bounds: list[int] = rows.searchsorted(index.level_starts).tolist()
    return bounds


def _spans(levels: Sequence[Level], bounds: Sequence[int]) -> list[slice]:
    """Where the documents of some levels are; those that follow one another are taken together."""
    spans: list[slice] = []
    for number in map(LEVELS.index, levels):
        start = bounds[number]
        if spans and spans[-1].stop == start:
            start = spans.pop().start
        spans.append(slice(start, bounds[number + 1]))
    return spans


def _starts_of(places: Numbers, parts: Sequence[tuple[Array, Array]], starts: Sequence[int]) -> Numbers | int:
    """The start that belongs to the part in which each place is, when the parts stand one behind the other."""
    if len(parts) == 1:
        return starts[0]
    ends = np.cumsum([len(rows) for rows, _ in parts])
    of_places: Numbers = np.array(starts, dtype=np.int64)[ends.searchsorted(places, side="right")]
    return of_places


def _worth_looking_at(
    index: PublishedIndex, cells: NearestVectors, query: Vectors, span: slice, limit: int, allowed: Mask | None
) -> slice | Array:
    """The vectors of a span that are worth looking at: all of few."""
    if span.stop - span.start < FEWEST_VECTORS:
        return span
    if allowed is None:
        return cells.candidates(query, limit, among=span)
    is_wanted = np.zeros(len(cells), dtype=np.bool_)
    is_wanted[span] = allowed[index.dense_rows[span]]
    few = is_wanted.nonzero()[0]
    return few if len(few) < FEWEST_VECTORS else cells.candidates(query, limit, among=is_wanted)


def _vector_of(query: Query) -> Vectors:
    if query.vector is None:
        raise ValueError("a dense lane is asked, and the query was not embedded")
    return query.vector


def products(vectors: Vectors, query: Vectors) -> npt.NDArray[np.float32]:
    """The inner product of each vector with the query, the same whatever stands around it.

    BLAS works on blocks that it takes no threads for: threads wait for each other milliseconds long when the cores are
    busy. Each vector is in a whole block, so its sum is added in the same order wherever it stands.
    """
    count, dimensions = vectors.shape
    block = (_NUMBERS_FOR_THREADS - 1) // dimensions // _AT_A_TIME * _AT_A_TIME or 1
    whole = count // block * block
    found = np.empty(count, dtype=np.float32)
    np.matmul(vectors[:whole].reshape(-1, block, dimensions), query, out=found[:whole].reshape(-1, block))
    if whole < count:
        last = np.zeros((block, dimensions), dtype=np.float32)
        last[: count - whole] = vectors[whole:]
        found[whole:] = (last @ query)[: count - whole]
    return found


def _scored_by_name(index: PublishedIndex, query: Query, limit: int) -> tuple[Numbers, Scores]:
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
    return without_suffix(id_).replace("::", ".").endswith(name)
