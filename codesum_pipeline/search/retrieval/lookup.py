"""Each signal ranks documents by itself.

Scores of one signal can be compared across levels and repositories. So the scores of all indexes, by words or by
vectors, are one array, from which the best are taken.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.indexes.file_formats.highest_scores import find_highest, highest_above_zero
from codesum_pipeline.indexes.file_formats.stored_zip import Array, Vectors
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.query import Query, scored_by_name
from codesum_pipeline.search.retrieval.shelf import Mask, Shelf, join_arrays
from codesum_pipeline.search.retrieval.weights import (
    NO_NUMBERS,
    NOTHING,
    VECTORS,
    WORDS,
    Numbers,
    ScoredDocuments,
    Signal,
)

# In how many of the best passages words are counted one by one.
_PASSAGES_LOOKED_INTO = 32


# A word is rare in at most this many files; a word in more texts than the second number is not examined.
_FEW_FILES = 5
_MOST_TEXTS_OF_A_RARE_WORD = 128


class Lookup:
    """The ranking of the documents of a shelf by each signal, of at most `limit` documents. A word that is related to
    one of the query's counts `related_weight` times their likeness."""

    def __init__(self, shelf: Shelf, query: Query, *, limit: int, related_weight: float = 0.0) -> None:
        self._shelf = shelf
        self._query = query
        self._limit = limit
        related = query.related if related_weight else {}
        self._counted = (*query.tokens, *related)
        weights = [*[1.0] * len(query.tokens), *(related_weight * likeness for likeness in related.values())]
        self._weights = np.array(weights, dtype=np.float32)
        self._words: dict[Lane, Array] = {}
        self._dense: dict[Lane, Array] = {}
        # Each index has its documents, and then the passages of its files.
        self._code_starts = [
            documents + passages for documents, passages in zip(shelf.starts, shelf.passage_starts, strict=True)
        ]
        # What is numbered through all indexes: documents, documents and passages of `code`, or vectors.
        self._starts = {"documents": shelf.starts, "code": self._code_starts, "vectors": shelf.vector_starts}
        self._known_spans: dict[tuple[str, tuple[Level, ...]], list[slice]] = {}

    def best(self, signal: Signal, levels: Sequence[Level]) -> ScoredDocuments:
        """The `limit` documents of these levels with the highest scores above 0, and those that equal the last one."""
        stop_if_cancelled()
        if signal in VECTORS:
            return self._nearest(VECTORS[signal], levels)
        if signal not in WORDS:
            return self._best_named(levels)
        lane, spans = WORDS[signal], self._spans("documents", levels)
        of_lane = self._spans("code", levels) if lane is Lane.CODE else spans
        kept, scores = self._best_in(self._scores_of_words(lane), of_lane)
        return ScoredDocuments(_numbers_in(spans, kept), scores)

    def best_passages(self) -> ScoredDocuments:
        """The files of the `limit` best passages for the words of a query, with the passages' scores. All of a file is
        cut into passages; functions cover only a part of it."""
        kept, scores = self._best_passages
        return ScoredDocuments(self._shelf.files_of_passages(kept), scores)

    def best_owners(self) -> ScoredDocuments:
        """The long functions that the best passages are in, ascending, with the share of each's best passage in the
        score of the very best one."""
        kept, scores = self._best_passages
        found: dict[int, float] = {}
        shelf = self._shelf
        for (index, start), allowed, first in zip(
            shelf.with_starts(), shelf.allowed, shelf.passage_starts, strict=False
        ):
            owned, functions = index.owned_passages
            if allowed is not None:
                owned, functions = owned[allowed[functions]], functions[allowed[functions]]
            _, at, of_kept = np.intersect1d(owned + first, kept, assume_unique=True, return_indices=True)
            for function, score in zip((functions[at] + start).tolist(), scores[of_kept].tolist(), strict=True):
                found[function] = max(found.get(function, 0.0), score / float(scores.max()))
        numbers = np.array(sorted(found), dtype=np.int64)
        return ScoredDocuments(numbers, np.array([found[number] for number in numbers.tolist()], dtype=np.float32))

    def called(self, names: Iterable[str], level: Level) -> Numbers:
        """The documents of a level that pass the filters and have one of these names of the query, in any case;
        ascending."""
        wanted = [name.lower() for name in names]
        parts = zip(self._shelf.with_starts(), self._shelf.allowed, self._rows_by_name, strict=True)
        found = {
            start + row
            for (index, start), allowed, rows in parts
            for name in (wanted if rows else ())
            for row in rows.get(name, ())
            if index.level_of(row) == level and (allowed is None or allowed[row])
        }
        return np.array(sorted(found), dtype=np.int64)

    def words_together(self, weights: Mapping[str, float]) -> ScoredDocuments:
        """The files of the best few passages, and the sum of the weights of the words that each passage has."""
        kept, scores = self._best_passages
        best = kept[find_highest(scores, _PASSAGES_LOOKED_INTO)]
        shares = np.zeros(len(best), dtype=np.float32)
        ends = best.searchsorted(self._shelf.passage_starts).tolist()
        for position, (first, last) in enumerate(pairwise(ends)):
            if first < last:
                index = self._shelf.indexes[position]
                rows = best[first:last] - self._shelf.passage_starts[position] + len(index)
                spans = dict(zip(self._words_of_code, self._spans_of_code[position], strict=True))
                postings = index.words[Lane.CODE].indices
                for word, weight in weights.items():
                    shares[first:last] += weight * _are_in(postings[spans[word]], rows)
        return ScoredDocuments(self._shelf.files_of_passages(best), shares)

    def words_in_summaries(self, weights: Mapping[str, float]) -> float:
        """The highest sum of the weights of the words that one document has in its summary."""
        highest = 0.0
        for index, allowed in zip(self._shelf.indexes, self._shelf.allowed, strict=True):
            words = index.words[Lane.SUMMARY]
            shares = np.zeros(len(index), dtype=np.float32)
            for span, weight in zip(words.spans([*weights]), weights.values(), strict=True):
                shares[words.indices[span]] += weight
            highest = max(highest, float(shares[... if allowed is None else allowed].max(initial=0)))
        return highest

    def rare_words(self, weights: Mapping[str, float]) -> ScoredDocuments:
        """The files that have rare words, ascending, and the sum of the weights of these words."""
        having, shelf = self.documents_with(), self._shelf
        found: dict[int, float] = {}
        places = {word: place for place, word in enumerate(self._words_of_code)}
        for word in (word for word in weights if 0 < having[word] <= _MOST_TEXTS_OF_A_RARE_WORD):
            place = places[word]
            parts = zip(shelf.with_starts(), self._spans_of_code, strict=True)
            files = {number for (index, start), spans in parts for number in _files_of(index, start, spans[place])}
            if len(files) <= _FEW_FILES:
                for number in files:
                    found[number] = found.get(number, 0.0) + weights[word]
        numbers = np.array(sorted(found), dtype=np.int64)
        return ScoredDocuments(numbers, np.array([found[number] for number in numbers.tolist()], dtype=np.float32))

    def documents_with(self) -> Mapping[str, int]:
        """The number of documents and passages that have each word of the query in their code."""
        lengths = ([span.stop - span.start for span in spans] for spans in self._spans_of_code)
        return dict(zip(self._words_of_code, map(sum, zip(*lengths, strict=True)), strict=True))

    @property
    def texts_of_code(self) -> int:
        return self._code_starts[-1]

    @cached_property
    def _best_passages(self) -> tuple[Numbers, npt.NDArray[np.float32]]:
        of_indexes = zip(self._shelf.indexes, pairwise(self._code_starts), strict=True)
        spans = [slice(start + len(index), end) for index, (start, end) in of_indexes]
        return self._best_in(self._scores_of_words(Lane.CODE), spans)

    @cached_property
    def _words_of_code(self) -> tuple[str, ...]:
        return (*self._counted, *self._query.words.difference(self._query.tokens))

    @cached_property
    def _spans_of_code(self) -> list[list[slice]]:
        return [index.words[Lane.CODE].spans(self._words_of_code) for index in self._shelf.indexes]

    def _best_in(self, scores: Array, spans: Sequence[slice]) -> tuple[Numbers, npt.NDArray[np.float32]]:
        """The places of the highest scores of some parts, counted through these, and the scores."""
        found = join_arrays([scores[span] for span in spans])
        kept = highest_above_zero(found, self._limit)
        return kept, found[kept]

    def _scores_of_words(self, lane: Lane) -> Array:
        """The BM25 scores of all documents, index after index; for `code`, those of its passages behind them, and a
        file scores at least as much as its best passage."""
        if lane not in self._words:
            starts = self._code_starts if lane is Lane.CODE else self._shelf.starts
            scores = self._words[lane] = np.zeros(starts[-1], dtype=np.float32)
            parts = zip(self._shelf.indexes, self._shelf.allowed, pairwise(starts), strict=True)
            for position, (index, allowed, (start, end)) in enumerate(parts):
                words = index.words[lane]
                spans = self._spans_of_code[position] if lane is Lane.CODE else words.spans(self._counted)
                words.add_to(scores[start:end], spans[: len(self._counted)], self._weights)
                _finish(index, scores[start:end], allowed)
        return self._words[lane]

    def _best_named(self, levels: Sequence[Level]) -> ScoredDocuments:
        numbers, scores = self._named.numbers, self._named.scores
        if not len(numbers):
            return NOTHING
        is_wanted = np.array([level in levels for level in LEVELS])
        of_levels = is_wanted[self._shelf.gather(numbers, "level")[0]]
        numbers, scores = numbers[of_levels], scores[of_levels]
        kept = highest_above_zero(scores, self._limit)
        return ScoredDocuments(numbers[kept], scores[kept])

    @cached_property
    def _named(self) -> ScoredDocuments:
        shelf, numbers, scores = self._shelf, [NO_NUMBERS], [NOTHING.scores]
        for (index, start), called, allowed in zip(shelf.with_starts(), self._rows_by_name, shelf.allowed, strict=True):
            # Documents that the filters leave out must not use up the limit.
            limit = self._limit if allowed is None else len(index)
            rows, of_rows = scored_by_name(index, self._query, called, limit)
            if allowed is not None:
                rows, of_rows = rows[allowed[rows]], of_rows[allowed[rows]]
            if len(rows):
                numbers.append(rows + start)
                scores.append(of_rows.astype(np.float32))
        return ScoredDocuments(np.concatenate(numbers), np.concatenate(scores))

    @cached_property
    def _rows_by_name(self) -> list[Mapping[str, list[int]]]:
        query = self._query
        names = [*query.names, query.text.strip(), *query.identifiers, *query.compounds]
        lowered = [*dict.fromkeys(name.lower() for name in names)]
        return [index.rows_by_name(lowered) for index in self._shelf.indexes]

    def _nearest(self, lane: Lane, levels: Sequence[Level]) -> ScoredDocuments:
        spans = self._spans("vectors", levels)
        kept, scores = self._best_in(self._products(lane), spans)
        return ScoredDocuments(self._shelf.of_vectors(_numbers_in(spans, kept)), scores)

    def _products(self, lane: Lane) -> Array:
        """The products of all vectors with the query's, index after index; 0 if the filters leave a document out."""
        if lane not in self._dense:
            shelf = self._shelf
            found = self._dense[lane] = np.empty(shelf.vector_starts[-1], dtype=np.float32)
            parts = zip(shelf.indexes, shelf.allowed, pairwise(shelf.vector_starts), strict=True)
            for index, allowed, (start, end) in parts:
                inner_products(index.vectors[lane], self._vector, out=found[start:end])
                if allowed is not None:
                    found[start:end][~allowed[index.dense_rows]] = 0
        return self._dense[lane]

    @property
    def _vector(self) -> Vectors:
        if self._query.vector is None:
            raise ValueError("a dense lane is searched, and the query was not embedded")
        return self._query.vector

    def _spans(self, numbering: str, levels: Sequence[Level]) -> list[slice]:
        key = numbering, tuple(levels)
        if key not in self._known_spans:
            self._known_spans[key] = [
                slice(start + span.start, start + span.stop)
                for start, index in zip(self._starts[numbering], self._shelf.indexes, strict=False)
                for span in _of_levels(levels, index.dense_starts if numbering == "vectors" else index.level_starts)
            ]
        return self._known_spans[key]


