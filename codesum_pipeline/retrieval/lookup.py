"""Each signal ranks documents by itself.

Scores of one signal can be compared across levels and repositories. So of words and of vectors there is one array with
the scores of all indexes, and what is best is chosen in it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.embedders import Vectors
from codesum_pipeline.indexes.highest import highest_above_zero
from codesum_pipeline.indexes.lanes import Lane
from codesum_pipeline.indexes.nearest import FEWEST_VECTORS, NearestVectors
from codesum_pipeline.indexes.stored_zip import Array
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.retrieval.filters import Mask
from codesum_pipeline.retrieval.fit import share_of_words
from codesum_pipeline.retrieval.fusion import NO_NUMBERS, NO_SCORES, Numbers
from codesum_pipeline.retrieval.lanes import VECTORS, WORDS
from codesum_pipeline.retrieval.named import scored_by_name
from codesum_pipeline.retrieval.products import products
from codesum_pipeline.retrieval.query import Query
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.shelf import Shelf, joined
from codesum_pipeline.retrieval.weights import Signal


@dataclass(frozen=True, slots=True)
class Found:
    """Documents by number, ascending, with their scores."""

    numbers: Numbers
    scores: npt.NDArray[np.float32]


NOTHING = Found(NO_NUMBERS, NO_SCORES.astype(np.float32))


@dataclass(frozen=True, slots=True)
class _WordScores:
    """The BM25 scores of all documents of a shelf; of `code` those of all passages too, and a file is as good as its
    best passage."""

    documents: npt.NDArray[np.float32]
    passages: npt.NDArray[np.float32]


class Lookup:
    """What each signal says about the documents of a shelf; `limit` is how many of a ranking are wanted.

    A word that is related to one of the query's counts `related_weight` times their likeness.
    """

    def __init__(self, shelf: Shelf, query: Query, *, limit: int, related_weight: float = 0.0) -> None:
        self._shelf = shelf
        self._query = query
        self._limit = limit
        self._related = {word: related_weight * likeness for word, likeness in query.related.items() if related_weight}
        self._words: dict[Lane, _WordScores] = {}
        self._dense: dict[tuple[int, Lane], Array] = {}

    def best(self, signal: Signal, levels: Sequence[Level]) -> Found:
        """The `limit` documents of these levels with the highest scores above 0, and those that are as good as the last
        of them."""
        if signal in VECTORS:
            return self._nearest(VECTORS[signal], levels)
        if signal not in WORDS:
            return self._best_named(levels)
        spans = _spans(self._shelf, levels)
        scores = joined([self._scores_of_words(WORDS[signal]).documents[span] for span in spans])
        kept = highest_above_zero(scores, self._limit)
        return Found(_numbers_in(spans, kept), scores[kept])

    def best_passages(self) -> Found:
        """The files of the `limit` passages that have the words of a query, with the scores of these.

        All of a file is cut into passages; functions cover only a part of it.
        """
        scores = self._scores_of_words(Lane.CODE).passages
        kept = highest_above_zero(scores, self._limit)
        return Found(self._shelf.files_of_passages(kept), scores[kept])

    def share_of_words(self, position: int) -> float:
        """How much of the query's words the code of one document, or one passage, of an index has."""
        index, first = self._shelf.indexes[position], self._shelf.starts[position]
        passages, scores = self._shelf.passage_starts[position], self._scores_of_words(Lane.CODE)
        found = np.concatenate(
            (
                scores.documents[first : first + len(index)],
                scores.passages[passages : passages + len(index.passage_files)],
            )
        )
        # A file has no words of its own, but those of its passages.
        found[index.rows_of(Level.FILE)] = 0
        return share_of_words(index.words[Lane.CODE], self._query.tokens, found)

    def _scores_of_words(self, lane: Lane) -> _WordScores:
        if lane not in self._words:
            self._words[lane] = self._score_words(lane)
        return self._words[lane]

    def _score_words(self, lane: Lane) -> _WordScores:
        shelf, documents, passages = self._shelf, [], []
        for index in shelf.indexes:
            scores = index.words[lane].score(self._query.tokens, self._related)
            documents.append(scores[: len(index)])
            passages.append(scores[len(index) :])
            if lane is Lane.CODE:
                _raise_to_passages(index, documents[-1], passages[-1])
        found = _WordScores(joined(documents), joined(passages))
        if shelf.is_allowed is not None:
            found.documents[~shelf.is_allowed] = 0
            if lane is Lane.CODE:
                of_passages = shelf.files_of_passages(np.arange(len(found.passages)))
                found.passages[~shelf.is_allowed[of_passages]] = 0
        return found

    def _best_named(self, levels: Sequence[Level]) -> Found:
        numbers, scores = self._named.numbers, self._named.scores
        if not len(numbers):
            return NOTHING
        is_wanted = np.array([level in levels for level in LEVELS])
        of_levels = is_wanted[self._shelf.gather("level", numbers)]
        numbers, scores = numbers[of_levels], scores[of_levels]
        kept = highest_above_zero(scores, self._limit)
        return Found(numbers[kept], scores[kept])

    @cached_property
    def _named(self) -> Found:
        """All documents that the query names."""
        shelf = self._shelf
        # What is filtered out must not use up the limit.
        limits = [self._limit if shelf.is_allowed is None else len(index) for index in shelf.indexes]
        found = [scored_by_name(index, self._query, limit) for index, limit in zip(shelf.indexes, limits, strict=True)]
        numbers = joined([rows + start for (rows, _), start in zip(found, shelf.starts, strict=False)])
        scores = joined([of_index for _, of_index in found]).astype(np.float32)
        passes: Mask | slice = slice(None) if shelf.is_allowed is None else shelf.is_allowed[numbers]
        return Found(numbers[passes], scores[passes])

    def _nearest(self, lane: Lane, levels: Sequence[Level]) -> Found:
        """The documents whose vectors point the query's way."""
        parts = [
            (start, *self._near(position, lane, span))
            for position, (index, start) in enumerate(self._shelf.with_starts())
            for span in _of_levels(levels, index.dense_starts)
        ]
        starts, rows, scores = zip(*parts, strict=True)
        found = joined(scores)
        kept = highest_above_zero(found, self._limit)
        numbers = joined(rows)[kept].astype(np.int64) + _of_parts(starts, [*map(len, scores)], kept)
        return Found(numbers, found[kept])

    def _near(self, position: int, lane: Lane, span: slice) -> tuple[Array, Array]:
        """The documents of a span of the vectors of an index, and the products of these with the query's: of many those
        that may be among the best."""
        index, allowed = self._shelf.indexes[position], self._shelf.allowed[position]
        if lane not in index.nearest:
            rows, scores = index.dense_rows[span], self._products(position, lane)[span]
        else:
            some = _worth_looking_at(index, index.nearest[lane], self._vector, span, self._limit, allowed)
            rows, scores = index.dense_rows[some], products(index.vectors[lane][some], self._vector)
        if allowed is None:
            return rows, scores
        passes = allowed[rows]
        return rows[passes], scores[passes]

    def _products(self, position: int, lane: Lane) -> Array:
        """The products of all vectors of an index with the query's."""
        if (position, lane) not in self._dense:
            self._dense[position, lane] = products(self._shelf.indexes[position].vectors[lane], self._vector)
        return self._dense[position, lane]

    @property
    def _vector(self) -> Vectors:
        if self._query.vector is None:
            raise ValueError("a dense lane is asked, and the query was not embedded")
        return self._query.vector


