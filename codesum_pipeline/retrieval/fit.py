"""Whether the best documents have to do with a question at all: a search always has a best one.

Three facts tell the questions that an index answers from those about another repository: how near the best documents
are in meaning; how much of the question's words, mainly the rare ones, one passage has; and how many documents there
are, since among many one is near by chance. The numbers come from benchmarks/results/fit.md.
"""

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from msgspec import Struct

# The nearest documents count together: one alone may be near by chance.
NEAREST = 5


class FitRule(Struct, frozen=True):
    """A question fits where the weighted sum of the three facts is at least `least`."""

    nearness: float = 1.0
    words: float = 0.25
    documents: float = -0.04
    least: float = 0.25


DEFAULT_FIT = FitRule()


class Likeness(Struct, frozen=True):
    """`nearness` is the mean cosine of the nearest documents, `words` the share of the question's words, each as heavy
    as it is rare, that one passage has, `documents` how many there are."""

    nearness: float
    words: float
    documents: int

    def fits(self, rule: FitRule = DEFAULT_FIT) -> bool:
        return self.score(rule) >= rule.least

    def score(self, rule: FitRule = DEFAULT_FIT) -> float:
        return (
            rule.nearness * self.nearness + rule.words * self.words + rule.documents * math.log(max(1, self.documents))
        )


def mean_of_nearest(scores: Iterable[npt.NDArray[np.floating]]) -> float:
    """The mean of the highest of several arrays of cosines."""
    found = np.sort(np.concatenate([np.zeros(0), *scores]))[-NEAREST:]
    return float(found.mean()) if len(found) else 0.0
