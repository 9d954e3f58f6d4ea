"""The documents that any ranking of a question names, numbered anew.

Rankings name a few thousand documents, however many an index has. From here on a document is a *place* among these,
ascending by number, and facts about documents are arrays with one element for each place.
"""

from collections.abc import Hashable, Iterable, Mapping
from itertools import accumulate
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.retrieval.filters import Mask
from codesum_pipeline.retrieval.fusion import Numbers, Places, Ranking, Scores
from codesum_pipeline.retrieval.lookup import ScoredDocuments
from codesum_pipeline.retrieval.shelf import Shelf

K = TypeVar("K", bound=Hashable)
# The bits of the numbers that `rank_all` sorts: eight for the ranking, 32 for the score, 24 for the importance.
_RANKING_AT, _SCORE_AT = np.uint64(56), np.uint64(24)
_RANK_BITS = np.uint64((1 << 24) - 1)
_ALL_BITS = np.uint32(0xFFFFFFFF)


class Candidates(Struct, frozen=True):
    """Documents by number, and the files that they stand in.

    `files` are the places of these files: of a file itself, of a module -1.
    """

    numbers: Numbers
    files: Places
    importance: Scores
    is_test: Mask
    is_vendored: Mask
    only_reexports: Mask
    # Positions in `ROLES`.
    roles: Places
    # The place of each document; defined for candidates only.
    _places: npt.NDArray[np.int32]
    # Numbers, most important first, and for each number its place among these; ties break by number.
    _by_importance: Numbers
    _ranks: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, shelf: Shelf, named: Iterable[Numbers]) -> "Candidates":
        """Some documents of a shelf, in any order and as often as it comes, and their files."""
        is_one = np.zeros(len(shelf), dtype=np.bool_)
        is_one[np.concatenate([*named])] = True
        files = shelf.files(is_one.nonzero()[0])
        is_one[files[files >= 0]] = True
        numbers = is_one.nonzero()[0]
        places = np.empty(len(shelf), dtype=np.int32)
        places[numbers] = np.arange(len(numbers))
        files = shelf.files(numbers)
        importance, *others = shelf.gather(numbers, "importance", "is_test", "is_vendored", "only_reexports", "role")
        is_test, is_vendored, only_reexports, roles = others
        by_importance, ranks = _ranks_by_importance(shelf, numbers, importance)
        return cls(
            numbers=numbers,
            files=np.where(files >= 0, places[files], -1),
            importance=importance,
            is_test=is_test,
            is_vendored=is_vendored,
            only_reexports=only_reexports,
            roles=roles,
            _places=places,
            _by_importance=by_importance,
            _ranks=ranks,
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

    def rank_all(self, found: Mapping[K, ScoredDocuments], *, limit: int) -> dict[K, Ranking]:
        """At most `limit` of each ranking, best first; ties break by importance, then by number.

        All are sorted together, as numbers that hold the ranking, the score and the importance in their bits.
        """
        if not found:
            return {}
        counts = [len(each.numbers) for each in found.values()]
        numbers = np.concatenate([each.numbers for each in found.values()])
        scores = np.concatenate([each.scores for each in found.values()])
        ranking = np.repeat(np.arange(len(counts), dtype=np.uint64), counts)
        # The bits of floats above 0 are ordered as they are.
        falling = (_ALL_BITS - scores.view(np.uint32)).astype(np.uint64)
        ordered = ranking << _RANKING_AT | falling << _SCORE_AT | self._ranks[numbers]
        ordered.sort()
        places = self.places(self._by_importance[ordered & _RANK_BITS])
        scores = (_ALL_BITS - (ordered >> _SCORE_AT).astype(np.uint32)).view(np.float32).astype(np.float64)
        starts = [0, *accumulate(counts)]
        spans = [slice(start, start + min(count, limit)) for start, count in zip(starts, counts, strict=False)]
        return {key: Ranking(places[span], scores[span]) for key, span in zip(found, spans, strict=True)}

    def rank_files(self, found: ScoredDocuments, *, limit: int) -> Ranking:
        """At most `limit` files, best first; ties break by number."""
        order = (-found.scores).argsort(kind="stable")[:limit]
        return Ranking(self.places(found.numbers[order]), found.scores[order].astype(np.float64))


def _ranks_by_importance(shelf: Shelf, numbers: Numbers, importance: Scores) -> tuple[Numbers, npt.NDArray[np.uint64]]:
    """Numbers, most important first, and for each number its place among these: of these documents at least."""
    if len(shelf.indexes) == 1:
        return shelf.indexes[0].by_importance
    by_importance = numbers[(-importance).argsort(kind="stable")]
    ranks = np.empty(len(shelf), dtype=np.uint64)
    ranks[by_importance] = np.arange(len(by_importance), dtype=np.uint64)
    return by_importance, ranks
