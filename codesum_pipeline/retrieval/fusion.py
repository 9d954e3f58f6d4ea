"""Merge rankings from different lanes into one, and documents into evidence for their files.

Half of a ranking's contribution is by rank (Cormack et al., 2009), half by score (Bruch et al., 2023): ranks are robust
against outliers, scores show how far one document leads. BM25 and cosine live on different scales, so scores are taken
as shares of the best of their ranking.

A file is found by all documents in it, since questions are more often about several functions together than about one:
a file with three good documents is more likely meant than a file with the single best one. Each further document counts
for less, or a long file would win by its length.
"""

import math
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

R = TypeVar("R", bound=Hashable)
Numbers = npt.NDArray[np.int64]
# Positions among a question's candidates.
Places = npt.NDArray[np.integer]
Scores = npt.NDArray[np.float64]
NO_NUMBERS: Numbers = np.zeros(0, dtype=np.int64)
NO_SCORES: Scores = np.zeros(0)


class Ranking(Struct, frozen=True):
    """Places, best first, with their scores."""

    places: Places
    scores: Scores


class ScoredDocuments(Struct, frozen=True):
    """Documents by number, ascending, with their scores."""

    numbers: Numbers
    scores: npt.NDArray[np.float32]


NOTHING = ScoredDocuments(NO_NUMBERS, NO_SCORES.astype(np.float32))


class FusedRanking(Struct, Generic[R], frozen=True):
    """A score for every place, 0 for what no ranking has, and the rankings these were made from."""

    scores: Scores
    names: tuple[R, ...]
    # All rankings one behind the other, and where each begins.
    _ranked: Places
    _starts: tuple[int, ...]

    @property
    def ranked(self) -> Places:
        """What any ranking has, ascending."""
        return self.scores.nonzero()[0]

    def ranks_of(self, places: Iterable[int]) -> dict[int, dict[R, int]]:
        """For each of some places the rank, from 1, in each ranking that has it."""
        ranks: dict[int, dict[R, int]] = {place: {} for place in places}
        is_asked = np.zeros(len(self.scores), dtype=np.bool_)
        is_asked[[*ranks]] = True
        found = is_asked[self._ranked].nonzero()[0]
        for position, place in zip(found.tolist(), self._ranked[found].tolist(), strict=True):
            ranking = bisect_right(self._starts, position) - 1
            ranks[place][self.names[ranking]] = 1 + position - self._starts[ranking]
        return ranks


def fuse(
    rankings: Mapping[R, Ranking], weights: Mapping[R, float], *, offset: float, limit: int, count: int
) -> FusedRanking[R]:
    """Weighted fusion of `count` places: half the sum of weight / (offset + rank) over the rankings that have a place,
    and half of the weighted shares of the best scores. Divided by the sum of a place that leads all rankings that are
    not empty, so that 1 is the best there is. A ranking names a place once, best first; one of `limit` places was cut
    off, and its last score counts as nothing."""
    filled = {name: ranking for name, ranking in rankings.items() if len(ranking.places)}
    if not filled:
        return FusedRanking(np.zeros(count), (), NO_NUMBERS, ())
    ranked = np.concatenate([each.places for each in filled.values()])
    shares = np.concatenate(
        [
            weights[name] / 2 * (falling_ranks(len(each.places), offset) + _shares_of_best(each.scores, limit))
            for name, each in filled.items()
        ]
    )
    best = math.fsum(weights[name] for name in filled)
    scores = np.bincount(ranked, weights=shares, minlength=count) / best
    return FusedRanking(scores, tuple(filled), ranked, (0, *accumulate(len(each.places) for each in filled.values())))


@lru_cache(maxsize=64)
def falling_ranks(count: int, offset: float) -> Scores:
    """The worth of the first, second, ... place of one ranking: 1, and less."""
    shares: Scores = np.divide(offset + 1, offset + 1 + np.arange(count), dtype=np.float64)
    return shares


def _shares_of_best(scores: Scores, limit: int) -> Scores:
    """The scores of a ranking as shares of its best, which is above 0."""
    nothing = scores[-1] if len(scores) >= limit else 0.0
    lead = scores[0] - nothing
    return (scores - nothing) / lead if lead > 0 else np.ones(len(scores))


def distinct(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """The distinct ones of some numbers, ascending, and for each of all where it is among these. As `np.unique`, in
    less than half the time for the few hundred that a ranking has."""
    order, starts, groups = grouped(numbers)
    places = np.empty(len(numbers), dtype=np.int64)
    places[order] = groups
    return numbers[order[starts]], places


def _are_small(numbers: Places) -> bool:
    return len(numbers) > 0 and int(numbers.max()) < 1 << 16 and int(numbers.min()) >= 0


def grouped(numbers: Places) -> tuple[Numbers, Numbers, Numbers]:
    """The order that brings equal numbers together, where in it each group starts, and the group of each place."""
    # Of small numbers, numpy counts the digits, which is faster than to compare.
    order = (numbers.astype(np.uint16) if _are_small(numbers) else numbers).argsort(kind="stable")
    return order, *runs(numbers[order])


def runs(numbers: Places) -> tuple[Numbers, Numbers]:
    """Where each run of equal numbers starts, and the run of each place."""
    is_first = np.ones(len(numbers), dtype=np.bool_)
    is_first[1:] = numbers[1:] != numbers[:-1]
    return is_first.nonzero()[0], is_first.cumsum() - 1


def sums_by_file(
    files: Sequence[Places], scores: Sequence[Scores], decays: Sequence[float], *, count: int
) -> list[Scores]:
    """The sum of the documents' scores, for each of some rankings and each of `count` files. `files[r][k]` is the file
    of document k of ranking r, or -1. Documents come best first, and the n-th of a file adds its score times
    `decays[r]` to the power of n - 1."""
    all_files, all_scores = np.concatenate(files), np.concatenate(scores)
    ranking = np.arange(len(files)).repeat([*map(len, files)])
    kept = all_files >= 0
    if not kept.all():
        all_files, all_scores, ranking = all_files[kept], all_scores[kept], ranking[kept]
    # Each file has a key of its own in each ranking.
    keys = ranking * count + all_files
    earlier = earlier_of_group(keys)
    powers = np.power.outer(decays, np.arange(int(earlier.max(initial=0)) + 1))
    sums = np.bincount(keys, weights=all_scores * powers[ranking, earlier], minlength=len(files) * count)
    return [*sums.astype(np.float64).reshape(len(files), count)]


def highest_sums(sums: Scores) -> Ranking:
    """The places with a sum, best first; ties break by place."""
    places = sums.nonzero()[0]
    best_first = places[(-sums[places]).argsort(kind="stable")]
    return Ranking(best_first, sums[best_first])


def falling(factor: float, earlier: Numbers) -> Scores:
    """A factor to the power of each number; numbers are small, so each power is computed once."""
    powers: Scores = np.power(factor, np.arange(int(earlier.max(initial=0)) + 1), dtype=np.float64)
    return powers[earlier]


def earlier_of_group(groups: Places) -> Numbers:
    """For each place, how many before it have the same value."""
    order, starts, places = grouped(groups)
    earlier = np.empty(len(groups), dtype=np.int64)
    earlier[order] = np.arange(len(order)) - starts[places]
    return earlier
