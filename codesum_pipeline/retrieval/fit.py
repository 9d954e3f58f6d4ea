"""Whether the best documents have to do with a question at all: a search always has a best one.

Three things tell questions that an index answers from those of another repository: how near the best documents are in
meaning, how much of the question's words, the rare ones before all, one passage has, and how many documents there are,
since among many one is near by chance. See benchmarks/results/fit.md for where the numbers come from.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.bm25 import Bm25Index
from codesum_pipeline.indexes.highest import highest_above_zero

# The best of meaning are looked at together: one alone may be near by chance.
NEAREST = 5
# The passages whose words are counted.
_BEST_PASSAGES = 10
_NONE: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class FitRule:
    """A question fits where the sum of the three, each with its weight, is at least `least`."""

    nearness: float = 1.0
    words: float = 0.25
    documents: float = -0.04
    least: float = 0.25


DEFAULT_FIT = FitRule()


@dataclass(frozen=True, slots=True)
class Likeness:
    """`nearness` is the mean cosine of the nearest documents, `words` the share of the question's words, each as heavy
    as it is rare, that one passage or document has, `documents` how many there are."""

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


def share_of_words(index: Bm25Index, tokens: Sequence[str], scores: npt.NDArray[np.floating]) -> float:
    """The largest share of a question's words that one of the documents with the highest scores has.

    A word is as heavy as it is rare; one that no document has is the heaviest.
    """
    distinct = list(dict.fromkeys(tokens))
    rows = highest_above_zero(scores, _BEST_PASSAGES)
    if not distinct or not len(rows):
        return 0.0
    total, shares = 0.0, np.zeros(len(rows))
    for column in index.vocabulary.find_all(distinct):
        having = _NONE if column is None else index.indices[slice(*index.indptr[column : column + 2].tolist())]
        weight = math.log1p(index.documents / (len(having) + 0.5))
        total += weight
        shares += weight * np.isin(rows, having, assume_unique=True)
    return float(shares.max()) / total
