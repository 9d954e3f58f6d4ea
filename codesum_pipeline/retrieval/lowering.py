"""What is no answer as often as its words say: tests, copies of others' code, texts around the code."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.retrieval.asked import DocumentQuery
from codesum_pipeline.retrieval.candidates import Candidates
from codesum_pipeline.retrieval.filters import Mask, WhichTests
from codesum_pipeline.retrieval.weights import Weights
from codesum_pipeline.source.roles import ROLES, FileRole

# Who says one of these is looking for such files, or may be.
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


@dataclass(frozen=True, slots=True)
class ScorePenalty:
    """Candidates whose scores are multiplied by a factor; `note` is what their hits say of it."""

    note: str
    are_lowered: Mask
    factor: float


def lowered(asked: DocumentQuery, candidates: Candidates) -> Iterator[ScorePenalty]:
    """What is lowered for a question: not what it asks for."""
    weights = asked.weights
    if asked.shelf.filters.tests is not WhichTests.ONLY and not asked.asks_for_tests:
        yield ScorePenalty("test code, lowered", candidates.is_test, weights.test_factor)
    yield ScorePenalty("vendored, lowered", candidates.is_vendored, weights.vendored_factor)
    yield ScorePenalty("only re-exports, lowered", _unnamed_reexports(asked, candidates), weights.reexport_factor)
    for role in weights.role_factors:
        if role in _NOTES and (factor := role_factor(role, asked.query.words, weights)) != 1:
            yield ScorePenalty(f"{_NOTES[role]}, lowered", candidates.roles == ROLES.index(role), factor)


def role_factor(role: FileRole, words: Collection[str], weights: Weights) -> float:
    """What files of a role count for a question with these words: all where it asks for such files."""
    is_asked_for = not _WORDS[role].isdisjoint(words)
    return 1.0 if is_asked_for else weights.role_factors.get(role, 1.0)


def _unnamed_reexports(asked: DocumentQuery, candidates: Candidates) -> Mask:
    """The files that only hand on what others define, but for those whose name is written in the question."""
    are = candidates.only_reexports.copy()
    for place in are.nonzero()[0].tolist() if "." in asked.query.text else ():
        are[place] = asked.shelf.id(int(candidates.numbers[place])).rpartition("/")[2] not in asked.query.text
    return are
