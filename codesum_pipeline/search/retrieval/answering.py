"""Scores for the documents that the rankings of a question name.

A file is scored by each signal over all documents in it, by its documents, each fused over the signals first, and by
its passages. A function or class is scored by its own signals, and in part by its file.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.indexes.file_formats.highest_scores import find_highest
from codesum_pipeline.indexes.file_formats.route_names import asked_route_forms
from codesum_pipeline.search.retrieval.adjustments import (
    DocumentQuery,
    Levels,
    NameShares,
    RaisedScores,
    TwinGroup,
    fold_twins,
    penalties_of,
    raise_callers,
    twin_notes,
)
from codesum_pipeline.search.retrieval.file_names import name_of_file
from codesum_pipeline.search.retrieval.hits import DIGITS, Hit, explain_ranks, make_hit
from codesum_pipeline.search.retrieval.lookup import Lookup
from codesum_pipeline.search.retrieval.query import EXACT_NAME, SPELLED_NAME, pointers_in
from codesum_pipeline.search.retrieval.shelf import Candidates, Mask, join_arrays
from codesum_pipeline.search.retrieval.weights import (
    IN_FILES,
    NOTHING,
    FusedRanking,
    Likeness,
    Numbers,
    Places,
    Ranking,
    Scores,
    Signal,
    falling_powers,
    falling_ranks,
    find_runs,
    fuse_rankings,
    highest_sums,
    mean_of_nearest,
    sums_by_file,
)

# A hit names at most this many of the good documents that it calls.
_CALLED_SHOWN = 3
# A factor that puts one score behind another whatever else is added.
_JUST_BELOW = 1 - 1e-9
# Shares count to this power: many places contain half the words of a question.
_NEARLY_ALL = 4

# The further reasons for a candidate's score, computed only for those that are shown.
Notes = Callable[[int], tuple[str, ...]]


class _ScoredCandidates(Struct, frozen=True):
    """Candidates with their final scores; `fused` has the ranks, `notes` give further reasons."""

    places: Places
    scores: Scores
    fused: FusedRanking[Signal]
    notes: Notes = lambda _: ()


def _lowest_shown(of_files: Scores, top: int) -> float:
    """The lowest score of a file that may be shown: no hit is better than its file, and one of each file is as good."""
    return float(-np.partition(-of_files, top - 1)[top - 1]) if len(of_files) > top else 0.0


class Answer:
    """All rankings of a question, and the hits that they give.

    It looks up what may be among the best `top`, at most `limit` documents in each ranking. What scores rest on is
    worked out when a hit first needs it, and remembered.
    """

    def __init__(self, question: DocumentQuery, lookup: Lookup, *, top: int, limit: int) -> None:
        found = {wanted: lookup.best(*wanted) for wanted in dict.fromkeys(question.rankings())}
        passages, called, pointed = NOTHING, NOTHING.numbers, NOTHING.numbers
        if question.inside and not question.is_one_lane:
            if Signal.CODE_WORDS in question.file_signals:
                passages = lookup.best_passages()
            if not question.query.is_name:
                called = lookup.called((*question.query.identifiers, *question.query.compounds), Level.CLASS)
            if pointers := pointers_in(question.query.text):
                pointed = question.shelf.pointed(pointers)
        shares = NameShares.of(lookup, question.query)
        together = lookup.words_together(shares.typed) if len(passages.numbers) else NOTHING
        rare = lookup.rare_words(shares.typed) if len(passages.numbers) else NOTHING
        owners = lookup.best_owners() if len(passages.numbers) else NOTHING
        named = [each.numbers for each in (*found.values(), passages, rare, owners)] + [called, pointed]
        candidates = Candidates.of(question.shelf, named)
        self.question = question
        self.top = top
        self.candidates = candidates
        self.rankings = candidates.rank_all(found, limit=limit)
        self.passages = candidates.rank_files(passages, limit=limit)
        self.called_in_prose = candidates.places(called)
        self.pointed = candidates.places(pointed)
        self.lowered = tuple(penalties_of(question, candidates))
        self.shares = shares
        # In another language than the code's, the words of a question may be in texts alone.
        self.in_summaries = 0.0 if question.query.is_read else lookup.words_in_summaries(shares.typed)
        # The files of the best passages, with the share of the question's words that each passage has.
        self.together = Ranking(candidates.places(together.numbers), together.scores.astype(np.float64))
        # The long functions that the best passages are in, with the share of their scores in the best one's.
        self.owners = Ranking(candidates.places(owners.numbers), owners.scores.astype(np.float64))
        # The files with words that few files have, with the share of the question that these words make up.
        self.rare = Ranking(candidates.places(rare.numbers), rare.scores.astype(np.float64))

    @cached_property
    def hits(self) -> list[Hit]:
        if self.question.is_one_lane:
            return self._best_hits([self.by_rank(self.question.levels)])
        files = self.top
        while True:
            hits = self._best_hits([*self.by_all(files)])
            lowest = (
                round(_lowest_shown(self._files.scores, files), DIGITS) if Level.FILE in self.question.levels else 0.0
            )
            # Twins take one place together, so further files may be needed.
            if lowest <= 0 or (len(hits) == self.top and hits[-1].score >= lowest):
                return hits
            files *= 2

    @property
    def likeness(self) -> Likeness:
        """How alike the question and the documents are."""
        near = (ranking.scores for (signal, _), ranking in self.rankings.items() if signal is Signal.SUMMARY)
        words = max(float(self.together.scores.max(initial=0)), self.in_summaries)
        return Likeness(
            nearness=mean_of_nearest(near),
            words=words,
            documents=len(self.question.shelf),
            is_read=self.question.query.is_read,
            excess=self.shares.excess(words),
        )

    def fits_well(self) -> bool:
        """Whether the best hits have to do with the question: a document of the wanted name always has."""
        is_name = self.question.query.is_name and self.question.inside
        is_called = bool(is_name and len(self._called(self.question.inside).places)) or bool(len(self.pointed))
        return is_called or self.likeness.fits()

    def by_rank(self, levels: Levels) -> _ScoredCandidates:
        """Documents by the fusion of their rankings alone; of one lane: its own order."""
        rankings = {signal: self.rankings[signal, levels] for signal in self.question.signals}
        fused = self._fuse(rankings, self.question.weights.signals)
        places = fused.ranked
        return _ScoredCandidates(places, fused.scores[places], fused)

    @cached_property
    def _documents(self) -> _ScoredCandidates:
        """Documents in files by the fusion of their rankings alone."""
        return self.by_rank(IN_FILES)

    def by_all(self, files: int) -> Iterator[_ScoredCandidates]:
        """The documents of the best `files` files, and modules."""
        inside, factors = self.question.inside, self._factors
        if inside:
            yield self._inside_files(inside, files)
        if Level.MODULE in self.question.levels:
            modules = self.by_rank((Level.MODULE,))
            weight = self.question.weights.module_weight if inside else 1.0
            scores = modules.scores * factors[modules.places] * weight
            yield replace(modules, scores=scores, notes=self._why_lowered)

    def _inside_files(self, levels: Levels, most: int) -> _ScoredCandidates:
        """Functions, classes and files, each also scored by its file; with files, those of the best `most`."""
        weights, files, factors = self.question.weights, self._files, self._factors
        if levels == (Level.FILE,):
            ranked = files.scores.nonzero()[0]
            return replace(files, places=ranked, scores=files.scores[ranked])
        fused = (self._documents if levels == IN_FILES else self.by_rank(levels)).fused
        places: Places = (fused.scores + files.scores).nonzero()[0] if Level.FILE in levels else fused.ranked
        if Level.FILE in levels:
            places = places[files.scores[self.candidates.files[places]] >= _lowest_shown(files.scores, most)]
        own_files, factors = self.candidates.files[places], factors[places]
        of_file = files.scores[own_files]
        own = fused.scores[places] * factors
        called = (
            self._scores_of(self._called_in_files if levels == IN_FILES else self._called(levels))[places] * factors
        )
        if Level.FILE in levels:
            has_the_name = called > 0 if self.question.query.is_name else np.zeros(len(places), dtype=np.bool_)
            # Of a file, what has the wanted name is shown before what speaks of it.
            of_passage = weights.passage_owner * self._scores_of(self.owners)[places]
            fit = np.where(places == own_files, weights.shown_itself, own) + of_passage + called + has_the_name
            scores = self._with_siblings(own_files, places == own_files, fit, of_file, has_the_name)
            raised = RaisedScores.unchanged(scores)
        else:
            scores = (own + weights.file_weight * of_file) / (1 + weights.file_weight) + called
            raised = RaisedScores.unchanged(scores)
            # Where the question is only a name, its callers are no answer.
            if not self.question.query.is_name:
                numbers = self.candidates.numbers[places]
                raised = raise_callers(self.question.shelf, numbers, scores, factors=factors, weights=weights)

        def notes(place: int) -> tuple[str, ...]:
            best = raised.called_by(int(places.searchsorted(place)))[:_CALLED_SHOWN] if len(raised.callers) else ()
            calls = [f"calls {self._id(int(places[each])).partition('::')[2].replace('::', '.')}" for each in best]
            return tuple(dict.fromkeys((*calls, *files.notes(place), *self._why_lowered(place))))

        return _ScoredCandidates(places, raised.scores, fused, notes)

    def _with_siblings(
        self, files: Places, are_files: Mask, fit: Scores, of_file: Scores, have_the_name: Mask
    ) -> Scores:
        """Give a file's score to the document in it that fits best, and a part of it to each further one. A file is
        shown as a whole only where nothing in it fits. Further documents of a file come after the best of the first few
        files: most questions have one answer, and people read the first hits. Documents that have the wanted name are
        not held back."""
        weights = self.question.weights
        if not len(files):
            return of_file
        # Sorted by file, the best first in each.
        order = np.lexsort((are_files, -fit, files))
        starts, groups = find_runs(files[order])
        rank: Numbers = np.arange(len(files)) - starts[groups]
        of_file, fit = of_file[order], fit[order]
        shares = np.where(rank == 0, 1.0, falling_powers(weights.sibling_factor, rank) * fit / fit[starts][groups])
        shares[are_files[order] & (rank > 0)] = 0.0
        leads = np.sort(of_file[starts])[::-1]
        limit = leads[min(weights.files_before_siblings, len(leads)) - 1] * _JUST_BELOW
        limits = np.where((rank == 0) | have_the_name[order], np.inf, limit)
        scores: Scores = np.empty(len(files))
        scores[order] = np.minimum(of_file * shares, limits)
        return scores

    @cached_property
    def _files(self) -> _ScoredCandidates:
        """Files by their content: those that fit by name are raised, tests and vendored ones lowered. Every
        candidate has a score here, which is 0 for other documents than files."""
        count, factors = len(self.candidates), self._factors
        fused, evidence = self._evidence()
        # The files whose names consist of words of the query.
        words, indexes = self.question.query.words, self.question.shelf.with_starts()
        within = join_arrays([index.file_names.rows_within(words) + start for index, start in indexes])
        named_files = self.candidates.are_among(within).nonzero()[0]
        names = (name_of_file(self._id(place)) for place in named_files.tolist())
        named = Ranking(named_files, self.question.weights.name_boost * np.array(self.shares.of_names(names)))
        called = self._called_in_files
        defined_in = self.candidates.files[called.places]
        best_called = np.zeros(count)
        np.maximum.at(best_called, defined_in, called.scores)
        raised = self._scores_of(named) + best_called
        are_named = frozenset(named.places.tolist())
        scores = np.where((evidence > 0) | (best_called > 0), (evidence + raised) * factors * self._quoted(), 0.0)

        def notes(place: int) -> tuple[str, ...]:
            file = int(self.candidates.files[place])
            if not scores[file]:
                return ()
            by_name = [f"file name says {name_of_file(self._id(file))}"] if file in are_named else ()
            return (*by_name, *self._why_defining(place, called.places[defined_in == file]), *self._why_lowered(file))

        return _ScoredCandidates(self.candidates.files, scores, fused, notes)

    @cached_property
    def _called_in_files(self) -> Ranking:
        return self._called(IN_FILES)

    def _why_defining(self, place: int, called: Places) -> Iterator[str]:
        """What a document defines of what the query names in its file, and what else the file does."""
        here = self._id(place)
        for id_ in (self._id(each) for each in called.tolist() if each != place or "::" in here):
            is_here = id_ == here or id_.startswith(f"{here}::")
            yield f"{'defines' if is_here else 'its file defines'} {id_.rpartition('::')[2]}"

    def _quoted(self) -> Scores:
        """The factors of files that have rare words of the question, or nearly all its words in one passage where few
        others have them and chance does not explain it: error messages, settings, quoted text."""
        share = np.zeros(len(self.candidates))
        np.maximum.at(share, self.together.places, self.together.scores)
        files = share.nonzero()[0]
        found = share[files]
        have_as_much = len(files) - np.sort(found).searchsorted(found)
        factors = 1 + self.question.weights.rare_words * self._scores_of(self.rare)
        sure = self.shares.certainty(found)
        factors[files] += self.question.weights.quoted * sure * found**_NEARLY_ALL / have_as_much
        return factors

    def _called(self, levels: Levels) -> Ranking:
        """The documents that the query names, classes in prose, and of a query that is a name all with this name; and
        first those that it points to."""
        weights = self.question.weights
        query = self.question.query
        if query.is_name or asked_route_forms(query.text):
            ranking = self.rankings[Signal.SYMBOL, levels]
            kept = ranking.scores >= (EXACT_NAME if query.is_name else SPELLED_NAME)
            order = ranking.places[kept].argsort()
            scores = np.where(ranking.scores[kept] > EXACT_NAME, 1.0, weights.other_spelling)
            named = Ranking(ranking.places[kept][order], scores[order])
        else:
            names = (self._id(place).rpartition("::")[2] for place in self.called_in_prose.tolist())
            named = Ranking(self.called_in_prose, weights.name_boost * np.array(self.shares.of_names(names)))
        if not len(self.pointed):
            return named
        scores = self._scores_of(named)
        scores[self.pointed] = 1.0
        places = scores.nonzero()[0]
        return Ranking(places, scores[places])

    def _scores_of(self, ranking: Ranking) -> Scores:
        scores = np.zeros(len(self.candidates))
        scores[ranking.places] = ranking.scores
        return scores

    def _evidence(self) -> tuple[FusedRanking[Signal], Scores]:
        """The fused ranking of files by each signal of their documents or passages; and the scores of files by these
        signals, their documents, each fused first, and their passages together."""
        weights, signals, documents = self.question.weights, self.question.file_signals, self._documents
        rankings = [
            self.passages if signal is Signal.CODE_WORDS else self.rankings[signal, IN_FILES] for signal in signals
        ]
        of_documents = (-documents.scores).argsort(kind="stable")
        places = [*(each.places for each in rankings), documents.places[of_documents], self.passages.places]
        scores = [
            *(each.scores for each in rankings),
            documents.scores[of_documents],
            falling_ranks(len(self.passages.places), weights.rank_offset),
        ]
        decays = [*[weights.decay] * len(rankings), weights.document_decay, weights.document_decay]
        files = [self.candidates.files[each] for each in places]
        *of_signals, by_documents, by_passages = sums_by_file(files, scores, decays, count=len(self.candidates))
        fused = self._fuse(dict(zip(signals, map(highest_sums, of_signals), strict=True)), weights.file_signals)
        shares = 1 + weights.document_share + weights.passage_share
        evidence = fused.scores + weights.document_share * by_documents + weights.passage_share * by_passages
        return fused, evidence / shares

    def _fuse(self, rankings: Mapping[Signal, Ranking], weights: Mapping[Signal, float]) -> FusedRanking[Signal]:
        offset, limit = self.question.weights.rank_offset, self.question.weights.depth
        return fuse_rankings(rankings, weights, offset=offset, limit=limit, count=len(self.candidates))

    @cached_property
    def _factors(self) -> Scores:
        factors = np.ones(len(self.candidates))
        for each in self.lowered:
            factors[each.are_lowered] *= each.factor
        return factors

    def _why_lowered(self, place: int) -> tuple[str, ...]:
        return tuple(each.note for each in self.lowered if each.are_lowered[place])

    def _id(self, place: int) -> str:
        return self.question.shelf[int(self.candidates.numbers[place])].id

    def _best_hits(self, parts: Sequence[_ScoredCandidates]) -> list[Hit]:
        """The best documents in their final order, twins as one."""
        places = np.concatenate([part.places for part in parts])
        scores = np.concatenate([part.scores for part in parts])
        origin = np.repeat(np.arange(len(parts)), [len(part.places) for part in parts])
        shown = self._shown(places, scores)
        at = [each.at for each in shown]
        found = [*zip(places[at].tolist(), origin[at].tolist(), shown, strict=True)]
        ranks = [part.fused.ranks_of([place for place, of, _ in found if of == k]) for k, part in enumerate(parts)]
        numbers = self.candidates.numbers[places[at]].tolist()
        hits = []
        for number, (place, part, each) in zip(numbers, found, strict=True):
            document = self.question.shelf[number]
            notes = (*parts[part].notes(place), *twin_notes(document.index, each.twins))
            hits.append(make_hit(document, score=each.score, why=explain_ranks(ranks[part][place], notes)))
        return hits

    def _shown(self, places: Places, scores: Scores) -> list[TwinGroup]:
        """The best of some places in their final order, twins as one."""
        limit = self.top
        while True:
            best = find_highest(scores, limit)
            order = best[np.lexsort((places[best], -self.candidates.importance[places[best]], -scores[best]))].tolist()
            alone = (TwinGroup(at, float(scores[at]), ()) for at in order)
            folded = (
                alone
                if self.question.is_one_lane
                else fold_twins(self.question.shelf, self.candidates, order, places, scores)
            )
            shown = [*islice(folded, self.top)]
            if len(shown) == self.top or len(best) == len(scores):
                return shown
            limit *= 2


def find_answer(question: DocumentQuery, *, top: int) -> Answer:
    """Look up what may be among the best `top`. Modules are seldom among them, and score at most their weight: they are
    looked up only where the other hits leave room for one."""
    limit = max(question.weights.depth, top)
    lookup = Lookup(question.shelf, question.query, limit=limit, related_weight=question.weights.related_words)
    if question.inside and Level.MODULE in question.levels and not question.is_one_lane:
        answer = Answer(replace(question, levels=question.inside), lookup, top=top, limit=limit)
        if len(answer.hits) == top and answer.hits[-1].score > question.weights.module_weight:
            return answer
    return Answer(question, lookup, top=top, limit=limit)
