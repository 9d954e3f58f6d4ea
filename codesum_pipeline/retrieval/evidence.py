"""A file is found by all that stands in it.

Questions are about what several functions do together more often than about
one: a file with three good documents is more likely meant than a file with the
single best one. Each further document counts for less, or a long file would
win by its length.
"""

from collections.abc import Sequence

import numpy as np

from codesum_pipeline.retrieval.fusion import Numbers, Places, Ranking, Scores, grouped


def sums_by_file(
    files: Sequence[Places], scores: Sequence[Scores], decays: Sequence[float], *, count: int
) -> list[Scores]:
    """For each of some rankings of documents and each of `count` places, what its documents add up to.

    `files[r][k]` is the file of document k of ranking r, -1 for one that stands in none. Documents come best first, and
    the n-th of a file adds its score times `decays[r]` to the power of n - 1.
    """
    all_files, all_scores = np.concatenate(files), np.concatenate(scores)
    ranking = np.arange(len(files)).repeat([*map(len, files)])
    kept = all_files >= 0
    if not kept.all():
        all_files, all_scores, ranking = all_files[kept], all_scores[kept], ranking[kept]
    # A file of one ranking is another than the same file of the next.
    keys = ranking * count + all_files
    earlier = earlier_of_group(keys)
    powers = np.power.outer(decays, np.arange(int(earlier.max(initial=0)) + 1))
    sums = np.bincount(keys, weights=all_scores * powers[ranking, earlier], minlength=len(files) * count)
    return [*sums.astype(np.float64).reshape(len(files), count)]


def highest_sums(sums: Scores) -> Ranking:
    """The places with something, best first; ties break by place."""
    places = sums.nonzero()[0]
    best_first = places[(-sums[places]).argsort(kind="stable")]
    return Ranking(best_first, sums[best_first])


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
