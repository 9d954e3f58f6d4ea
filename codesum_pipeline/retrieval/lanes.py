"""The lanes and their signals: what a search may look at.

A lane has one or two signals: `code` is looked at for words and for meaning.
"""

from collections.abc import Iterable, Mapping, Sequence

from codesum_pipeline.indexes.lanes import Lane
from codesum_pipeline.model.documents import Level
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.weights import Signal

SIGNALS: Mapping[Lane, tuple[Signal, ...]] = {
    Lane.SYMBOL: (Signal.SYMBOL,),
    Lane.CODE: (Signal.CODE_WORDS, Signal.CODE_MEANING),
    Lane.SUMMARY: (Signal.SUMMARY, Signal.SUMMARY_WORDS),
    Lane.FUSED: (Signal.FUSED,),
    Lane.KEYWORDS: (Signal.KEYWORDS,),
}
VECTORS = {Signal.CODE_MEANING: Lane.CODE, Signal.SUMMARY: Lane.SUMMARY, Signal.FUSED: Lane.FUSED}
WORDS = {Signal.CODE_WORDS: Lane.CODE, Signal.SUMMARY_WORDS: Lane.SUMMARY, Signal.KEYWORDS: Lane.KEYWORDS}

# The levels whose documents stand in one file each.
IN_FILES = (Level.FUNCTION, Level.CLASS, Level.FILE)


def signals_of(lanes: Iterable[Lane]) -> tuple[Signal, ...]:
    """The signals of some lanes, in the order of `Signal`."""
    wanted = {signal for lane in lanes for signal in SIGNALS[lane]}
    return tuple(signal for signal in Signal if signal in wanted)


def needs_vector(signals: Iterable[Signal]) -> bool:
    """Whether a query has to be embedded."""
    return any(signal in VECTORS for signal in signals)


def lacking(index: PublishedIndex) -> Sequence[Signal]:
    """The signals that an index has nothing for: vectors that it was built without."""
    return [signal for signal, lane in VECTORS.items() if lane not in index.vectors]


def has_lane(index: PublishedIndex, lane: Lane) -> bool:
    """Whether an index can be asked this lane alone."""
    return not set(SIGNALS[lane]) <= {*lacking(index)}
