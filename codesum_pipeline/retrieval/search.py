"""One search over lanes, levels and repositories.

Each level is ranked by itself, since a file and a function do not compete on
equal terms: for each level the lanes' rankings are fused, and the levels are
put together by what is known about each document. With one lane only, its own
order stands.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from codesum_pipeline.indexes.embedders import Embedder
from codesum_pipeline.indexes.lanes import LANES, Lane
from codesum_pipeline.indexes.tokens import tokenize
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.retrieval.fusion import fuse_ranks
from codesum_pipeline.retrieval.hits import Hit, make_hit
from codesum_pipeline.retrieval.lanes import DocumentRef, Signal, needs_vector, rank_levels, signals_of
from codesum_pipeline.retrieval.query import Query, parse_query
from codesum_pipeline.retrieval.reader import PublishedIndex

DEFAULT_TOP = 10
# How deep each ranking goes: deep enough for a document to win that every lane puts in the middle. 15 to 100 differ by
# less than the error of 82 questions on four repositories (nDCG@10 .835 to .846), and time grows with it.
_DEPTH = 30

_WEIGHTS: Mapping[Signal, float] = {
    Signal.SYMBOL: 1.5,
    Signal.CODE_WORDS: 1.0,
    Signal.CODE_MEANING: 0.5,
    Signal.SUMMARY: 0.5,
    Signal.FUSED: 1.0,
    Signal.KEYWORDS: 1.0,
}
# A module answers few questions as well as the best of its files does.
_LEVEL_WEIGHTS: Mapping[Level, float] = {Level.FUNCTION: 1.0, Level.CLASS: 1.0, Level.FILE: 1.0, Level.MODULE: 0.7}
# For a file whose name consists of words of the query, added to scores that reach about 1.
_FILE_NAME_BOOST = 0.2
# For the file that most good documents stand in.
_FILE_SUPPORT = 0.3
_TEST_FACTOR = 0.5
_VENDORED_FACTOR = 0.5
# Each further hit in the same file tells less than one elsewhere.
_REPEATED_FILE_FACTOR = 0.6
# Who says one of these is looking for tests.
_TEST_WORDS = frozenset(tokenize("test tests testing fixture mock"))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A document on its way to become a hit; `file` is the row of its file, -1 for a module."""

    ref: DocumentRef
    file: int
    score: float
    ranks: Mapping[Signal, int]
    notes: tuple[str, ...] = ()

    @property
    def file_ref(self) -> DocumentRef:
        return self.ref[0], self.file


def search(
    indexes: Sequence[PublishedIndex],
    query: str,
    *,
    embedder: Embedder,
    top: int = DEFAULT_TOP,
    levels: Sequence[Level] = LEVELS,
    lanes: Sequence[Lane] = LANES,
) -> list[Hit]:
    """At most `top` documents of all indexes, best first; ties break by importance, then by id.

    Raises `ConfigurationError` when an index was made with another embedding
    model and a dense lane is asked.
    """
    if needs_vector(lanes):
        for index in indexes:
            index.check_embedder(embedder)
    ordered = sorted(indexes, key=lambda index: index.repo)
    parsed = parse_query(query, embedder=embedder if needs_vector(lanes) else None)
    if parsed.vector is not None:
        for index in indexes:
            index.check_query(parsed.vector)
    candidates = _fuse(ordered, parsed, lanes, levels, max(_DEPTH, top))
    if len(lanes) > 1:
        candidates = _spread_files(ordered, _adjust(ordered, parsed, candidates))
    return [
        make_hit(ordered[position], row, score=found.score, ranks=found.ranks, notes=found.notes)
        for found in _first(ordered, candidates, top)
        for position, row in [found.ref]
    ]


