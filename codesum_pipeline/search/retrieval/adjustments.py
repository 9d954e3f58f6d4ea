"""A question with its rankings, and what changes scores after these: names, roles of files, calls, twins.

A name in the question raises what is called so, by the share of the question that its words make up, each as heavy as
it is rare: "how does the job queue retry" says `job`, as half the code of a job queue does; "what is a redirect" says
`redirect` and little else.

Tests, copies of others' code and texts around the code are lowered unless the question asks for them.

A caller is raised by what it calls. Where several functions do together what the question asks for, the function that
calls them is part of the answer, though its own text says little of it. So each of the best functions shares out some
of its score among its callers; of a helper that is called from everywhere each caller gets next to nothing. A caller
stays behind what it calls, which is the better answer where the question means one function.

Twins are documents that a repository has twice: for two platforms, in two versions, synchronous and asynchronous. They
have the same name, file name and nearly the same content. They are shown as one hit.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, without_suffix
from codesum_pipeline.foundation.data_model.printable import some_of
from codesum_pipeline.foundation.language_facts.file_languages import ROLES, FileRole
from codesum_pipeline.indexes.file_formats.highest_scores import find_highest
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.indexes.lanes.tokens import tokenize
from codesum_pipeline.search.retrieval.lookup import Lookup
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.query import Query
from codesum_pipeline.search.retrieval.shelf import Candidates, Mask, Shelf, WhichTests
from codesum_pipeline.search.retrieval.weights import IN_FILES, NO_NUMBERS, Numbers, Places, Scores, Signal, Weights

Levels = tuple[Level, ...]
# A signal, and the levels whose documents it ranks.
Wanted = tuple[Signal, Levels]


class DocumentQuery(Struct, frozen=True):
    """One question about some documents: `signals` rank these one by one, `file_signals` the files with them."""

    shelf: Shelf
    query: Query
    signals: tuple[Signal, ...]
    file_signals: tuple[Signal, ...]
    weights: Weights
    levels: Levels
    is_one_lane: bool
    asks_for_tests: bool

    @property
    def inside(self) -> Levels:
        """The wanted levels whose documents are in files."""
        return tuple(level for level in self.levels if level in IN_FILES)

    def rankings(self) -> Iterator[Wanted]:
        if self.is_one_lane:
            yield from ((signal, self.levels) for signal in self.signals)
            return
        if self.inside:
            yield from ((signal, IN_FILES) for signal in self.file_signals if signal is not Signal.CODE_WORDS)
            yield from ((Signal.SYMBOL, levels) for levels in (IN_FILES, self.inside) if self.query.is_name)
            yield from ((signal, IN_FILES) for signal in self.signals)
        if self.inside not in ((), (Level.FILE,)):
            yield from ((signal, self.inside) for signal in self.signals)
        if Level.MODULE in self.levels:
            yield from ((signal, (Level.MODULE,)) for signal in self.signals)


# A coincidence of words counts fully where chance makes it once in e to the power of this.
_NO_ACCIDENT = 20.0


class NameShares(Struct, frozen=True):
    """The share of each word in a question: `typed` has the typed words, which add up to 1; `words` also has
    neighbouring words joined to one name. `weight` is the negative logarithm of the probability that one of the
    `count` texts contains all of them by chance."""

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

    def excess(self, share: float) -> float:
        """The logarithm of how much less likely chance makes this share than once among all texts; 0 where it does."""
        return max(0.0, share * self.weight - math.log(max(1, self.count)))


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


def penalties_of(question: DocumentQuery, candidates: Candidates) -> Iterator[ScorePenalty]:
    """The penalties for a question; roles that it asks for have none."""
    weights = question.weights
    if question.shelf.filters.tests is not WhichTests.ONLY and not question.asks_for_tests:
        yield ScorePenalty("test code, lowered", candidates.is_test, weights.test_factor)
    yield ScorePenalty("vendored, lowered", candidates.is_vendored, weights.vendored_factor)
    only_reexports = candidates.only_reexports.copy()
    for place in only_reexports.nonzero()[0].tolist() if "." in question.query.text else ():
        name = question.shelf[int(candidates.numbers[place])].id.rpartition("/")[2]
        only_reexports[place] = name not in question.query.text
    yield ScorePenalty("only re-exports, lowered", only_reexports, weights.reexport_factor)
    for role in weights.role_factors:
        if role in _NOTES and (factor := role_factor(role, question.query.words, weights)) != 1:
            yield ScorePenalty(f"{_NOTES[role]}, lowered", candidates.roles == ROLES.index(role), factor)


def role_factor(role: FileRole, words: Collection[str], weights: Weights) -> float:
    """The factor on files of a role for a question with these words: 1 where it asks for such files."""
    is_asked_for = not _WORDS[role].isdisjoint(words)
    return 1.0 if is_asked_for else weights.role_factors.get(role, 1.0)


class RaisedScores(Struct, frozen=True):
    """Scores of some functions and classes, and the calls that raised some of them: callers and called, as places among
    them."""

    scores: Scores
    callers: Places
    called: Places

    @classmethod
    def unchanged(cls, scores: Scores) -> "RaisedScores":
        return cls(scores, NO_NUMBERS, NO_NUMBERS)

    def called_by(self, place: int) -> list[int]:
        """What a caller was raised by, best first; nothing for one that was not raised."""
        called = self.called[self.callers == place]
        places: list[int] = called[np.argsort(-self.scores[called], kind="stable")].tolist()
        return places


def raise_callers(shelf: Shelf, numbers: Numbers, scores: Scores, *, factors: Scores, weights: Weights) -> RaisedScores:
    """Raise the callers of the best among some functions and classes, which ascend by number. A caller's gain is
    multiplied by its factor, as its own score was."""
    best = find_highest(scores, weights.sharing)
    counts, found = shelf.callers(numbers[best])
    places = numbers.searchsorted(found)
    is_ranked = numbers.take(places, mode="clip") == found
    callers, called = places[is_ranked], np.repeat(best, counts)[is_ranked]
    shares = np.repeat(scores[best] / np.maximum(counts, 1), counts)[is_ranked]
    gains = weights.caller_share * np.bincount(callers, weights=shares, minlength=len(scores))
    limits = np.zeros(len(scores))
    np.maximum.at(limits, callers, weights.caller_factor * scores[called])
    raised = np.minimum(scores + gains * factors, limits)
    is_raised = raised > scores
    counted = is_raised[callers]
    return RaisedScores(np.where(is_raised, raised, scores), callers[counted], called[counted])


# From this cosine on, documents of the same name are twins.
_NEARLY_THE_SAME = 0.95
# A name that more documents have is a common one, as `README.md` or `mod.rs`, and makes no twins.
_MOST_OF_A_NAME = 32
# A twin that is used more is shown in place of the best one if it has this share of its score.
_HARDLY_WORSE = 0.9
_NAMED = 3


class TwinGroup(Struct, frozen=True):
    """The place of the document that is shown, the score of the best twin, and the rows of the others."""

    at: int
    score: float
    twins: tuple[int, ...]


def fold_twins(
    shelf: Shelf, candidates: Candidates, order: Sequence[int], places: Places, scores: Scores
) -> Iterator[TwinGroup]:
    """The documents at some positions of `places`, best first; of twins, the one used most if it is hardly worse."""
    numbers = candidates.numbers[places[order]].tolist()
    located = [shelf[number] for number in numbers]
    rows: dict[str, tuple[PublishedIndex, list[int]]] = {}
    for each in located:
        rows.setdefault(each.index.version.digest, (each.index, []))[1].append(each.row)
    twins = {digest: twins_of(index, some) for digest, (index, some) in rows.items()}
    known = set[int]()
    for at, number, document in zip(order, numbers, located, strict=True):
        if number in known:
            continue
        row = document.row
        others = twins[document.index.version.digest].get(row)
        if not others:
            yield TwinGroup(at, float(scores[at]), ())
            continue
        group = np.array([row, *others])
        of_group = group + (number - row)
        known.update(of_group.tolist())
        found = (candidates.are_among(of_group)[places] & (scores >= _HARDLY_WORSE * scores[at])).nonzero()[0]
        used_most = int(found[candidates.importance[places[found]].argmax()])
        is_used_more = candidates.importance[places[used_most]] > candidates.importance[places[at]]
        lead = used_most if is_used_more else at
        own = int(candidates.numbers[places[lead]]) - (number - row)
        yield TwinGroup(lead, float(scores[at]), tuple(group[group != own].tolist()))


def twin_notes(index: PublishedIndex, twins: Sequence[int]) -> Iterator[str]:
    """The other places of a document."""
    if twins:
        paths = sorted({index.ids[row].partition(SEPARATOR)[0] for row in twins})
        yield f"nearly the same in {some_of(paths, _NAMED)}"


def twins_of(index: PublishedIndex, rows: Sequence[int]) -> dict[int, list[int]]:
    """The rows of the twins of some documents, ascending; without the documents that have none."""
    ids = {row: index.ids[row] for row in rows}
    name_by_row = {row: _name_of(id_) for row, id_ in ids.items()}
    called = index.names.rows_by_name([*dict.fromkeys(name_by_row.values())])
    several = ((row, called.get(name, ())) for row, name in name_by_row.items())
    found = ((row, _same(index, row, ids[row], there)) for row, there in several if 1 < len(there) <= _MOST_OF_A_NAME)
    return {row: twins for row, twins in found if twins}


def _name_of(id_: str) -> str:
    """The qualified name of a document, or the name of a file, in lower case."""
    path, _, name = id_.partition(SEPARATOR)
    return (without_suffix(name).replace(SEPARATOR, ".") if name else path.rpartition("/")[2]).lower()


def _same(index: PublishedIndex, row: int, id_: str, called: Iterable[int]) -> list[int]:
    """The rows of `called` whose ids differ only in the folder, and whose vectors are nearly the same."""
    path, _, _ = id_.partition(SEPARATOR)
    in_folder = f"/{id_[path.rfind('/') + 1 :]}"
    there = [
        other
        for other in called
        if other != row and index.may_answer(other) and f"/{index.ids[other]}".endswith(in_folder)
    ]
    lane = Lane.FUSED if Lane.FUSED in index.vectors else Lane.SUMMARY
    own = _direction(index, row, lane) if there else None
    if own is None:
        return []
    others = ((other, _direction(index, other, lane)) for other in there)
    return [other for other, its in others if its is not None and float(own @ its) >= _NEARLY_THE_SAME]


def _direction(index: PublishedIndex, row: int, lane: Lane) -> Vectors | None:
    """The vector of a document at length one, shape (dimensions,); None if it has none."""
    place = int(index.dense_rows.searchsorted(row))
    if place == len(index.dense_rows) or index.dense_rows[place] != row:
        return None
    vector: Vectors = index.vectors[lane][place].astype(np.float32)
    length = float(np.linalg.norm(vector))
    return vector / length if length else None
