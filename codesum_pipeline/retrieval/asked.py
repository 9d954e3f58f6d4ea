"""A question, and what has to be looked up for it."""

from collections.abc import Iterator
from dataclasses import dataclass

from codesum_pipeline.model.documents import Level
from codesum_pipeline.retrieval.fusion import Numbers
from codesum_pipeline.retrieval.lanes import IN_FILES, NOTHING, Found, Lookup
from codesum_pipeline.retrieval.query import Query
from codesum_pipeline.retrieval.shelf import Shelf
from codesum_pipeline.retrieval.weights import Signal, Weights

Levels = tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to some documents."""

    shelf: Shelf
    query: Query
    signals: tuple[Signal, ...]
    weights: Weights
    levels: Levels
    is_one_lane: bool

    @property
    def inside(self) -> Levels:
        """The levels asked for whose documents stand in files."""
        return tuple(level for level in self.levels if level in IN_FILES)

    @property
    def speaks_for_files(self) -> tuple[Signal, ...]:
        """Not the keywords, where anything but names speaks too: each document's hold the path of its file, which would
        be counted once for each."""
        others = tuple(signal for signal in self.signals if signal is not Signal.KEYWORDS)
        return others if set(others) - {Signal.SYMBOL} else self.signals

    def rankings(self) -> Iterator[tuple[Signal, Levels]]:
        """What documents are ranked by."""
        if self.is_one_lane:
            yield from ((signal, self.levels) for signal in self.signals)
            return
        if self.inside:
            yield from ((signal, IN_FILES) for signal in self.speaks_for_files if signal is not Signal.CODE_WORDS)
            yield from ((Signal.SYMBOL, levels) for levels in (IN_FILES, self.inside) if self.query.is_name)
        if self.inside not in ((), (Level.FILE,)):
            yield from ((signal, self.inside) for signal in self.signals)
        if Level.MODULE in self.levels:
            yield from ((signal, (Level.MODULE,)) for signal in self.signals)

    def passages(self, lookup: Lookup) -> Found:
        """The passages that speak for files."""
        is_asked = self.inside and not self.is_one_lane and Signal.CODE_WORDS in self.speaks_for_files
        return lookup.best_passages() if is_asked else NOTHING

    def called_in_prose(self) -> Numbers:
        """The classes that a question of several words calls by name."""
        if self.is_one_lane or not self.inside or self.query.is_name:
            return NOTHING.numbers
        return self.shelf.called((*self.query.identifiers, *self.query.compounds), Level.CLASS)
