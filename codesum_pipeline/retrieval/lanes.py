"""Each lane ranks the documents of one level by itself.

A lane has one or two signals: `code` is looked at for words and for meaning.
Scores of one signal can be compared across repositories, so several indexes
give one ranking.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.lanes import Lane
from codesum_pipeline.model.documents import Level
from codesum_pipeline.retrieval.query import Query
from codesum_pipeline.retrieval.reader import PublishedIndex

# The position of an index in the sequence that is searched, and a row of it.
DocumentRef = tuple[int, int]


class Signal(StrEnum):
    """What a ranking looks at; the values are read in a hit's `why`."""

    SYMBOL = "symbol"
    CODE_WORDS = "code words"
    CODE_MEANING = "code meaning"
    SUMMARY = "summary"
    FUSED = "fused"
    KEYWORDS = "keywords"


SIGNALS: Mapping[Lane, tuple[Signal, ...]] = {
    Lane.SYMBOL: (Signal.SYMBOL,),
    Lane.CODE: (Signal.CODE_WORDS, Signal.CODE_MEANING),
    Lane.SUMMARY: (Signal.SUMMARY,),
    Lane.FUSED: (Signal.FUSED,),
    Lane.KEYWORDS: (Signal.KEYWORDS,),
}
_VECTORS = {Signal.CODE_MEANING: Lane.CODE, Signal.SUMMARY: Lane.SUMMARY, Signal.FUSED: Lane.FUSED}
_WORDS = {Signal.CODE_WORDS: Lane.CODE, Signal.KEYWORDS: Lane.KEYWORDS}

# A prefix of one or two characters is no name yet.
_SHORTEST_PREFIX = 3


def signals_of(lanes: Iterable[Lane]) -> tuple[Signal, ...]:
    """The signals of some lanes, in the order of `Signal`."""
    wanted = {signal for lane in lanes for signal in SIGNALS[lane]}
    return tuple(signal for signal in Signal if signal in wanted)


def needs_vector(lanes: Iterable[Lane]) -> bool:
    """Whether a query has to be embedded."""
    return any(signal in _VECTORS for signal in signals_of(lanes))


def rank_levels(
    indexes: Sequence[PublishedIndex], query: Query, signal: Signal, levels: Sequence[Level], *, limit: int
) -> dict[Level, list[DocumentRef]]:
    """For each level at most `limit` documents, best first; ties break by importance, then by position.

    A document without a score is in no ranking.
    """
    found: dict[Level, list[tuple[float, float, DocumentRef]]] = {level: [] for level in levels}
    for position, index in enumerate(indexes):
        importance = index.arrays["importance"]
        for level, scored in _scored(index, query, signal, levels, limit).items():
            found[level] += [(-score, -float(importance[row]), (position, row)) for score, row in scored]
    return {level: [ref for _, _, ref in sorted(scored)[:limit]] for level, scored in found.items()}


Scored = list[tuple[float, int]]


def _scored(
    index: PublishedIndex, query: Query, signal: Signal, levels: Sequence[Level], limit: int
) -> dict[Level, Scored]:
    if signal in _WORDS:
        scores = index.words[_WORDS[signal]].score(query.tokens)
        return {level: _best(index, scores, index.rows_of(level), limit) for level in levels}
    if signal in _VECTORS:
        return _scored_by_meaning(index, query, _VECTORS[signal], levels, limit)
    return _scored_by_name(index, query, levels, limit)


def _scored_by_meaning(
    index: PublishedIndex, query: Query, lane: Lane, levels: Sequence[Level], limit: int
) -> dict[Level, Scored]:
    if query.vector is None:
        raise ValueError(f"lane {lane}: the query was not embedded")
    scores = np.zeros(len(index), dtype=np.float32)
    # Not `@`: BLAS starts threads for it, which wait for each other milliseconds long when the cores are busy.
    scores[index.dense_rows] = np.einsum("ij,j->i", index.vectors[lane], query.vector)
    return {level: _best(index, scores, index.rows_of(level), limit) for level in levels}


def _scored_by_name(index: PublishedIndex, query: Query, levels: Sequence[Level], limit: int) -> dict[Level, Scored]:
    """An id, then exact names (those spelled as asked first), then names that begin so, the shorter ones first."""
    found: dict[int, float] = {}
    for name in query.names:
        for row in index.names.exactly(name):
            found[row] = max(found.get(row, 0.0), 3.0 if _is_spelled(index.ids[row], name) else 2.0)
        if len(name) >= _SHORTEST_PREFIX:
            for place, row in enumerate(index.names.with_prefix(name, limit=limit)):
                found[row] = max(found.get(row, 0.0), 1.0 / (1 + place))
    asked = index.row(query.text.strip())
    if asked is not None:
        found[asked] = 4.0
    ranked: dict[Level, Scored] = {level: [] for level in levels}
    for row, score in found.items():
        level = index.level_of(row)
        if level in ranked:
            ranked[level].append((score, row))
    return ranked


def _is_spelled(id_: str, name: str) -> bool:
    """Whether an id ends with a name in exactly this spelling."""
    return id_.replace("::", ".").partition("#")[0].endswith(name)


def _best(index: PublishedIndex, scores: npt.NDArray[np.float32], rows: slice, limit: int) -> Scored:
    """The highest positive scores of a range of rows, and their rows; ties break by importance, then by row."""
    part = scores[rows]
    lowest = 0.0
    if len(part) > limit:
        lowest = float(np.partition(part, len(part) - limit)[len(part) - limit])
    chosen = np.flatnonzero((part >= lowest) & (part > 0))
    importance = index.arrays["importance"][rows][chosen]
    order = chosen[np.lexsort((chosen, -importance, -part[chosen]))][:limit]
    return list(zip(part[order].tolist(), (order + rows.start).tolist(), strict=True))
