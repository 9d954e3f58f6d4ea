"""The documents of several indexes as if they were one's."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate

import numpy as np

from codesum_pipeline.indexes.stored_zip import Array
from codesum_pipeline.retrieval.filters import ANYTHING, Filters, Mask, allowed_rows
from codesum_pipeline.retrieval.fusion import Numbers
from codesum_pipeline.retrieval.pointers import Pointer, rows_pointed_to
from codesum_pipeline.retrieval.reader import IndexedDocument, PublishedIndex


class Shelf:
    """The documents of several indexes, numbered through index after index, row after row, and which of them pass the
    filters."""

    def __init__(self, indexes: Sequence[PublishedIndex], filters: Filters = ANYTHING) -> None:
        self.indexes = indexes
        self.filters = filters
        # Whether each document passes the filters, by index and of all; None where all do.
        self.allowed = [allowed_rows(index, filters) for index in indexes]
        self.is_allowed = _joined_masks(indexes, self.allowed)
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

    def files_named_within(self, words: Collection[str]) -> Numbers:
        """The files whose names consist of some of these words; ascending."""
        named = [index.file_names.within(words) + start for index, start in self.with_starts()]
        return joined(named)

    def pointed(self, pointers: Sequence[Pointer]) -> Numbers:
        """The documents that pointers mean; ascending."""
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

        With the starts of passages or vectors, places and rows are those of passages or vectors.
        """
        if len(self.indexes) == 1 or not len(places):
            yield self.indexes[0], 0, places
            return
        starts = starts or self.starts
        ends = places.searchsorted(starts).tolist()
        for (index, number), start, first, last in zip(self.with_starts(), starts, ends[:-1], ends[1:], strict=False):
            if first < last:
                yield index, number, places[first:last] - start


def _joined_masks(indexes: Sequence[PublishedIndex], masks: Sequence[Mask | None]) -> Mask | None:
    if all(mask is None for mask in masks):
        return None
    every = (np.ones(len(index), dtype=np.bool_) for index in indexes)
    return joined([all_rows if mask is None else mask for all_rows, mask in zip(every, masks, strict=True)])


def joined(parts: Sequence[Array]) -> Array:
    """One or more arrays one behind the other; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
