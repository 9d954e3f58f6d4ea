"""Merge rankings from different lanes into one.

Half of what a ranking gives is by rank (Cormack et al., 2009), half by score
(Bruch et al., 2023): ranks know no outliers, scores know how far one leads.
BM25 and cosine live on different scales, so scores are taken as shares of the
best of their ranking.
"""

import math
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

R = TypeVar("R", bound=Hashable)
Numbers = npt.NDArray[np.int64]
# Positions among the candidates of a question.
Places = npt.NDArray[np.integer]
Scores = npt.NDArray[np.float64]
NO_NUMBERS: Numbers = np.zeros(0, dtype=np.int64)
NO_SCORES: Scores = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Places, best first, with their scores."""

    places: Places
    scores: Scores


@dataclass(frozen=True, slots=True)
class FusedRanking(Generic[R]):
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
    and half of the weighted shares of the best scores.

    Divided by what one would get that leads all rankings that are not empty,
    so that 1 is the best there is. A ranking names a place once, best first;
    one of `limit` places was cut off, and its last score counts as nothing.
    """
    spoken = {name: ranking for name, ranking in rankings.items() if len(ranking.places)}
    if not spoken:
        return FusedRanking(np.zeros(count), (), NO_NUMBERS, ())
    ranked = np.concatenate([each.places for each in spoken.values()])
    shares = np.concatenate(
        [
            weights[name] / 2 * (falling_ranks(len(each.places), offset) + _shares_of_best(each.scores, limit))
            for name, each in spoken.items()
        ]
    )
    best = math.fsum(weights[name] for name in spoken)
    scores = np.bincount(ranked, weights=shares, minlength=count) / best
    return FusedRanking(scores, tuple(spoken), ranked, (0, *accumulate(len(each.places) for each in spoken.values())))


@lru_cache(maxsize=64)
def falling_ranks(count: int, offset: float) -> Scores:
    """What the first, second, ... of one ranking are worth: 1, and less."""
    shares: Scores = np.divide(offset + 1, offset + 1 + np.arange(count), dtype=np.float64)
    return shares


def _shares_of_best(scores: Scores, limit: int) -> Scores:
    """The scores of a ranking as shares of its best, which is above 0."""
    nothing = scores[-1] if len(scores) >= limit else 0.0
    lead = scores[0] - nothing
    return (scores - nothing) / lead if lead > 0 else np.ones(len(scores))


def distinct(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """The distinct ones of some numbers, ascending, and for each of all where it is among these.

    As `np.unique`, in less than half the time for the few hundred that a ranking has.
    """
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
