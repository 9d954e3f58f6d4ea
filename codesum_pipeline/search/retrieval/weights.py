"""The signals of a search, their weights, the fusion of rankings, and the rule whether the best documents fit at all.

The experiment behind each weight is in benchmarks/results/retrieval.md. The lane `summary` has two
signals: words and meaning.

Half of a ranking's contribution is by rank (Cormack et al., 2009), half by score (Bruch et al., 2023): ranks are robust
against outliers, scores show how far one document leads. BM25 and cosine live on different scales, so scores are taken
as shares of the best of their ranking.

A file is found by all documents in it, since questions are more often about several functions together than about one:
a file with three good documents is more likely meant than a file with the single best one. Each further document counts
for less, or a long file would win by its length.

A search always has a best document. Three facts separate questions that an index answers from those about another
repository: how near the best documents are in meaning; how much of the question's words, mainly the rare ones, one
passage has; and how many documents there are, since among many one is near by chance. The numbers come from
benchmarks/results/fit.md.
"""

import math
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.language_facts.file_languages import FileRole
from codesum_pipeline.indexes.file_formats.version_folder import Lane

R = TypeVar("R", bound=Hashable)
Numbers = npt.NDArray[np.int64]
# Positions among a question's candidates.
Places = npt.NDArray[np.integer]
Scores = npt.NDArray[np.float64]
NO_NUMBERS: Numbers = np.zeros(0, dtype=np.int64)
NO_SCORES: Scores = np.zeros(0)


class Ranking(Struct, frozen=True):
    """Places, best first, with their scores."""

    places: Places
    scores: Scores


class ScoredDocuments(Struct, frozen=True):
    """Documents by number, ascending, with their scores."""

    numbers: Numbers
    scores: npt.NDArray[np.float32]


NOTHING = ScoredDocuments(NO_NUMBERS, NO_SCORES.astype(np.float32))


class FusedRanking(Struct, Generic[R], frozen=True):
    """A score for every place, 0 for what no ranking has, and the rankings these were made from."""

    scores: Scores
    names: tuple[R, ...]
    # All rankings one behind the other, and where each begins.
    _ranked: Places
    _starts: tuple[int, ...]

    @property
    def ranked(self) -> Places:
        """The places in any ranking, ascending."""
        return self.scores.nonzero()[0]

    def ranks_of(self, places: Iterable[int]) -> dict[int, dict[R, int]]:
        """For each of some places the rank, from 1, in each ranking that has it."""
        ranks: dict[int, dict[R, int]] = {place: {} for place in places}
        is_wanted = np.zeros(len(self.scores), dtype=np.bool_)
        is_wanted[[*ranks]] = True
        found = is_wanted[self._ranked].nonzero()[0]
        for position, place in zip(found.tolist(), self._ranked[found].tolist(), strict=True):
            ranking = bisect_right(self._starts, position) - 1
            ranks[place][self.names[ranking]] = 1 + position - self._starts[ranking]
        return ranks


def fuse_rankings(
    rankings: Mapping[R, Ranking], weights: Mapping[R, float], *, offset: float, limit: int, count: int
) -> FusedRanking[R]:
    """Weighted fusion of `count` places: half the sum of weight / (offset + rank) over the rankings that have a place,
    and half of the weighted shares of the best scores. Divided by the sum of a place that leads all rankings that are
    not empty, so that 1 is the best there is. A ranking names a place once, best first; one of `limit` places was cut
    off, and its last score counts as nothing."""
    filled = {name: ranking for name, ranking in rankings.items() if len(ranking.places)}
    if not filled:
        return FusedRanking(np.zeros(count), (), NO_NUMBERS, ())
    ranked = np.concatenate([each.places for each in filled.values()])
    shares = np.concatenate(
        [
            weights[name] / 2 * (falling_ranks(len(each.places), offset) + _shares_of_best(each.scores, limit))
            for name, each in filled.items()
        ]
    )
    best = math.fsum(weights[name] for name in filled)
    scores = np.bincount(ranked, weights=shares, minlength=count) / best
    return FusedRanking(scores, tuple(filled), ranked, (0, *accumulate(len(each.places) for each in filled.values())))


@lru_cache(maxsize=64)
def falling_ranks(count: int, offset: float) -> Scores:
    """The worth of the first, second, ... place of one ranking: 1, and less."""
    shares: Scores = np.divide(offset + 1, offset + 1 + np.arange(count), dtype=np.float64)
    return shares


def _shares_of_best(scores: Scores, limit: int) -> Scores:
    """The scores of a ranking as shares of its best, which is above 0."""
    nothing = scores[-1] if len(scores) >= limit else 0.0
    lead = scores[0] - nothing
    return (scores - nothing) / lead if lead > 0 else np.ones(len(scores))