def _files_of(index: PublishedIndex, start: int, span: slice) -> set[int]:
    rows = index.words[Lane.CODE].indices[span]
    if not len(rows):
        return set()
    of_documents = index.arrays["file_row"][rows[rows < len(index)]]
    of_passages = index.passage_files[rows[rows >= len(index)] - len(index)]
    return {start + row for row in (*of_documents.tolist(), *of_passages.tolist()) if row >= 0}


def _are_in(rows: Array, some: Numbers) -> Mask:
    if not len(rows):
        return np.zeros(len(some), dtype=np.bool_)
    is_among: Mask = rows[np.minimum(rows.searchsorted(some), len(rows) - 1)] == some
    return is_among


def _finish(index: PublishedIndex, scores: Array, allowed: Mask | None) -> None:
    """Raise each file and each long function to the score of its best passage, and set to 0 what the filters leave out.
    `scores` has the documents of an index, then its passages."""
    documents, passages = scores[: len(index)], scores[len(index) :]
    if len(passages):
        owned, functions = index.owned_passages
        np.maximum.at(documents, functions, passages[owned])
        files, firsts = index.files_with_passages
        documents[files] = np.maximum(documents[files], np.maximum.reduceat(passages, firsts))
    if allowed is not None:
        documents[~allowed] = 0
        if len(passages):
            passages[~allowed[index.passage_files]] = 0


