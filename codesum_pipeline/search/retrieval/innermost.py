"""The innermost definitions around lines of a file."""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.weights import Numbers


def innermost_around(index: PublishedIndex, rows: Numbers, lines: Sequence[int]) -> list[int | None]:
    """Of some documents of a file, the smallest around each line, ascending, and of equal ones the first; None for a
    line outside of all. Documents without lines are around none."""
    rows = rows[index.shown.lines[rows].min(axis=1, initial=1) > 0]
    starts, ends = index.shown.lines[rows].T
    found: list[int | None] = [None] * len(lines)
    # The largest first, so that the smallest is written last.
    for at in np.lexsort((-rows, starts - ends)).tolist():
        first, last = bisect_left(lines, starts[at]), bisect_left(lines, ends[at] + 1)
        found[first:last] = [int(rows[at])] * (last - first)
    return found


def find_innermost(index: PublishedIndex, file: int, line: int, levels: Sequence[Level]) -> int | None:
    """The smallest document of these levels, other than the file, that has a line of it and may be a hit."""
    rows = (index.arrays["file_row"] == file).nonzero()[0]
    is_wanted = (rows != file) & np.isin(index.arrays["level"][rows], [LEVELS.index(level) for level in levels])
    if index.answering is not None:
        is_wanted &= index.answering[rows]
    return innermost_around(index, rows[is_wanted], [line])[0]
