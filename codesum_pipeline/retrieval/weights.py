"""What a search weighs. The experiment behind each number is in benchmarks/results/retrieval.md."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


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
    return {
        Signal.SYMBOL: 1.0,
        Signal.CODE_WORDS: 1.0,
        Signal.CODE_MEANING: 0.0,
        Signal.SUMMARY: 1.5,
        Signal.SUMMARY_WORDS: 1.0,
        Signal.FUSED: 0.0,
        Signal.KEYWORDS: 1.0,
    }


@dataclass(frozen=True, slots=True)
class Weights:
    """A signal of weight 0 is not looked at unless its lane is named and would say nothing else, or is named alone."""

    signals: Mapping[Signal, float] = field(default_factory=_signals)
    # Softens the lead of first place over second. Cormack et al. (2009), where reciprocal rank fusion was introduced,
    # have 60 for many engines over millions of pages; of a handful of lanes over one repository first places say more.
    rank_offset: float = 8.0
    # How deep each ranking goes: deep enough that the fourth good document of a file is still evidence for it.
    depth: int = 400
    # The n-th best document of a file adds its score times this to the power of n - 1.
    decay: float = 0.6
    # A file says a little about a function in it: for 0.25 in place of 1 spoke both questions about flask and requests
    # and what commits of five other repositories touched.
    file_weight: float = 0.25
    # Each of the best functions and classes gives this share of its score to those that call it, all together, up to
    # this part of it: questions and commits gain, and without the limit those lose that have one answer.
    caller_share: float = 0.2
    caller_factor: float = 0.8
    # How many share. What stands behind two pages of ten says nothing.
    sharing: int = 20
    # For what the query calls by name, added to scores that reach 1: a file whose name consists of words of the query,
    # and a class, which is a thing that people speak of. A function has its name in the lane `symbol`.
    name_boost: float = 0.15
    # What has the very name that was asked for comes first, and in another case or spelling before most others.
    other_spelling: float = 0.5
    # How well a function or class has to do among all for being shown in place of its file.
    shown_itself: float = 0.4
    # A module answers few questions as well as the best of its files does.
    module_weight: float = 0.5
    test_factor: float = 0.5
    vendored_factor: float = 0.5
    # Each further hit in the same file tells less than one elsewhere.
    repeated_file_factor: float = 0.4


DEFAULT_WEIGHTS = Weights()
