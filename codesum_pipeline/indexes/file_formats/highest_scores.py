"""The highest of many scores, without sorting them."""

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Scores = npt.NDArray[np.floating]

# About so many scores are sampled, and of few scores one in so many.
_SAMPLED = 4096
_FEWEST_STRIDE = 16
# More than the share of the sample that is expected to be among the highest: a sample that was unlucky costs a second
# look at all.
_SPARE_SHARE = 1.5
_SPARE_MORE = 8


def find_highest(scores: Scores, limit: int) -> Numbers:
    """The places of the `limit` highest scores, and of those that are as good as the last of them; ascending."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    places: Numbers = (scores >= _nth_highest(scores, limit)).nonzero()[0]
    return places


def highest_above_zero(scores: Scores, limit: int) -> Numbers:
    """As `highest`, of the scores above 0."""
    guess = _guess(scores, limit) if len(scores) > limit else 0.0
    places: Numbers = (scores >= guess if guess > 0 else scores > 0).nonzero()[0]
    if len(places) < limit and guess > 0:
        places = (scores > 0).nonzero()[0]
    if len(places) <= limit:
        return places
    some = scores[places]
    return places[some >= _nth_highest(some, limit)]


def _guess(scores: Scores, limit: int) -> float:
    """A number that about `limit` scores, or a few more, are above; 0 if none is known."""
    stride = max(_FEWEST_STRIDE, len(scores) // _SAMPLED)
    sample = scores[::stride]
    spare = int(_SPARE_SHARE * limit / stride) + _SPARE_MORE
    return _nth_highest(sample, spare) if len(sample) > 2 * spare else 0.0


def _nth_highest(scores: Scores, number: int) -> float:
    place = len(scores) - number
    return float(np.partition(scores, place)[place])
