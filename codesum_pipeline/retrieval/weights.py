"""What a search weighs. The experiment behind each number is in benchmarks/results/retrieval.md."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from codesum_pipeline.source.roles import FileRole


class Signal(StrEnum):
    """What a ranking looks at; the values are read in a hit's `why`."""

    SYMBOL = "symbol"
    CODE_WORDS = "code words"
    CODE_MEANING = "code meaning"
    SUMMARY = "summary"
    SUMMARY_WORDS = "summary words"
    FUSED = "fused"
    KEYWORDS = "keywords"


def _signals() -> Mapping[Signal, float]:
    """Of functions, classes, files and folders, each by itself."""
    return {
        Signal.SYMBOL: 0.5,
        Signal.CODE_WORDS: 2.0,
        Signal.CODE_MEANING: 0.0,
        Signal.SUMMARY: 0.0,
        Signal.SUMMARY_WORDS: 1.0,
        Signal.FUSED: 2.0,
        Signal.KEYWORDS: 0.0,
    }


def _file_signals() -> Mapping[Signal, float]:
    """Of files, each signal by all documents that stand in them."""
    return {
        Signal.SYMBOL: 1.0,
        Signal.CODE_WORDS: 1.0,
        Signal.CODE_MEANING: 0.0,
        Signal.SUMMARY: 1.5,
        Signal.SUMMARY_WORDS: 1.0,
        Signal.FUSED: 1.0,
        Signal.KEYWORDS: 0.0,
    }


def _role_factors() -> Mapping[FileRole, float]:
    return {FileRole.PROSE: 0.8, FileRole.HISTORY: 0.4, FileRole.DATA: 0.8, FileRole.EXAMPLE: 0.8}


@dataclass(frozen=True, slots=True)
class Weights:
    """A signal of weight 0 is not looked at unless its lane is named and would say nothing else, or is named alone."""

    signals: Mapping[Signal, float] = field(default_factory=_signals)
    file_signals: Mapping[Signal, float] = field(default_factory=_file_signals)
    # Softens the lead of first place over second. Cormack et al. (2009), where reciprocal rank fusion was introduced,
    # have 60 for many engines over millions of pages; of a handful of lanes over one repository first places say more.
    rank_offset: float = 10.0
    # How deep each ranking goes: deep enough that the fourth good document of a file is still evidence for it.
    depth: int = 400
    # The n-th best document of a file adds its score times this to the power of n - 1: in each signal by itself, and
    # where the signals were fused for each document before.
    decay: float = 0.6
    document_decay: float = 0.4
    # What a file's documents, fused one by one, and its passages count beside its signals, which count 1.
    document_share: float = 0.5
    passage_share: float = 0.1
    # How much a word counts that is related to one of the question's, times their cosine.
    related_words: float = 0.3
    # A file says something about a function in it.
    file_weight: float = 0.5
    # Each of the best functions and classes gives this share of its score to those that call it, all together, up to
    # this part of it: questions and commits gain, and without the limit those lose that have one answer.
    caller_share: float = 0.2
    caller_factor: float = 0.8
    # How many share. What stands behind two pages of ten says nothing.
    sharing: int = 20
    # For what the query calls by name, added to scores that reach about 1, as far as the name's words make up the
    # question, each as heavy as it is rare: a file whose name consists of words of the query, and a class, which is a
    # thing that people speak of. A function has its name in the lane `symbol`.
    name_boost: float = 0.5
    # What has the very name that was asked for comes first, and in another case or spelling before most others.
    other_spelling: float = 0.5
    # How well a function or class has to do among all for being shown in place of its file.
    shown_itself: float = 0.05
    # Each further document of a file gets this part of what the one before it would, as far as it fits as well, and
    # none comes before the best documents of this many files.
    sibling_factor: float = 0.7
    files_before_siblings: int = 4
    # How much a file gains that alone has all words of the question together.
    quoted: float = 0.4
    # How much one gains by a word that few files have, times the word's share of the question.
    rare_words: float = 0.4
    # A module answers few questions as well as the best of its files does.
    module_weight: float = 0.2
    test_factor: float = 0.35
    vendored_factor: float = 0.5
    # A file that only hands on what others define is no answer where the thing itself is asked for.
    reexport_factor: float = 0.5
    role_factors: Mapping[FileRole, float] = field(default_factory=_role_factors)


DEFAULT_WEIGHTS = Weights()
