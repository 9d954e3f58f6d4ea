"""Merge rankings from different lanes into one.

Ranks are merged, never raw scores: BM25 and cosine live on different scales,
so a sum would let one lane drown the other.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

R = TypeVar("R", bound=Hashable)
Numbers = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
NO_NUMBERS: Numbers = np.zeros(0, dtype=np.int64)
NO_SCORES: Scores = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Fused(Generic[R]):
    """Things by number, ascending, with their fused scores, and the rankings these were made from."""

    numbers: Numbers
    scores: Scores
    rankings: Mapping[R, Numbers]

    def ranks(self, number: int) -> dict[R, int]:
        """The rank, from 1, in each ranking that has this one."""
        found = {name: (ranking == number).nonzero()[0] for name, ranking in self.rankings.items()}
        return {name: int(places[0]) + 1 for name, places in found.items() if len(places)}

    def has(self, number: int) -> bool:
        """Whether any ranking has this one."""
        place = int(np.searchsorted(self.numbers, number))
        return place < len(self.numbers) and int(self.numbers[place]) == number

    def score_of(self, numbers: Numbers) -> Scores:
        """The scores of some, 0 for what no ranking has."""
        if not len(self.numbers):
            return np.zeros(len(numbers))
        places = np.minimum(self.numbers.searchsorted(numbers), len(self.numbers) - 1)
        return np.where(self.numbers[places] == numbers, self.scores[places], 0.0)


def are_among(numbers: Numbers, some: Numbers) -> npt.NDArray[np.bool_]:
    """Whether each number is one of some, which are sorted."""
    if not len(some):
        return np.zeros(len(numbers), dtype=np.bool_)
    are: npt.NDArray[np.bool_] = some[np.minimum(some.searchsorted(numbers), len(some) - 1)] == numbers
    return are


def distinct(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """The distinct ones of some numbers, ascending, and for each of all where it is among these.

    As `np.unique`, in less than half the time for the few hundred that a ranking has.
    """
    order, starts, groups = grouped(numbers)
    places = np.empty(len(numbers), dtype=np.int64)
    places[order] = groups
    return numbers[order[starts]], places


def grouped(numbers: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The order that brings equal numbers together, where in it each group starts, and the group of each place."""
    order = numbers.argsort(kind="stable")
    ordered = numbers[order]
    is_first = np.ones(len(ordered), dtype=np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return order, is_first.nonzero()[0], is_first.cumsum() - 1


def highest(scores: npt.NDArray[np.floating], limit: int) -> Numbers:
    """The places of the `limit` highest scores, and of those that are as good as the last of them; ascending."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    lowest = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    places: Numbers = (scores >= lowest).nonzero()[0]
    return places


def fuse_ranks(rankings: Mapping[R, Numbers], weights: Mapping[R, float], *, offset: float) -> Fused[R]:
    """Weighted reciprocal rank fusion: the sum of weight / (offset + rank) over the rankings that have a thing.

    Divided by what one would get that leads all rankings that are not empty,
    so that 1 is the best there is. A ranking names a thing once, best first.
    """
    spoken = {name: ranking for name, ranking in rankings.items() if len(ranking)}
    if not spoken:
        return Fused(NO_NUMBERS, NO_SCORES, rankings)
    numbers, places = distinct(np.concatenate(list(spoken.values())))
    shares = [weights[name] / (offset + 1 + np.arange(len(ranking))) for name, ranking in spoken.items()]
    best = math.fsum(weights[name] for name in spoken) / (offset + 1)
    scores = np.bincount(places, weights=np.concatenate(shares), minlength=len(numbers)) / best
    return Fused(numbers, scores, rankings)
