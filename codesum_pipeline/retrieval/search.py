"""One search over lanes, levels and repositories.

Files are ranked by all that stands in them, documents by themselves; both by
rank fusion over the lanes. Where several levels are asked, each file takes one
place and is shown by the document in it that fits best: the function itself
where one function is meant, the file where its documents fit together. With
one lane only, its own order stands.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from codesum_pipeline.indexes.embedders import Embedder
from codesum_pipeline.indexes.lanes import LANES, Lane
from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.retrieval.evidence import earlier_of_group, falling, rank_files
from codesum_pipeline.retrieval.file_names import name_of_file
from codesum_pipeline.retrieval.filters import ANYTHING, Filters, WhichTests
from codesum_pipeline.retrieval.fusion import (
    Fused,
    Numbers,
    Scores,
    are_among,
    distinct,
    fuse_ranks,
    highest,
)
from codesum_pipeline.retrieval.hits import Hit, make_hit
from codesum_pipeline.retrieval.lanes import (
    EXACT_NAME,
    IN_FILES,
    Ranking,
    Shelf,
    needs_vector,
    rank_documents,
    rank_passages,
    signals_of,
)
from codesum_pipeline.retrieval.query import Query, parse_query
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.weights import DEFAULT_WEIGHTS, Signal, Weights

DEFAULT_TOP = 10
# Who says one of these is looking for tests.
_TEST_WORDS = frozenset(tokenize("test tests testing fixture mock"))

# What else counted for a document. Only those that are shown are asked about.
Notes = Callable[[int], tuple[str, ...]]


def search(
    indexes: Sequence[PublishedIndex],
    query: str,
    *,
    embedder: Embedder,
    top: int = DEFAULT_TOP,
    levels: Sequence[Level] = LEVELS,
    lanes: Sequence[Lane] = LANES,
    filters: Filters = ANYTHING,
    weights: Weights = DEFAULT_WEIGHTS,
) -> list[Hit]:
    """At most `top` documents of all indexes, best first; ties break by importance, then by id.

    Raises `ConfigurationError` when an index was made with another embedding
    model and a dense lane is asked.
    """
    if needs_vector(lanes):
        for index in indexes:
            index.check_embedder(embedder)
    parsed = parse_query(query, embedder=embedder if needs_vector(lanes) else None)
    if parsed.vector is not None:
        for index in indexes:
            index.check_query(parsed.vector)
    shelf = Shelf(sorted((index for index in indexes if len(index)), key=lambda index: index.repo), filters)
    wanted = tuple(level for level in LEVELS if level in levels)
    if not shelf.indexes or not wanted:
        return []
    signals = signals_of(lanes)
    if len(lanes) == 1:
        weights = replace(weights, signals=dict.fromkeys(signals, 1.0))
    asked = _Asked(shelf, parsed, [signal for signal in signals if weights.signals[signal]], weights, top)
    parts = [asked.by_rank(wanted)] if len(lanes) == 1 else list(asked.by_all(wanted))
    return _best_hits(shelf, parts, top)


@dataclass(frozen=True, slots=True)
class _Found:
    """Documents with their final scores and their ranks; `notes` say what else counted."""

    fused: Fused[Signal]
    notes: Notes = lambda _: ()


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question to some documents."""

    shelf: Shelf
    query: Query
    signals: Sequence[Signal]
    weights: Weights
    top: int
    _ranked: dict[tuple[Signal, tuple[Level, ...]], Ranking] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        return max(self.weights.depth, self.top)

    def by_rank(self, levels: tuple[Level, ...]) -> _Found:
        """Of one lane: its own order."""
        fused = self._fuse({signal: self._rank(signal, levels).numbers for signal in self.signals})
        return _Found(fused)

    def by_all(self, levels: tuple[Level, ...]) -> Iterator[_Found]:
        """The documents that stand in files, and modules."""
        inside = tuple(level for level in levels if level in IN_FILES)
        if inside:
            yield self._inside_files(inside)
        if Level.MODULE in levels:
            modules = self.by_rank((Level.MODULE,)).fused
            weight = self.weights.module_weight if inside else 1.0
            scores = modules.scores * self._factors(modules.numbers) * weight
            yield _Found(replace(modules, scores=scores), self._why_lowered)

    def _inside_files(self, levels: tuple[Level, ...]) -> _Found:
        """Functions, classes and files, each with what the other documents of its file say for it."""
        files = self._files()
        if levels == (Level.FILE,):
            return files
        fused = self.by_rank(levels).fused
        numbers = fused.numbers
        if Level.FILE in levels:
            numbers, _ = distinct(np.concatenate((numbers, files.fused.numbers)))
        factors = self._factors(numbers)
        own_files = self.shelf.files(numbers)
        of_file = files.fused.score_of(own_files)
        own = fused.score_of(numbers) * factors
        called = self._called(levels).score_of(numbers) * factors
        if Level.FILE in levels:
            fit = np.where(numbers == own_files, self.weights.shown_itself, own) + called
            scores = self._share_places(own_files, fit, of_file)
        else:
            weight = self.weights.file_weight
            scores = (own + weight * of_file) / (1 + weight) + called

        def notes(number: int) -> tuple[str, ...]:
            return tuple(dict.fromkeys((*files.notes(self.shelf.file(number)), *self._why_lowered(number))))

        return _Found(Fused(numbers, scores, fused.rankings), notes)

    def _files(self) -> _Found:
        """Files by what stands in them: those that fit by name are raised, tests and vendored ones lowered."""
        decay = self.weights.decay
        evidence = {signal: self._evidence(signal) for signal in self._signals_of_files()}
        fused = self._fuse(
            {signal: rank_files(found.numbers, found.scores, decay=decay) for signal, found in evidence.items()}
        )
        is_named = are_among(fused.numbers, self.shelf.files_named_within(self.query.words))
        boosts = np.where(is_named, self.weights.name_boost, 0.0)
        called = self._called(IN_FILES)
        defined_in = self.shelf.files(called.numbers)
        for file in np.unique(defined_in).tolist():
            boosts[fused.numbers == file] += called.scores[defined_in == file].max()
        named = {*fused.numbers[is_named].tolist()}

        def notes(number: int) -> tuple[str, ...]:
            says = (f"file name says {name_of_file(self.shelf.id(number))}",) if number in named else ()
            named_here = called.numbers[(defined_in == number) & (called.numbers != number)].tolist()
            defines = (f"defines {self.shelf.id(each).rpartition('::')[2]}" for each in named_here)
            return (*says, *defines, *self._why_lowered(number)) if fused.has(number) else ()

        return _Found(replace(fused, scores=(fused.scores + boosts) * self._factors(fused.numbers)), notes)

    def _called(self, levels: tuple[Level, ...]) -> Fused[Signal]:
        """What the query calls by name: in prose classes; where nothing but a name was asked, it comes first."""
        if not self.query.is_name:
            things = self.shelf.called((*self.query.identifiers, *self.query.compounds), Level.CLASS)
            return Fused(things, np.full(len(things), self.weights.name_boost), {})
        named = self._rank(Signal.SYMBOL, levels)
        kept = named.scores >= EXACT_NAME
        scores = np.where(named.scores[kept] > EXACT_NAME, 1.0, self.weights.other_spelling)
        order = np.argsort(named.numbers[kept])
        return Fused(named.numbers[kept][order], scores[order], {})

    def _share_places(self, files: Numbers, fit: Scores, of_file: Scores) -> Scores:
        """Give a file's own score to the document that fits best; each further one tells less than one elsewhere."""
        best_first = np.argsort(-fit, kind="stable")
        shared = np.empty(len(fit))
        earlier = earlier_of_group(files[best_first])
        shared[best_first] = of_file[best_first] * falling(self.weights.repeated_file_factor, earlier)
        return shared

    def _rank(self, signal: Signal, levels: tuple[Level, ...]) -> Ranking:
        ranking = self._ranked.get((signal, levels))
        if ranking is None:
            ranking = rank_documents(self.shelf, self.query, signal, levels, limit=self.depth)
            self._ranked[signal, levels] = ranking
        return ranking

    def _signals_of_files(self) -> Sequence[Signal]:
        """Not the keywords, where anything but names speaks too: each document's hold the path of its file, which would
        be counted once for each."""
        others = [signal for signal in self.signals if signal is not Signal.KEYWORDS]
        return others if set(others) - {Signal.SYMBOL} else self.signals

    def _evidence(self, signal: Signal) -> Ranking:
        """What speaks for files: documents in them, or their passages."""
        if signal is Signal.CODE_WORDS:
            return rank_passages(self.shelf, self.query, limit=self.depth)
        found = self._rank(signal, IN_FILES)
        return Ranking(self.shelf.files(found.numbers), found.scores)

    def _fuse(self, rankings: Mapping[Signal, Numbers]) -> Fused[Signal]:
        return fuse_ranks(rankings, self.weights.signals, offset=self.weights.rank_offset)

    def _lowered(self) -> Iterator[tuple[str, str, float]]:
        """What is lowered: what a hit is told, which documents, the factor."""
        if not self.query.words & _TEST_WORDS and self.shelf.filters.tests is not WhichTests.ONLY:
            yield "test code, lowered", "is_test", self.weights.test_factor
        yield "vendored, lowered", "is_vendored", self.weights.vendored_factor

    def _factors(self, numbers: Numbers) -> Scores:
        """The factors of test and vendored code."""
        factors = np.ones(len(numbers))
        for _, name, factor in self._lowered():
            factors[self.shelf.gather(name, numbers) > 0] *= factor
        return factors

    def _why_lowered(self, number: int) -> tuple[str, ...]:
        index, row = self.shelf.locate(number)
        return tuple(note for note, name, _ in self._lowered() if index.arrays[name][row])


def _best_hits(shelf: Shelf, parts: Sequence[_Found], top: int) -> list[Hit]:
    """The best documents in their final order."""
    numbers = np.concatenate([part.fused.numbers for part in parts])
    scores = np.concatenate([part.fused.scores for part in parts])
    origin = np.repeat(np.arange(len(parts)), [len(part.fused.scores) for part in parts])
    best = highest(scores, top)
    importance = shelf.gather("importance", numbers[best])
    order = best[np.lexsort((numbers[best], -importance, -scores[best]))[:top]]
    hits = []
    for place in order.tolist():
        number, part = int(numbers[place]), parts[origin[place]]
        index, row = shelf.locate(number)
        ranks, notes = part.fused.ranks(number), part.notes(number)
        hits.append(make_hit(index, row, score=float(scores[place]), ranks=ranks, notes=notes))
    return hits
