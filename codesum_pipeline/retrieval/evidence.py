"""A file is found by all that stands in it.

Questions are about what several functions do together more often than about
one: a file with three good documents is more likely meant than a file with the
single best one. Each further document counts for less, or a long file would
win by its length.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from codesum_pipeline.retrieval.fusion import Numbers, Places, Ranking, Scores, grouped


def rank_files(files: Sequence[Places], scores: Sequence[Scores], *, decay: float) -> list[Ranking]:
    """For each of some rankings of documents the files of these with their sums, best first; ties break by place.

    `files[r][k]` is the file of document k of ranking r, -1 for one that stands in none. Documents come best first, and
    the n-th of a file adds its score times `decay` to the power of n - 1.
    """
    all_files, all_scores = np.concatenate(files), np.concatenate(scores)
    ranking = np.repeat(np.arange(len(files)), [*map(len, files)])
    kept = all_files >= 0
    if not kept.all():
        all_files, all_scores, ranking = all_files[kept], all_scores[kept], ranking[kept]
    # A file of one ranking is another than the same file of the next.
    most = int(all_files.max(initial=0)) + 1
    order, starts, groups = grouped(ranking * most + all_files)
    earlier = np.arange(len(order)) - starts[groups]
    sums = np.bincount(groups, weights=all_scores[order] * falling(decay, earlier), minlength=len(starts))
    firsts = order[starts]
    bounds = ranking[firsts].searchsorted(np.arange(len(files) + 1)).tolist()
    ranked = all_files[firsts]
    return [_best_first(ranked[start:end], sums[start:end]) for start, end in pairwise(bounds)]


def _best_first(places: Places, scores: Scores) -> Ranking:
    order = (-scores).argsort(kind="stable")
    return Ranking(places[order], scores[order])


def sum_by_file(files: Places, scores: Scores, *, decay: float, count: int) -> Scores:
    """For each of `count` places, the decayed sum of the scores of the documents in it, as `rank_files` adds them."""
    kept = files >= 0
    files, scores = files[kept], scores[kept]
    best_first = np.argsort(-scores, kind="stable")
    files, scores = files[best_first], scores[best_first]
    shares = scores * falling(decay, earlier_of_group(files))
    return np.bincount(files, weights=shares, minlength=count).astype(np.float64)


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
