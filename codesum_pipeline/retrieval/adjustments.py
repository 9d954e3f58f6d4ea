"""What changes scores after the rankings: names in the question, roles of files, and calls.

A name in the question raises what is called so, by the share of the question that its words make up, each as heavy as
it is rare: "how does the job queue retry" says `job`, as half the code of a job queue does; "what is a redirect" says
`redirect` and little else.

Tests, copies of others' code and texts around the code are lowered unless the question asks for them.

A caller is raised by what it calls. Where several functions do together what the question asks for, the function that
calls them is part of the answer, though its own text says little of it. So each of the best functions shares out some
of its score among its callers; of a helper that is called from everywhere each caller gets next to nothing. A caller
stays behind what it calls, which is the better answer where the question means one function.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np
from msgspec import Struct

from codesum_pipeline.indexes.nearest import highest
from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.retrieval.candidates import Candidates
from codesum_pipeline.retrieval.document_query import DocumentQuery
from codesum_pipeline.retrieval.filters import Mask, WhichTests
from codesum_pipeline.retrieval.fusion import NO_NUMBERS, Numbers, Places, Scores
from codesum_pipeline.retrieval.lookup import Lookup
from codesum_pipeline.retrieval.query import Query
from codesum_pipeline.retrieval.shelf import Shelf
from codesum_pipeline.retrieval.weights import Weights
from codesum_pipeline.source.roles import ROLES, FileRole

# A coincidence of words counts fully where chance makes it once in e to the power of this.
_NO_ACCIDENT = 20.0


class NameShares(Struct, frozen=True):
    """The share of a question that each of its words makes up: `typed` has the typed words, 1 in all; `words` also has
    neighbouring words joined to one name.

    `weight` is the negative logarithm of how often all of them stand in one of `count` texts by chance.
    """

    typed: Mapping[str, float]
    words: Mapping[str, float]
    weight: float
    count: int

    @classmethod
    def of(cls, lookup: Lookup, query: Query) -> "NameShares":
        """Weigh a question's words by how few of the passages and documents have them."""
        having, count = lookup.documents_with(), lookup.texts_of_code
        weights = {
            word: math.log1p((count - some + 0.5) / (some + 0.5))
            for word in sorted(query.words)
            for some in [having[word]]
        }
        typed = [*dict.fromkeys(query.tokens)]
        total = sum(weights[word] for word in typed)
        words = {word: weight / total for word, weight in weights.items()} if total else {}
        return cls({word: words[word] for word in typed}, words, total, count)

    def of_names(self, names: Iterable[str]) -> list[float]:
        """The share of each name, 1 at most."""
        return [min(1.0, sum(self.words.get(word, 0.0) for word in {*tokenize(name)})) for name in names]

    def certainty(self, shares: Scores) -> Scores:
        """How sure it is that texts have these shares of the question's words together for a reason: from 0, where
        chance makes one such text among so many, up to 1."""
        return np.clip((shares * self.weight - math.log(self.count)) / _NO_ACCIDENT, 0.0, 1.0)


# Words in a question that ask for files of a role.
_WORDS = {
    FileRole.SOURCE: frozenset[str](),
    FileRole.PROSE: frozenset(tokenize("readme docs documentation documented guide manual license contributing")),
    FileRole.HISTORY: frozenset(tokenize("changelog changes history news release released migration upgrade version")),
    FileRole.DATA: frozenset(
        tokenize("config configuration settings schema workflow makefile dockerfile yaml json toml")
    ),
    FileRole.EXAMPLE: frozenset(tokenize("example sample demo tutorial benchmark docs documentation")),
}
_NOTES = {
    FileRole.PROSE: "text",
    FileRole.HISTORY: "history of changes",
    FileRole.DATA: "data",
    FileRole.EXAMPLE: "example",
}


class ScorePenalty(Struct, frozen=True):
    """A factor on the scores of some candidates; `note` explains it in their hits."""

    note: str
    are_lowered: Mask
    factor: float


def penalties_of(asked: DocumentQuery, candidates: Candidates) -> Iterator[ScorePenalty]:
    """The penalties for a question; roles that it asks for have none."""
    weights = asked.weights
    if asked.shelf.filters.tests is not WhichTests.ONLY and not asked.asks_for_tests:
        yield ScorePenalty("test code, lowered", candidates.is_test, weights.test_factor)
    yield ScorePenalty("vendored, lowered", candidates.is_vendored, weights.vendored_factor)
    yield ScorePenalty("only re-exports, lowered", _unnamed_reexports(asked, candidates), weights.reexport_factor)
    for role in weights.role_factors:
        if role in _NOTES and (factor := role_factor(role, asked.query.words, weights)) != 1:
            yield ScorePenalty(f"{_NOTES[role]}, lowered", candidates.roles == ROLES.index(role), factor)


def role_factor(role: FileRole, words: Collection[str], weights: Weights) -> float:
    """The factor on files of a role for a question with these words: 1 where it asks for such files."""
    is_asked_for = not _WORDS[role].isdisjoint(words)
    return 1.0 if is_asked_for else weights.role_factors.get(role, 1.0)


def _unnamed_reexports(asked: DocumentQuery, candidates: Candidates) -> Mask:
    """The files that only re-export what others define, without those whose name stands in the question."""
    are = candidates.only_reexports.copy()
    for place in are.nonzero()[0].tolist() if "." in asked.query.text else ():
        are[place] = asked.shelf[int(candidates.numbers[place])].id.rpartition("/")[2] not in asked.query.text
    return are


class RaisedScores(Struct, frozen=True, dict=True):
    """Scores of some functions and classes, and the calls that raised some of them: callers and called, as places among
    them."""

    scores: Scores
    callers: Places
    called: Places

    @classmethod
    def unchanged(cls, scores: Scores) -> "RaisedScores":
        return cls(scores, NO_NUMBERS, NO_NUMBERS)

    @cached_property
    def _are_raised(self) -> frozenset[int]:
        return frozenset(self.callers.tolist())

    def called_by(self, place: int) -> list[int]:
        """What a caller was raised by, best first; nothing for one that was not raised."""
        if place not in self._are_raised:
            return []
        called = self.called[self.callers == place]
        places: list[int] = called[np.argsort(-self.scores[called], kind="stable")].tolist()
        return places


def raise_callers(shelf: Shelf, numbers: Numbers, scores: Scores, *, factors: Scores, weights: Weights) -> RaisedScores:
    """Raise the callers of the best among some functions and classes, which ascend by number.

    A caller's gain is multiplied by its factor, as its own score was.
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
