"""A question, and the rankings that answer it."""

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from codesum_pipeline.model.documents import Level
from codesum_pipeline.retrieval.fusion import Numbers
from codesum_pipeline.retrieval.lookup import NOTHING, Lookup, ScoredDocuments
from codesum_pipeline.retrieval.pointers import pointers_in
from codesum_pipeline.retrieval.query import Query
from codesum_pipeline.retrieval.shelf import Shelf
from codesum_pipeline.retrieval.weights import IN_FILES, Signal, Weights

Levels = tuple[Level, ...]
# A signal, and the levels whose documents it ranks.
Wanted = tuple[Signal, Levels]


class DocumentQuery(Struct, frozen=True, dict=True):
    """One question about some documents: `signals` rank these one by one, `file_signals` the files with them."""

    shelf: Shelf
    query: Query
    signals: tuple[Signal, ...]
    file_signals: tuple[Signal, ...]
    weights: Weights
    levels: Levels
    is_one_lane: bool
    asks_for_tests: bool

    @cached_property
    def inside(self) -> Levels:
        """The wanted levels whose documents stand in files."""
        return tuple(level for level in self.levels if level in IN_FILES)

    def rankings(self) -> Iterator[Wanted]:
        """The rankings of documents that are needed."""
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

    def passages(self, lookup: Lookup) -> ScoredDocuments:
        """The passages that speak for files."""
        is_needed = self.inside and not self.is_one_lane and Signal.CODE_WORDS in self.file_signals
        return lookup.best_passages() if is_needed else NOTHING

    def pointed(self) -> Numbers:
        """The files, or the functions and classes in them, that the question points to by path and line."""
        pointers = pointers_in(self.query.text) if self.inside and not self.is_one_lane else ()
        return self.shelf.pointed(pointers) if pointers else NOTHING.numbers

    def called_in_prose(self, lookup: Lookup) -> Numbers:
        """The classes that a question of several words names."""
        if self.is_one_lane or not self.inside or self.query.is_name:
            return NOTHING.numbers
        return lookup.called((*self.query.identifiers, *self.query.compounds), Level.CLASS)