def _raise_to_passages(index: PublishedIndex, documents: Array, passages: Array) -> None:
    """Give each file the score of its best passage where that is higher than its own."""
    if len(passages):
        files, firsts = index.files_with_passages
        documents[files] = np.maximum(documents[files], np.maximum.reduceat(passages, firsts))


def _spans(shelf: Shelf, levels: Sequence[Level]) -> list[slice]:
    """Where the documents of some levels are."""
    return [
        slice(start + span.start, start + span.stop)
        for index, start in shelf.with_starts()
        for span in _of_levels(levels, index.level_bounds)
    ]


def _of_levels(levels: Iterable[Level], bounds: Sequence[int]) -> list[slice]:
    """Where some levels are; those that follow one another are taken together."""
    spans: list[slice] = []
    for number in map(LEVELS.index, levels):
        start = bounds[number]
        if spans and spans[-1].stop == start:
            start = spans.pop().start
        spans.append(slice(start, bounds[number + 1]))
    return spans


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


def _of_parts(values: Sequence[int], lengths: Sequence[int], places: Numbers) -> Numbers | int:
    """The value that belongs to the part in which each place is, when parts of such lengths follow one another."""
    if len(values) == 1:
        return values[0]
    ends = np.cumsum(lengths)
    of_places: Numbers = np.array(values, dtype=np.int64)[ends.searchsorted(places, side="right")]
    return of_places


def _numbers_in(spans: Sequence[slice], places: Numbers) -> Numbers:
    """What places become that were counted through the spans, one behind the other."""
    lengths = [span.stop - span.start for span in spans]
    before = accumulate(lengths, initial=0)
    offsets = [span.start - first for span, first in zip(spans, before, strict=False)]
    return places + _of_parts(offsets, lengths, places)
