"""What a function calls says what it is about.

Where several functions do together what is asked, the one that calls them is
part of the answer, though it says little of it itself. So each of the best
shares some of its score out among those that call it: of a helper that is
called from everywhere each gets next to nothing. A caller stays behind what it
calls, which is the better answer where one function is meant.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from codesum_pipeline.indexes.highest import highest
from codesum_pipeline.retrieval.fusion import NO_NUMBERS, Numbers, Places, Scores
from codesum_pipeline.retrieval.shelf import Shelf
from codesum_pipeline.retrieval.weights import Weights


@dataclass(frozen=True)
class RaisedScores:
    """Scores of some functions and classes, and the calls that raised some of them: who calls and who is called, as
    places among them."""

    scores: Scores
    callers: Places
    called: Places

    @classmethod
    def nothing(cls, scores: Scores) -> "RaisedScores":
        """The scores as they are."""
        return cls(scores, NO_NUMBERS, NO_NUMBERS)

    @cached_property
    def _are_raised(self) -> frozenset[int]:
        return frozenset(self.callers.tolist())

    def called_by(self, place: int) -> list[int]:
        """What raised one of them, best first; nothing for one that was not raised."""
        if place not in self._are_raised:
            return []
        called = self.called[self.callers == place]
        places: list[int] = called[np.argsort(-self.scores[called], kind="stable")].tolist()
        return places


def raise_callers(shelf: Shelf, numbers: Numbers, scores: Scores, *, factors: Scores, weights: Weights) -> RaisedScores:
    """Raise those of some functions and classes, ascending by number, that call the best of them.

    What a caller is given is lowered by its factor, as its own score was.
    """
    best = highest(scores, weights.sharing)
    counts, found = shelf.callers(numbers[best])
    places = numbers.searchsorted(found)
    is_ranked = numbers.take(places, mode="clip") == found
    callers, called = places[is_ranked], np.repeat(best, counts)[is_ranked]
    shares = np.repeat(scores[best] / np.maximum(counts, 1), counts)[is_ranked]
    given = weights.caller_share * np.bincount(callers, weights=shares, minlength=len(scores))
    limits = np.zeros(len(scores))
    np.maximum.at(limits, callers, weights.caller_factor * scores[called])
    raised = np.minimum(scores + given * factors, limits)
    is_raised = raised > scores
    counted = is_raised[callers]
    return RaisedScores(np.where(is_raised, raised, scores), callers[counted], called[counted])