def _of_levels(levels: Sequence[Level], bounds: Sequence[int]) -> list[slice]:
    """The spans of some levels; neighbouring levels are one span."""
    return [slice(bounds[first], bounds[end]) for first, end in _runs(tuple(levels))]


@lru_cache(maxsize=32)
def _runs(levels: tuple[Level, ...]) -> list[tuple[int, int]]:
    """Neighbouring levels as runs: the number of the first, and of the next behind the last."""
    runs: list[tuple[int, int]] = []
    for number in map(LEVELS.index, levels):
        first = runs.pop()[0] if runs and runs[-1][1] == number else number
        runs.append((first, number + 1))
    return runs


def _of_parts(values: Sequence[int], lengths: Sequence[int], places: Numbers) -> Numbers | int:
    """The value of the part that each place is in; parts of these lengths follow one another."""
    if len(values) == 1:
        return values[0]
    ends = np.cumsum(lengths)
    of_places: Numbers = np.array(values, dtype=np.int64)[ends.searchsorted(places, side="right")]
    return of_places


def _numbers_in(spans: Sequence[slice], places: Numbers) -> Numbers:
    """The numbers of places that were counted through the spans, one behind the other."""
    lengths = [span.stop - span.start for span in spans]
    before = accumulate(lengths, initial=0)
    offsets = [span.start - first for span, first in zip(spans, before, strict=False)]
    return places + _of_parts(offsets, lengths, places)


def inner_products(
    vectors: Vectors, query: Vectors, *, out: npt.NDArray[np.float32] | None = None
) -> npt.NDArray[np.float32]:
    """The inner product of each vector with the query, written to `out` where it is given. One vector after the other:
    memory is read in one go, which takes a third of the time of a product of matrices where the vectors are not in the
    cache, and BLAS takes no threads, which wait for each other when the cores are busy."""
    found: npt.NDArray[np.float32] = np.vecdot(vectors, query, out=out)
    return found
