"""One search over lanes, levels and repositories.

Files are ranked by all that stands in them, documents by themselves; both by
rank fusion over the lanes. Where several levels are asked, each file takes one
place and is shown by the document in it that fits best: the function itself
where one function is meant, the file where its documents fit together. With
one lane only, its own order stands.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from codesum_pipeline.indexes.embedders import Embedder
from codesum_pipeline.indexes.lanes import LANES, Lane
from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.retrieval.asked import Asked, Levels
from codesum_pipeline.retrieval.callers import Raised, raise_callers
from codesum_pipeline.retrieval.candidates import Candidates, Ranking
from codesum_pipeline.retrieval.evidence import earlier_of_group, falling, rank_files
from codesum_pipeline.retrieval.exact import ReadTexts, exact_hits
from codesum_pipeline.retrieval.file_names import name_of_file
from codesum_pipeline.retrieval.filters import ANYTHING, Filters, Mask, WhichTests
from codesum_pipeline.retrieval.fit import Likeness, mean_of_nearest
from codesum_pipeline.retrieval.fusion import Fused, Places, Scores, fuse_ranks, highest
from codesum_pipeline.retrieval.hits import Hit, make_hit
from codesum_pipeline.retrieval.lanes import EXACT_NAME, IN_FILES, SIGNALS, Lookup, needs_vector, signals_of
from codesum_pipeline.retrieval.query import parse_query
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.shelf import Shelf
from codesum_pipeline.retrieval.weights import DEFAULT_WEIGHTS, Signal, Weights

DEFAULT_TOP = 10
# Who says one of these is looking for tests.
_TEST_WORDS = frozenset(tokenize("test tests testing fixture mock"))

# How many of the good documents that a hit calls are named.
_CALLED_SHOWN = 3

# What else counted for a candidate. Only those that are shown are asked about.
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
    """The hits of `answer`, without what stands in sources and without a judgement."""
    asked = _asked(indexes, query, embedder, levels, lanes, filters, weights)
    return [] if asked is None else _Answer.to(asked, limit=max(weights.depth, top)).hits(top)


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """`fits_well` is whether the best hits have to do with the question; None where it is not known, since lanes were
    named."""

    hits: list[Hit]
    fits_well: bool | None


def answer(
    indexes: Sequence[PublishedIndex],
    query: str,
    *,
    embedder: Embedder,
    top: int = DEFAULT_TOP,
    levels: Sequence[Level] = LEVELS,
    lanes: Sequence[Lane] = LANES,
    filters: Filters = ANYTHING,
    weights: Weights = DEFAULT_WEIGHTS,
    read: ReadTexts | None = None,
) -> SearchAnswer:
    """At most `top` documents of all indexes, best first; ties break by importance, then by id.

    What stands in a source as it was asked for comes first; sources are looked at where somebody can `read` them, and
    where all lanes are asked. Raises `ConfigurationError` when an index was made with another embedding model and a
    dense lane is asked.
    """
    asked = _asked(indexes, query, embedder, levels, lanes, filters, weights)
    if asked is None:
        return SearchAnswer([], fits_well=False)
    found = _Answer.to(asked, limit=max(weights.depth, top))
    hits = found.hits(top)
    if set(lanes) != set(LANES):
        return SearchAnswer(hits, fits_well=None)
    above = max((hit.score for hit in hits), default=0.0)
    exact = exact_hits(asked.shelf, query, levels=asked.levels, read=read, above=above, top=top) if read else []
    ranked = {(hit.repo, hit.id): hit for hit in hits}
    first = [
        replace(hit, why=f"{hit.why}; {ranked[hit.repo, hit.id].why}") if (hit.repo, hit.id) in ranked else hit
        for hit in exact
    ]
    known = {(hit.repo, hit.id) for hit in exact}
    others = [hit for hit in hits if (hit.repo, hit.id) not in known]
    return SearchAnswer([*first, *others][:top], fits_well=bool(exact) or found.fits_well(hits))


def likeness(indexes: Sequence[PublishedIndex], query: str, *, embedder: Embedder) -> Likeness:
    """What the judgement on an answer is made from."""
    asked = _asked(indexes, query, embedder, LEVELS, LANES, ANYTHING, DEFAULT_WEIGHTS)
    if asked is None:
        return Likeness(nearness=0.0, words=0.0, documents=0)
    found = _Answer.to(asked, limit=DEFAULT_WEIGHTS.depth)
    return found.likeness(found.hits(DEFAULT_TOP))


def _asked(
    indexes: Sequence[PublishedIndex],
    query: str,
    embedder: Embedder,
    levels: Sequence[Level],
    lanes: Sequence[Lane],
    filters: Filters,
    weights: Weights,
) -> Asked | None:
    """What is to be looked up; None where there is nothing that could be found."""
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
        return None
    signals = signals_of(lanes)
    if set(lanes) != set(LANES):
        weights = replace(weights, signals=_weights_of(lanes, weights))
    spoken = tuple(signal for signal in signals if weights.signals[signal])
    return Asked(shelf, parsed, spoken, weights, wanted, is_one_lane=len(lanes) == 1)


def _weights_of(lanes: Sequence[Lane], weights: Weights) -> Mapping[Signal, float]:
    """The weights where some lanes are named: one alone speaks with all its signals, and none is silent."""
    chosen = dict(weights.signals)
    for lane in lanes:
        if len(lanes) == 1 or not any(chosen[signal] for signal in SIGNALS[lane]):
            chosen.update(dict.fromkeys(SIGNALS[lane], 1.0))
    return chosen


@dataclass(frozen=True, slots=True)
class _Scored:
    """Candidates with their final scores; `fused` has the ranks, `notes` say what else counted."""

    places: Places
    scores: Scores
    fused: Fused[Signal]
    notes: Notes = lambda _: ()


@dataclass(frozen=True, slots=True)
class _Answer:
    """All rankings of a question, and what comes of them for the documents that they name."""

    asked: Asked
    lookup: Lookup
    candidates: Candidates
    rankings: Mapping[tuple[Signal, Levels], Ranking]
    passages: Ranking
    called_in_prose: Places

    @classmethod
    def to(cls, asked: Asked, *, limit: int) -> "_Answer":
        """Look everything up; no ranking is longer than `limit`."""
        lookup = Lookup(asked.shelf, asked.query, limit=limit)
        found = {wanted: lookup.best(*wanted) for wanted in dict.fromkeys(asked.rankings())}
        passages, called = asked.passages(lookup), asked.called_in_prose()
        named = [*(each.numbers for each in found.values()), passages.numbers, called]
        candidates = Candidates.of(asked.shelf, named)
        return cls(
            asked=asked,
            lookup=lookup,
            candidates=candidates,
            rankings={wanted: candidates.rank(each, limit=limit) for wanted, each in found.items()},
            passages=candidates.rank_files(passages, limit=limit),
            called_in_prose=candidates.places(called),
        )

    def hits(self, top: int) -> list[Hit]:
        """The best documents in their final order."""
        return self.best_hits([self.by_rank(self.asked.levels)] if self.asked.is_one_lane else list(self.by_all()), top)

    def likeness(self, hits: Sequence[Hit]) -> Likeness:
        """How the question and the repositories of its best hits go together."""
        shelf, repos = self.asked.shelf, {hit.repo for hit in hits}
        near = (ranking.scores for (signal, _), ranking in self.rankings.items() if signal is Signal.SUMMARY)
        shares = (
            self.lookup.share_of_words(position) for position, index in enumerate(shelf.indexes) if index.repo in repos
        )
        return Likeness(nearness=mean_of_nearest(near), words=max(shares, default=0.0), documents=len(shelf))

    def fits_well(self, hits: Sequence[Hit]) -> bool:
        """Whether the best hits have to do with the question; what is asked for by its very name does."""
        is_name = self.asked.query.is_name and self.asked.inside
        return bool(is_name and len(self._called(self.asked.inside).places)) or self.likeness(hits).fits()

    def by_rank(self, levels: Levels) -> _Scored:
        """Documents by rank fusion alone; of one lane: its own order."""
        fused = self._fuse({signal: self.rankings[signal, levels].places for signal in self.asked.signals})
        places = fused.ranked
        return _Scored(places, fused.scores[places], fused)

    def by_all(self) -> Iterator[_Scored]:
        """The documents that stand in files, and modules."""
        inside, factors = self.asked.inside, self._factors()
        if inside:
            yield self._inside_files(inside, factors)
        if Level.MODULE in self.asked.levels:
            modules = self.by_rank((Level.MODULE,))
            weight = self.asked.weights.module_weight if inside else 1.0
            scores = modules.scores * factors[modules.places] * weight
            yield replace(modules, scores=scores, notes=self._why_lowered)

    def _inside_files(self, levels: Levels, factors: Scores) -> _Scored:
        """Functions, classes and files, each with what the other documents of its file say for it."""
        weights, files = self.asked.weights, self._files(factors)
        if levels == (Level.FILE,):
            places = files.fused.ranked
            return replace(files, places=places, scores=files.scores[places])
        fused = self.by_rank(levels).fused
        places = (fused.scores + files.fused.scores).nonzero()[0] if Level.FILE in levels else fused.ranked
        own_files, factors = self.candidates.files[places], factors[places]
        of_file = files.scores[own_files]
        own = fused.scores[places] * factors
        called = self._scores_of(self._called(levels))[places] * factors
        if Level.FILE in levels:
            fit = np.where(places == own_files, weights.shown_itself, own) + called
            scores = self._share_places(own_files, fit, of_file)
            raised = Raised.nothing(scores)
        else:
            scores = (own + weights.file_weight * of_file) / (1 + weights.file_weight) + called
            raised = self._raise_callers(places, scores, factors)

        def notes(place: int) -> tuple[str, ...]:
            best = places[raised.called_by(int(places.searchsorted(place)))[:_CALLED_SHOWN]].tolist()
            calls = (f"calls {self._id(each).partition('::')[2].replace('::', '.')}" for each in best)
            of_file = files.notes(int(self.candidates.files[place]))
            return tuple(dict.fromkeys((*calls, *of_file, *self._why_lowered(place))))

        return _Scored(places, raised.scores, fused, notes)

    def _raise_callers(self, places: Places, scores: Scores, factors: Scores) -> Raised:
        """Where nothing but a name was asked, what calls it is no answer."""
        if self.asked.query.is_name:
            return Raised.nothing(scores)
        numbers = self.candidates.numbers[places]
        return raise_callers(self.asked.shelf, numbers, scores, factors=factors, weights=self.asked.weights)

    def _files(self, factors: Scores) -> _Scored:
        """Files by what stands in them: those that fit by name are raised, tests and vendored ones lowered.

        Every candidate has a score here, which is 0 for what is no file.
        """
        fused = self._fuse({signal: self._evidence(signal) for signal in self.asked.speaks_for_files})
        is_named = self.candidates.are_among(self.asked.shelf.files_named_within(self.asked.query.words))
        boosts = np.where(is_named, self.asked.weights.name_boost, 0.0)
        called = self._called(IN_FILES)
        defined_in = self.candidates.files[called.places]
        best_called = np.zeros(len(boosts))
        np.maximum.at(best_called, defined_in, called.scores)
        scores = np.where(fused.scores > 0, (fused.scores + (boosts + best_called)) * factors, 0.0)

        def notes(place: int) -> tuple[str, ...]:
            if not fused.scores[place]:
                return ()
            says = (f"file name says {name_of_file(self._id(place))}",) if is_named[place] else ()
            named_here = called.places[(defined_in == place) & (called.places != place)].tolist()
            defines = (f"defines {self._id(each).rpartition('::')[2]}" for each in named_here)
            return (*says, *defines, *self._why_lowered(place))

        return _Scored(self.candidates.files, scores, fused, notes)

    def _called(self, levels: Levels) -> Ranking:
        """What the query calls by name: in prose classes; where nothing but a name was asked, it comes first."""
        weights = self.asked.weights
        if not self.asked.query.is_name:
            return Ranking(self.called_in_prose, np.full(len(self.called_in_prose), weights.name_boost))
        named = self.rankings[Signal.SYMBOL, levels]
        kept = named.scores >= EXACT_NAME
        places, scores = named.places[kept], np.where(named.scores[kept] > EXACT_NAME, 1.0, weights.other_spelling)
        order = places.argsort()
        return Ranking(places[order], scores[order])

    def _scores_of(self, ranking: Ranking) -> Scores:
        """For every candidate its score in a ranking, or 0."""
        scores = np.zeros(len(self.candidates))
        scores[ranking.places] = ranking.scores
        return scores

    def _share_places(self, files: Places, fit: Scores, of_file: Scores) -> Scores:
        """Give a file's own score to the document that fits best; each further one tells less than one elsewhere."""
        best_first = np.argsort(-fit, kind="stable")
        shared = np.empty(len(fit))
        earlier = earlier_of_group(files[best_first])
        shared[best_first] = of_file[best_first] * falling(self.asked.weights.repeated_file_factor, earlier)
        return shared

    def _evidence(self, signal: Signal) -> Places:
        """The files that a signal speaks for, by documents in them or by their passages."""
        found = self.passages if signal is Signal.CODE_WORDS else self.rankings[signal, IN_FILES]
        return rank_files(self.candidates.files[found.places], found.scores, decay=self.asked.weights.decay)

    def _fuse(self, rankings: Mapping[Signal, Places]) -> Fused[Signal]:
        weights = self.asked.weights
        return fuse_ranks(rankings, weights.signals, offset=weights.rank_offset, count=len(self.candidates))

    def _lowered(self) -> Iterator[tuple[str, Mask, float]]:
        """What is lowered: what a hit is told, which candidates, the factor."""
        query, filters = self.asked.query, self.asked.shelf.filters
        if not query.words & _TEST_WORDS and filters.tests is not WhichTests.ONLY:
            yield "test code, lowered", self.candidates.is_test, self.asked.weights.test_factor
        yield "vendored, lowered", self.candidates.is_vendored, self.asked.weights.vendored_factor

    def _factors(self) -> Scores:
        """The factors of test and vendored code."""
        factors = np.ones(len(self.candidates))
        for _, are_lowered, factor in self._lowered():
            factors[are_lowered] *= factor
        return factors

    def _why_lowered(self, place: int) -> tuple[str, ...]:
        return tuple(note for note, are_lowered, _ in self._lowered() if are_lowered[place])

    def _id(self, place: int) -> str:
        return self.asked.shelf.id(int(self.candidates.numbers[place]))

    def best_hits(self, parts: Sequence[_Scored], top: int) -> list[Hit]:
        """The best documents in their final order."""
        places = np.concatenate([part.places for part in parts])
        scores = np.concatenate([part.scores for part in parts])
        origin = np.repeat(np.arange(len(parts)), [len(part.places) for part in parts])
        best = highest(scores, top)
        order = best[np.lexsort((places[best], -self.candidates.importance[places[best]], -scores[best]))[:top]]
        hits = []
        for place, score, part in zip(
            places[order].tolist(), scores[order].tolist(), origin[order].tolist(), strict=True
        ):
            index, row = self.asked.shelf.locate(int(self.candidates.numbers[place]))
            ranks, notes = parts[part].fused.ranks_of(place), parts[part].notes(place)
            hits.append(make_hit(index, row, score=score, ranks=ranks, notes=notes))
        return hits