def _fuse(
    indexes: Sequence[PublishedIndex], query: Query, lanes: Sequence[Lane], levels: Sequence[Level], depth: int
) -> list[_Candidate]:
    """The best `depth` documents of each level, with what all asked lanes say."""
    by_signal = {signal: rank_levels(indexes, query, signal, levels, limit=depth) for signal in signals_of(lanes)}
    files = [index.arrays["file_row"] for index in indexes]
    candidates = []
    for level in levels:
        fused = fuse_ranks({signal: ranked[level] for signal, ranked in by_signal.items()}, _WEIGHTS)
        for found in fused[:depth]:
            position, row = found.document
            score = found.score * _LEVEL_WEIGHTS[level]
            candidates.append(_Candidate(found.document, int(files[position][row]), score, found.ranks))
    return candidates


def _adjust(indexes: Sequence[PublishedIndex], query: Query, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Raise files that fit by name or as a whole, lower tests and vendored code."""
    support = _file_support(candidates)
    names = {ref: _named_in(indexes[ref[0]].ids[ref[1]], query) for ref in support}
    wants_tests = bool(query.words & _TEST_WORDS)
    adjusted = []
    for candidate in candidates:
        position, row = candidate.ref
        arrays = indexes[position].arrays
        score, notes = candidate.score, []
        if candidate.file >= 0:
            score += _FILE_SUPPORT * support[candidate.file_ref]
            if named := names[candidate.file_ref]:
                score += _FILE_NAME_BOOST
                notes.append(f"file name says {named}")
        if arrays["is_test"][row] and not wants_tests:
            score *= _TEST_FACTOR
            notes.append("test code, lowered")
        if arrays["is_vendored"][row]:
            score *= _VENDORED_FACTOR
            notes.append("vendored, lowered")
        adjusted.append(_Candidate(candidate.ref, candidate.file, score, candidate.ranks, tuple(notes)))
    return adjusted


def _file_support(candidates: Sequence[_Candidate]) -> dict[DocumentRef, float]:
    """For each file the sum of its documents' scores, relative to the file with the highest."""
    sums: defaultdict[DocumentRef, float] = defaultdict(float)
    for candidate in candidates:
        if candidate.file >= 0:
            sums[candidate.file_ref] += candidate.score
    highest = max(sums.values(), default=1.0)
    return {ref: value / highest for ref, value in sums.items()}


def _spread_files(indexes: Sequence[PublishedIndex], candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Lower what stands in a file that a better hit has named already."""
    seen: defaultdict[DocumentRef, int] = defaultdict(int)
    spread = []
    for candidate in sorted(candidates, key=lambda candidate: _rank(indexes, candidate)):
        if candidate.file >= 0:
            repeated = seen[candidate.file_ref]
            seen[candidate.file_ref] += 1
            if repeated:
                score = candidate.score * _REPEATED_FILE_FACTOR**repeated
                candidate = _Candidate(candidate.ref, candidate.file, score, candidate.ranks, candidate.notes)
        spread.append(candidate)
    return spread


def _first(indexes: Sequence[PublishedIndex], candidates: Sequence[_Candidate], top: int) -> list[_Candidate]:
    """The best candidates in their final order."""
    lowest = min(nlargest(top, (candidate.score for candidate in candidates)), default=0.0)
    best = [candidate for candidate in candidates if candidate.score >= lowest]

    def order(candidate: _Candidate) -> tuple[float, float, str, str]:
        position, row = candidate.ref
        score, importance, _ = _rank(indexes, candidate)
        return score, importance, indexes[position].ids[row], indexes[position].repo

    return sorted(best, key=order)[:top]


def _rank(indexes: Sequence[PublishedIndex], candidate: _Candidate) -> tuple[float, float, DocumentRef]:
    position, row = candidate.ref
    return -candidate.score, -float(indexes[position].arrays["importance"][row]), candidate.ref


def _named_in(path: str, query: Query) -> str:
    """The file's name without ending, when the query has all of its words; else nothing."""
    stem = path.rpartition("/")[2].partition(".")[0]
    words = frozenset(tokenize(stem))
    return stem if words and words <= query.words else ""
