"""A file is found by all that stands in it.

Questions are about what several functions do together more often than about
one: a file with three good documents is more likely meant than a file with the
single best one. Each further document counts for less, or a long file would
win by its length.
"""

import numpy as np

from codesum_pipeline.retrieval.fusion import Numbers, Scores


def rank_files(files: Numbers, scores: Scores, *, decay: float) -> Numbers:
    """The files of some documents, best first; ties break by number.

    `files[k]` is the file of document k, -1 for one that stands in none.
    Documents come best first, and the n-th of a file adds its score times
    `decay` to the power of n - 1.
    """
    kept = files >= 0
    files, scores = files[kept], scores[kept]
    numbers, places = np.unique(files, return_inverse=True)
    sums = np.bincount(places, weights=scores * decay ** earlier_of_group(files), minlength=len(numbers))
    return numbers[np.argsort(-sums, kind="stable")]


def earlier_of_group(groups: Numbers) -> Numbers:
    """For each place, how many before it have the same value."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)])
    sizes = np.diff(np.append(starts, len(ordered)))
    earlier = np.empty(len(groups), dtype=np.int64)
    earlier[order] = np.arange(len(ordered)) - np.repeat(starts, sizes)
    return earlier
