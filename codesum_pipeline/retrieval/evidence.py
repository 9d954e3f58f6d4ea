"""A file is found by all that stands in it.

Questions are about what several functions do together more often than about
one: a file with three good documents is more likely meant than a file with the
single best one. Each further document counts for less, or a long file would
win by its length.
"""

import numpy as np

from codesum_pipeline.retrieval.fusion import Numbers, Places, Scores, grouped


def rank_files(files: Places, scores: Scores, *, decay: float) -> Places:
    """The files of some documents, best first; ties break by place.

    `files[k]` is the file of document k, -1 for one that stands in none.
    Documents come best first, and the n-th of a file adds its score times
    `decay` to the power of n - 1.
    """
    kept = files >= 0
    files, scores = files[kept], scores[kept]
    order, starts, groups = grouped(files)
    earlier = np.arange(len(order)) - starts[groups]
    sums = np.bincount(groups, weights=scores[order] * falling(decay, earlier), minlength=len(starts))
    return files[order[starts]][np.argsort(-sums, kind="stable")]


def falling(factor: float, earlier: Numbers) -> Scores:
    """A factor to the power of each number, which are small: each power is worked out once."""
    powers: Scores = np.power(factor, np.arange(int(earlier.max(initial=0)) + 1), dtype=np.float64)
    return powers[earlier]


def earlier_of_group(groups: Places) -> Numbers:
    """For each place, how many before it have the same value."""
    order, starts, places = grouped(groups)
    earlier = np.empty(len(groups), dtype=np.int64)
    earlier[order] = np.arange(len(order)) - starts[places]
    return earlier
