"""The signals of a search, their weights, and the rule whether the best documents fit the question at all.

The experiment behind each weight is in benchmarks/results/retrieval.md. A lane has one or two signals: in `code`, words
and meaning are two.

A search always has a best document. Three facts tell the questions that an index answers from those about another
repository: how near the best documents are in meaning; how much of the question's words, mainly the rare ones, one
passage has; and how many documents there are, since among many one is near by chance. The numbers come from
benchmarks/results/fit.md.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from codesum_pipeline.indexes.version_folder import Lane
from codesum_pipeline.model.documents import Level
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.source.languages import FileRole


class Signal(StrEnum):
    """What a ranking looks at; a hit's `why` shows the values."""

    SYMBOL = "symbol"
    CODE_WORDS = "code words"
    CODE_MEANING = "code meaning"
    SUMMARY = "summary"
    SUMMARY_WORDS = "summary words"
    FUSED = "fused"
    KEYWORDS = "keywords"


# For functions, classes, files and folders, each by itself.
_SIGNALS = {
    Signal.SYMBOL: 0.5,
    Signal.CODE_WORDS: 2.0,
    Signal.CODE_MEANING: 0.0,
    Signal.SUMMARY: 0.0,
    Signal.SUMMARY_WORDS: 1.0,
    Signal.FUSED: 2.0,
    Signal.KEYWORDS: 0.0,
}
# For files, each signal by all documents that stand in them.
_FILE_SIGNALS = {
    Signal.SYMBOL: 1.0,
    Signal.CODE_WORDS: 1.0,
    Signal.CODE_MEANING: 0.0,
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
    Lane.CODE: (Signal.CODE_WORDS, Signal.CODE_MEANING),
    Lane.SUMMARY: (Signal.SUMMARY, Signal.SUMMARY_WORDS),
    Lane.FUSED: (Signal.FUSED,),
    Lane.KEYWORDS: (Signal.KEYWORDS,),
}
VECTORS = {Signal.CODE_MEANING: Lane.CODE, Signal.SUMMARY: Lane.SUMMARY, Signal.FUSED: Lane.FUSED}
WORDS = {Signal.CODE_WORDS: Lane.CODE, Signal.SUMMARY_WORDS: Lane.SUMMARY, Signal.KEYWORDS: Lane.KEYWORDS}

# The levels of which each document stands in one file.
IN_FILES = (Level.FUNCTION, Level.CLASS, Level.FILE)


def signals_of(lanes: Iterable[Lane]) -> tuple[Signal, ...]:
    wanted = {signal for lane in lanes for signal in SIGNALS[lane]}
    return tuple(signal for signal in Signal if signal in wanted)


def needs_vector(signals: Iterable[Signal]) -> bool:
    """Whether a query has to be embedded."""
    return any(signal in VECTORS for signal in signals)


def missing_signals(index: PublishedIndex) -> Sequence[Signal]:
    """The signals whose vectors an index was built without."""
    return [signal for signal, lane in VECTORS.items() if lane not in index.vectors]


def has_lane(index: PublishedIndex, lane: Lane) -> bool:
    """Whether a search of this index in one lane alone finds something."""
    return not set(SIGNALS[lane]) <= {*missing_signals(index)}


# The nearest documents count together: one alone may be near by chance.
NEAREST = 5


class FitRule(Struct, frozen=True):
    """A question fits where the weighted sum of the three facts is at least `least`."""

    nearness: float = 1.0
    words: float = 0.25
    documents: float = -0.04
    least: float = 0.25


DEFAULT_FIT = FitRule()


class Likeness(Struct, frozen=True):
    """`nearness` is the mean cosine of the nearest documents, `words` the share of the question's words, each as heavy
    as it is rare, that one passage has, `documents` how many there are."""

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