def find_runs(numbers: Places) -> tuple[Numbers, Numbers]:
    """Where each run of equal numbers starts, and the run of each place."""
    is_first = np.ones(len(numbers), dtype=np.bool_)
    is_first[1:] = numbers[1:] != numbers[:-1]
    return is_first.nonzero()[0], is_first.cumsum() - 1


def sums_by_file(
    files: Sequence[Places], scores: Sequence[Scores], decays: Sequence[float], *, count: int
) -> list[Scores]:
    """The sum of the documents' scores, for each of some rankings and each of `count` files. `files[r][k]` is the file
    of document k of ranking r, or -1. Documents come best first, and the n-th of a file adds its score times
    `decays[r]` to the power of n - 1."""
    all_files, all_scores = np.concatenate(files), np.concatenate(scores)
    ranking = np.arange(len(files)).repeat([*map(len, files)])
    kept = all_files >= 0
    if not kept.all():
        all_files, all_scores, ranking = all_files[kept], all_scores[kept], ranking[kept]
    # Each file has a key of its own in each ranking.
    keys = ranking * count + all_files
    earlier = earlier_of_group(keys)
    powers = np.power.outer(decays, np.arange(int(earlier.max(initial=0)) + 1))
    sums = np.bincount(keys, weights=all_scores * powers[ranking, earlier], minlength=len(files) * count)
    return [*sums.astype(np.float64).reshape(len(files), count)]


def highest_sums(sums: Scores) -> Ranking:
    """The places with a sum, best first; ties break by place."""
    places = sums.nonzero()[0]
    best_first = places[(-sums[places]).argsort(kind="stable")]
    return Ranking(best_first, sums[best_first])


def falling_powers(factor: float, earlier: Numbers) -> Scores:
    """A factor to the power of each number; numbers are small, so each power is computed once."""
    powers: Scores = np.power(factor, np.arange(int(earlier.max(initial=0)) + 1), dtype=np.float64)
    return powers[earlier]


def earlier_of_group(groups: Places) -> Numbers:
    """For each place, how many before it have the same value."""
    order = groups.argsort(kind="stable")
    starts, places = find_runs(groups[order])
    earlier = np.empty(len(groups), dtype=np.int64)
    earlier[order] = np.arange(len(order)) - starts[places]
    return earlier


class Signal(StrEnum):
    """The signals of a ranking; a hit's `why` shows the values."""

    SYMBOL = "symbol"
    CODE_WORDS = "code words"
    SUMMARY = "summary"
    SUMMARY_WORDS = "summary words"
    FUSED = "fused"
    KEYWORDS = "keywords"


# For functions, classes, files and folders, each by itself.
_SIGNALS = {
    Signal.SYMBOL: 0.5,
    Signal.CODE_WORDS: 2.0,
    Signal.SUMMARY: 0.0,
    Signal.SUMMARY_WORDS: 1.0,
    Signal.FUSED: 2.0,
    Signal.KEYWORDS: 0.0,
}
# For files, each signal by all documents in them.
_FILE_SIGNALS = {
    Signal.SYMBOL: 1.0,
    Signal.CODE_WORDS: 1.0,
    Signal.SUMMARY: 1.5,
    Signal.SUMMARY_WORDS: 1.0,
    Signal.FUSED: 1.0,
    Signal.KEYWORDS: 0.0,
}
_ROLE_FACTORS = {FileRole.PROSE: 0.8, FileRole.HISTORY: 0.4, FileRole.DATA: 0.8, FileRole.EXAMPLE: 0.8}


