"""The documents of several indexes as if they were one's."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate

import numpy as np

from codesum_pipeline.indexes.stored_zip import Array
from codesum_pipeline.model.documents import Level
from codesum_pipeline.retrieval.filters import ANYTHING, Filters, allowed_rows
from codesum_pipeline.retrieval.fusion import Numbers
from codesum_pipeline.retrieval.reader import PublishedIndex


class Shelf:
    """The documents of several indexes, numbered through: index after index, row after row; and which are asked for."""

    def __init__(self, indexes: Sequence[PublishedIndex], filters: Filters = ANYTHING) -> None:
        self.indexes = indexes
        self.filters = filters
        self.allowed = [allowed_rows(index, filters) for index in indexes]
        # The number of the first document of each index, and behind them how many there are.
        self.starts = [0, *accumulate(map(len, indexes))]

    def __len__(self) -> int:
        return self.starts[-1]

    def locate(self, number: int) -> tuple[PublishedIndex, int]:
        """The index and the row of a document."""
        position = bisect_right(self.starts, number) - 1
        return self.indexes[position], number - self.starts[position]

    def id(self, number: int) -> str:
        """The id of a document."""
        index, row = self.locate(number)
        return index.ids[row]

    def gather(self, name: str, numbers: Numbers) -> Array:
        """One of the arrays of the documents, for some of them, given in ascending order."""
        return joined([index.arrays[name][rows] for index, _, rows in self._split(numbers)])

    def files(self, numbers: Numbers) -> Numbers:
        """The file that each of some documents stands in, itself for a file, -1 for a module; ascending as `gather`."""
        found = []
        for index, start, rows in self._split(numbers):
            file_rows = index.arrays["file_row"][rows]
            found.append(np.where(file_rows >= 0, file_rows.astype(np.int64) + start, -1))
        return joined(found)

    def callers(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """How many callers each of some functions and classes has, and those of all, one after the other; ascending
        as `gather`."""
        counts, found = [], []
        for index, start, rows in self._split(numbers):
            count, callers = index.callers.of(rows)
            counts.append(count)
            found.append(callers.astype(np.int64) + start)
        return joined(counts), joined(found)

    def files_named_within(self, words: Collection[str]) -> Numbers:
        """The files whose names consist of some of these words; ascending."""
        named = [index.file_names.within(words) + start for index, start in self.with_starts()]
        return joined(named)

    def called(self, names: Sequence[str], level: Level) -> Numbers:
        """The documents of a level that are called by one of these names, in any case; ascending."""
        found = {
            start + row
            for index, start in self.with_starts()
            for row in index.names.exactly_any(names)
            if index.level_of(row) == level
        }
        return np.array(sorted(found), dtype=np.int64)

    def with_starts(self) -> Iterator[tuple[PublishedIndex, int]]:
        """Each index and the number of its first document."""
        return zip(self.indexes, self.starts, strict=False)

    def _split(self, numbers: Numbers) -> Iterator[tuple[PublishedIndex, int, Numbers]]:
        """Each index that some documents are of, the number of its first one, and their rows; at least one index."""
        if len(self.indexes) == 1 or not len(numbers):
            yield self.indexes[0], 0, numbers
            return
        ends = numbers.searchsorted(self.starts).tolist()
        for (index, start), first, last in zip(self.with_starts(), ends[:-1], ends[1:], strict=True):
            if first < last:
                yield index, start, numbers[first:last] - start


def joined(parts: Sequence[Array]) -> Array:
    """Arrays one behind the other, at least one; nothing is copied of a single one."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
