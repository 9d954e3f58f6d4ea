"""The documents of several indexes as if they were one's, and those that a question's rankings name.

Rankings name a few thousand documents, however many an index has: the candidates. From there on a document is a *place*
among these, ascending by number, and facts about documents are arrays with one element for each place.
"""

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.indexes.stored_zip import Array
from codesum_pipeline.retrieval.filters import ANYTHING, Filters, Mask, allowed_rows
from codesum_pipeline.retrieval.fusion import Numbers, Places, Ranking, ScoredDocuments, Scores
from codesum_pipeline.retrieval.query import Pointer, rows_pointed_to
from codesum_pipeline.retrieval.reader import IndexedDocument, PublishedIndex


class Shelf:
    """The documents of several indexes, numbered through index after index, row after row, and which of them pass the
    filters."""

    def __init__(self, indexes: Sequence[PublishedIndex], filters: Filters = ANYTHING) -> None:
        self.indexes = indexes
        self.filters = filters
        # Whether each document passes the filters, by index and of all; None where all do.
        self.allowed = [allowed_rows(index, filters) for index in indexes]
        self.is_allowed: Mask | None = None
        if any(mask is not None for mask in self.allowed):
            masks = zip(indexes, self.allowed, strict=True)
            self.is_allowed = joined([np.ones(len(index), np.bool_) if mask is None else mask for index, mask in masks])
        # The number of the first document of each index, and then of all; likewise for passages and vectors.
        self.starts = [0, *accumulate(map(len, indexes))]
        self.passage_starts = [0, *accumulate(len(index.passage_files) for index in indexes)]
        self.vector_starts = [0, *accumulate(len(index.dense_rows) for index in indexes)]

    def __len__(self) -> int:
        return self.starts[-1]

    def __getitem__(self, number: int) -> IndexedDocument:
        position = bisect_right(self.starts, number) - 1
        return IndexedDocument(self.indexes[position], number - self.starts[position])

    def gather(self, numbers: Numbers, *names: str) -> list[Array]:
        """Some of the arrays of the documents, for some of these, given in ascending order."""
        parts = [[index.arrays[name][rows] for name in names] for index, _, rows in self.split(numbers)]
        return [*map(joined, zip(*parts, strict=True))]

    def files(self, numbers: Numbers) -> Numbers:
        """The file that each of some documents, which ascend, stands in: itself for a file, -1 for a module."""
        found = []
        for index, start, rows in self.split(numbers):
            file_rows = index.arrays["file_row"][rows]
            found.append(np.where(file_rows >= 0, file_rows.astype(np.int64) + start, -1))
        return joined(found)

    def files_of_passages(self, places: Numbers) -> Numbers:
        """The file of each of some passages, given ascending by place."""
        split = self.split(places, self.passage_starts)
        return joined([index.passage_files[some].astype(np.int64) + start for index, start, some in split])

    def of_vectors(self, places: Numbers) -> Numbers:
        """The document of each of some vectors, given ascending by place."""
        split = self.split(places, self.vector_starts)
        return joined([index.dense_rows[some].astype(np.int64) + start for index, start, some in split])

    def callers(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The number of callers of each of some functions and classes, which ascend, and these callers one after the
        other."""
        counts, found = [], []
        for index, start, rows in self.split(numbers):
            count, callers = index.callers.of(rows)
            counts.append(count)
            found.append(callers.astype(np.int64) + start)
        return joined(counts), joined(found)

    def pointed(self, pointers: Sequence[Pointer]) -> Numbers:
        found = [start + row for index, start in self.with_starts() for row in rows_pointed_to(index, pointers)]
        numbers = np.array(found, dtype=np.int64)
        return numbers if self.is_allowed is None else numbers[self.is_allowed[numbers]]

    def with_starts(self) -> Iterator[tuple[PublishedIndex, int]]:
        """Each index and the number of its first document."""
        return zip(self.indexes, self.starts, strict=False)

    def split(
        self, places: Numbers, starts: Sequence[int] | None = None
    ) -> Iterator[tuple[PublishedIndex, int, Numbers]]:
        """The rows of some documents, index by index, each with the number of its first document; at least one index.
        With the starts of passages or vectors, places and rows are those of passages or vectors."""
        if len(self.indexes) == 1 or not len(places):
            yield self.indexes[0], 0, places
            return
        starts = starts or self.starts
        ends = places.searchsorted(starts).tolist()
        for (index, number), start, first, last in zip(self.with_starts(), starts, ends[:-1], ends[1:], strict=False):
            if first < last:
                yield index, number, places[first:last] - start


def joined(parts: Sequence[Array]) -> Array:
    """One or more arrays one behind the other; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


K = TypeVar("K", bound=Hashable)
# The bits of the numbers that `rank_all` sorts: eight for the ranking, 32 for the score, 24 for the importance.
_RANKING_AT, _SCORE_AT = np.uint64(56), np.uint64(24)
_RANK_BITS = np.uint64((1 << 24) - 1)
_ALL_BITS = np.uint32(0xFFFFFFFF)


class Candidates(Struct, frozen=True):
    """Documents by number, and the files that they stand in. `files` are the places of these files: of a file itself,
    of a module -1."""

    numbers: Numbers
    files: Places
    importance: Scores
    is_test: Mask
    is_vendored: Mask
    only_reexports: Mask
    # Positions in `ROLES`.
    roles: Places
    # The place of each document; defined for candidates only.
    _places: npt.NDArray[np.int32]
    # Numbers, most important first, and for each number its place among these; ties break by number.
    _by_importance: Numbers
    _ranks: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, shelf: Shelf, named: Iterable[Numbers]) -> "Candidates":
        """Some documents of a shelf, in any order and as often as it comes, and their files."""
        is_one = np.zeros(len(shelf), dtype=np.bool_)
        is_one[np.concatenate([*named])] = True
        files = shelf.files(is_one.nonzero()[0])
        is_one[files[files >= 0]] = True
        numbers = is_one.nonzero()[0]
        places = np.empty(len(shelf), dtype=np.int32)
        places[numbers] = np.arange(len(numbers))
        files = shelf.files(numbers)
        importance, *others = shelf.gather(numbers, "importance", "is_test", "is_vendored", "only_reexports", "role")
        is_test, is_vendored, only_reexports, roles = others
        by_importance, ranks = _ranks_by_importance(shelf, numbers, importance)
        return cls(
            numbers=numbers,
            files=np.where(files >= 0, places[files], -1),
            importance=importance,
            is_test=is_test,
            is_vendored=is_vendored,
            only_reexports=only_reexports,
            roles=roles,
            _places=places,
            _by_importance=by_importance,
            _ranks=ranks,
        )

    def __len__(self) -> int:
        return len(self.numbers)

    def places(self, numbers: Numbers) -> Places:
        return self._places[numbers]

    def are_among(self, some: Numbers) -> Mask:
        are = np.zeros(len(self._places), dtype=np.bool_)
        are[some] = True
        return are[self.numbers]

    def rank_all(self, found: Mapping[K, ScoredDocuments], *, limit: int) -> dict[K, Ranking]:
        """At most `limit` of each ranking, best first; ties break by importance, then by number. All are sorted
        together, as numbers that hold the ranking, the score and the importance in their bits."""
        if not found:
            return {}
        counts = [len(each.numbers) for each in found.values()]
        numbers = np.concatenate([each.numbers for each in found.values()])
        scores = np.concatenate([each.scores for each in found.values()])
        ranking = np.repeat(np.arange(len(counts), dtype=np.uint64), counts)
        # The bits of floats above 0 are ordered as they are.
        falling = (_ALL_BITS - scores.view(np.uint32)).astype(np.uint64)
        ordered = ranking << _RANKING_AT | falling << _SCORE_AT | self._ranks[numbers]
        ordered.sort()
        places = self.places(self._by_importance[ordered & _RANK_BITS])
        scores = (_ALL_BITS - (ordered >> _SCORE_AT).astype(np.uint32)).view(np.float32).astype(np.float64)
        starts = [0, *accumulate(counts)]
        spans = [slice(start, start + min(count, limit)) for start, count in zip(starts, counts, strict=False)]
        return {key: Ranking(places[span], scores[span]) for key, span in zip(found, spans, strict=True)}

    def rank_files(self, found: ScoredDocuments, *, limit: int) -> Ranking:
        """At most `limit` files, best first; ties break by number."""
        order = (-found.scores).argsort(kind="stable")[:limit]
        return Ranking(self.places(found.numbers[order]), found.scores[order].astype(np.float64))


def _ranks_by_importance(shelf: Shelf, numbers: Numbers, importance: Scores) -> tuple[Numbers, npt.NDArray[np.uint64]]:
    """Numbers, most important first, and for each number its place among these: of these documents at least."""
    if len(shelf.indexes) == 1:
        return shelf.indexes[0].by_importance
    by_importance = numbers[(-importance).argsort(kind="stable")]
    ranks = np.empty(len(shelf), dtype=np.uint64)
    ranks[by_importance] = np.arange(len(by_importance), dtype=np.uint64)
    return by_importance, ranks
