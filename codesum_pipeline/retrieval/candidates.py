"""What any ranking of a question names, numbered anew.

Rankings name a few thousand documents, however many there are. From here on a
document is a *place* among these, ascending by number, and what is known about
documents is arrays with one element for each place.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from codesum_pipeline.retrieval.filters import Mask
from codesum_pipeline.retrieval.fusion import Numbers, Places, Scores
from codesum_pipeline.retrieval.lanes import Found
from codesum_pipeline.retrieval.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Ranking:
    """Places, best first, with their scores."""

    places: Places
    scores: Scores


@dataclass(frozen=True, slots=True)
class Candidates:
    """Documents by number, and the files that they stand in.

    `files` are the places of these files: of a file itself, of a module -1.
    """

    numbers: Numbers
    files: Places
    importance: Scores
    is_test: Mask
    is_vendored: Mask
    # Of all documents; says something about candidates only.
    _places: npt.NDArray[np.int32]

    @classmethod
    def of(cls, shelf: Shelf, named: Iterable[Numbers]) -> "Candidates":
        """Some documents of a shelf, in any order and as often as it comes, and their files."""
        is_one = np.zeros(len(shelf), dtype=np.bool_)
        for some in named:
            is_one[some] = True
        files = shelf.files(is_one.nonzero()[0])
        is_one[files[files >= 0]] = True
        numbers = is_one.nonzero()[0]
        places = np.empty(len(shelf), dtype=np.int32)
        places[numbers] = np.arange(len(numbers))
        files = shelf.files(numbers)
        return cls(
            numbers=numbers,
            files=np.where(files >= 0, places[files], -1),
            importance=shelf.gather("importance", numbers),
            is_test=shelf.gather("is_test", numbers),
            is_vendored=shelf.gather("is_vendored", numbers),
            _places=places,
        )

    def __len__(self) -> int:
        return len(self.numbers)

    def places(self, numbers: Numbers) -> Places:
        """The places of some candidates, given by number."""
        return self._places[numbers]

    def are_among(self, some: Numbers) -> Mask:
        """Whether each candidate is one of some documents."""
        are = np.zeros(len(self._places), dtype=np.bool_)
        are[some] = True
        return are[self.numbers]

    def rank(self, found: Found, *, limit: int) -> Ranking:
        """At most `limit` of what was found, best first; ties break by importance, then by number."""
        places = self.places(found.numbers)
        order = np.lexsort((-self.importance[places], -found.scores))[:limit]
        return Ranking(places[order], found.scores[order])

    def rank_files(self, found: Found, *, limit: int) -> Ranking:
        """At most `limit` of what was found in files, best first; ties break by number."""
        order = (-found.scores).argsort(kind="stable")[:limit]
        return Ranking(self.places(found.numbers[order]), found.scores[order])
