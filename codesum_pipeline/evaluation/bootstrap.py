"""How far a mean over questions can be trusted: percentile intervals by resampling the questions.

Two ways of asking are compared in pairs, question by question: the difficulty of each question then cancels out, and a
difference shows that the two means alone would hide. (Efron and Tibshirani 1993, chapter 13; for search, Sakai 2006.)
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from msgspec import Struct

# The same questions give the same interval.
_SEED = 20_260_101
# The most numbers in memory at once, of 8 bytes each.
_HELD = 5_000_000

Numbers = npt.NDArray[np.float64]


class Interval(Struct, frozen=True):
    """A mean, and the bounds within which it would mostly lie for other questions like these."""

    mean: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether a difference is distinguishable from none."""
        return self.low > 0 or self.high < 0


def interval(values: Sequence[float], *, samples: int = 10_000, confidence: float = 0.95) -> Interval:
    """The interval of the mean; raises `ValueError` where there is no value."""
    if not len(values):
        raise ValueError("the mean of no values")
    array = np.asarray(values, dtype=np.float64)
    mean = float(array.mean())
    if np.all(array == array[0]):
        return Interval(mean, mean, mean)
    tail = (1 - confidence) / 2
    low, high = np.quantile(_resampled_means(array, samples), [tail, 1 - tail])
    return Interval(mean, float(low), float(high))


def paired_interval(
    a: Sequence[float], b: Sequence[float], *, samples: int = 10_000, confidence: float = 0.95
) -> Interval:
    """The interval of mean(b - a), where a[k] and b[k] are of the same question."""
    if len(a) != len(b):
        raise ValueError(f"{len(a)} values against {len(b)}: a pair needs both")
    differences = np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64)
    return interval(differences.tolist(), samples=samples, confidence=confidence)


def _resampled_means(values: Numbers, samples: int) -> Numbers:
    """The mean of each of `samples` draws, with replacement, of as many values as there are."""
    rows = max(1, _HELD // len(values))
    means = [
        _times_drawn(len(values), min(rows, samples - start), start) @ values / len(values)
        for start in range(0, samples, rows)
    ]
    # Further digits of a sum depend on the machine.
    return np.concatenate(means).round(12)


@lru_cache(maxsize=1)
def _times_drawn(count: int, draws: int, seed: int) -> Numbers:
    """For each draw and each of `count` values, how often it was drawn: the measures of the same questions share it."""
    places = np.random.default_rng((_SEED, seed)).integers(0, count, size=(draws, count))
    places += np.arange(0, draws * count, count)[:, None]
    return np.bincount(places.ravel(), minlength=draws * count).reshape(draws, count).astype(np.float64)