class Weights(Struct, frozen=True):
    """A signal of weight 0 is looked at only where its lane is named alone, or has no other signal."""

    signals: Mapping[Signal, float] = field(default_factory=_SIGNALS.copy)
    file_signals: Mapping[Signal, float] = field(default_factory=_FILE_SIGNALS.copy)
    # Softens the lead of first place over second. Cormack et al. (2009), where reciprocal rank fusion was introduced,
    # have 60 for many engines over millions of pages; of a handful of lanes over one repository first places say more.
    rank_offset: float = 10.0
    # How many documents a ranking has: enough that the fourth good document of a file is still evidence for it.
    depth: int = 400
    # The n-th best document of a file adds its score times this to the power of n - 1: in each signal by itself, and
    # where the signals were fused for each document before.
    decay: float = 0.6
    document_decay: float = 0.4
    # What a file's documents, fused one by one, and its passages count beside its signals, which count 1.
    document_share: float = 0.5
    passage_share: float = 0.1
    # A related word counts this, times its cosine to the question's word.
    related_words: float = 0.3
    # What a file's score counts for the functions in it.
    file_weight: float = 0.5
    # Each of the best functions and classes gives this share of its score to those that call it, all together, up to
    # this part of it: questions and commits gain, and without the limit those lose that have one answer.
    caller_share: float = 0.2
    caller_factor: float = 0.8
    # How many functions share: two pages of ten hits.
    sharing: int = 20
    # What a name in the question adds to a score, which reaches about 1, times the share of the question that the
    # name's words make up. It is for files whose names consist of words of the question, and for classes, which people
    # speak of as things; a function has its name in the lane `symbol`.
    name_boost: float = 0.5
    # A question that is a name: what has this very name gets 1, and in another case or spelling this.
    other_spelling: float = 0.5
    # The least score with which a function or class is shown in place of its file.
    shown_itself: float = 0.05
    # What a long function gains beside the other documents of its file where the best passage is in it: see
    # `benchmarks/results/long_functions.md`.
    passage_owner: float = 0.2
    # Each further document of a file gets this part of the score before it, times how well it fits beside the best one,
    # and none comes before the best documents of this many files.
    sibling_factor: float = 0.7
    files_before_siblings: int = 4
    # The gain of a file that alone has all words of the question in one passage.
    quoted: float = 0.4
    # The gain of a file by a word that few files have, times the word's share of the question.
    rare_words: float = 0.4
    # A module answers few questions as well as the best of its files.
    module_weight: float = 0.2
    test_factor: float = 0.35
    vendored_factor: float = 0.5
    # A file that only re-exports what others define is no answer to a question about the thing itself.
    reexport_factor: float = 0.5
    role_factors: Mapping[FileRole, float] = field(default_factory=_ROLE_FACTORS.copy)


DEFAULT_WEIGHTS = Weights()


SIGNALS: Mapping[Lane, tuple[Signal, ...]] = {
    Lane.SYMBOL: (Signal.SYMBOL,),
    Lane.CODE: (Signal.CODE_WORDS,),
    Lane.SUMMARY: (Signal.SUMMARY, Signal.SUMMARY_WORDS),
    Lane.FUSED: (Signal.FUSED,),
    Lane.KEYWORDS: (Signal.KEYWORDS,),
}
VECTORS = {Signal.SUMMARY: Lane.SUMMARY, Signal.FUSED: Lane.FUSED}
WORDS = {Signal.CODE_WORDS: Lane.CODE, Signal.SUMMARY_WORDS: Lane.SUMMARY, Signal.KEYWORDS: Lane.KEYWORDS}

# The levels whose documents each lie in one file.
IN_FILES = (Level.FUNCTION, Level.CLASS, Level.FILE)


def signals_of(lanes: Iterable[Lane]) -> tuple[Signal, ...]:
    wanted = {signal for lane in lanes for signal in SIGNALS[lane]}
    return tuple(signal for signal in Signal if signal in wanted)


def needs_vector(signals: Iterable[Signal]) -> bool:
    """Whether a query has to be embedded."""
    return any(signal in VECTORS for signal in signals)


# The nearest documents count together: one alone may be near by chance.
NEAREST = 5


class FitRule(Struct, frozen=True):
    """A question fits where the weighted sum of the four facts is at least `least`. Chosen on 522 questions with a
    right hit among the first five and 1,686 of other repositories: see `benchmarks/results/fit.md`."""

    nearness: float = 1.0
    words: float = 0.25
    documents: float = -0.04
    excess: float = 0.01
    least: float = 0.2


DEFAULT_FIT = FitRule()
# Of questions in other scripts than the Latin one: see `benchmarks/results/fit.md`.
LEAST_WORDS = 0.3


class Likeness(Struct, frozen=True):
    """`nearness` is the mean cosine of the nearest documents, `words` the share of the question's words, each as heavy
    as it is rare, that one passage has, `documents` how many there are. `excess` is the logarithm of how much less
    likely than once among all passages chance puts so many of the words together: a long question has less than half of
    its words in the right place, which are still too many for chance. Where the model does not read the question's
    script (`is_read`), only its words count."""

    nearness: float
    words: float
    documents: int
    is_read: bool = True
    excess: float = 0.0

    def fits(self, rule: FitRule = DEFAULT_FIT) -> bool:
        return self.score(rule) >= rule.least if self.is_read else self.words >= LEAST_WORDS

    def score(self, rule: FitRule = DEFAULT_FIT) -> float:
        by_words = rule.words * self.words + rule.excess * self.excess
        return rule.nearness * self.nearness + by_words + rule.documents * math.log(max(1, self.documents))


def mean_of_nearest(scores: Iterable[npt.NDArray[np.floating]]) -> float:
    """The mean of the highest of several arrays of cosines."""
    found = np.sort(np.concatenate([np.zeros(0), *scores]))[-NEAREST:]
    return float(found.mean()) if len(found) else 0.0
