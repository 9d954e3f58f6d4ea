"""One search over lanes, levels and repositories.

Files are ranked by all that stands in them, documents by themselves, both by rank fusion over the lanes. Where several
levels are wanted, a file is shown by the document in it that fits best, and its next best documents follow. With one
lane only, the hits have its order.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.lanes import LANES, Lane
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.retrieval.about_testing import asks_for_tests
from codesum_pipeline.retrieval.answering import Answer
from codesum_pipeline.retrieval.document_query import DocumentQuery
from codesum_pipeline.retrieval.exact import ReadTexts, exact_hits
from codesum_pipeline.retrieval.filters import ANYTHING, Filters
from codesum_pipeline.retrieval.fit import Likeness
from codesum_pipeline.retrieval.hits import Hit
from codesum_pipeline.retrieval.query import parse_query
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.shelf import Shelf
from codesum_pipeline.retrieval.weights import (
    DEFAULT_WEIGHTS,
    SIGNALS,
    Weights,
    missing_signals,
    needs_vector,
    signals_of,
)

DEFAULT_TOP = 10


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
    """The hits of `answer` without looking into sources."""
    asked = _asked(indexes, query, embedder, levels, lanes, filters, weights)
    return [] if asked is None else Answer.to(asked, top=top).hits


class SearchAnswer(Struct, frozen=True):
    """`fits_well` is whether the best hits have to do with the question; None where only some lanes were searched."""

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

    Where all lanes are searched and sources can be `read`, documents whose source has the query literally come first.
    Raises `ConfigurationError` where a dense lane is searched and an index was made with another embedding model.
    """
    asked = _asked(indexes, query, embedder, levels, lanes, filters, weights)
    if asked is None:
        return SearchAnswer([], fits_well=False)
    found = Answer.to(asked, top=top)
    hits = found.hits
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
    return SearchAnswer([*first, *others][:top], fits_well=bool(exact) or found.fits_well())


def likeness(indexes: Sequence[PublishedIndex], query: str, *, embedder: Embedder) -> Likeness:
    """The facts from which `fits_well` is judged."""
    asked = _asked(indexes, query, embedder, LEVELS, LANES, ANYTHING, DEFAULT_WEIGHTS)
    if asked is None:
        return Likeness(nearness=0.0, words=0.0, documents=0)
    return Answer.to(asked, top=DEFAULT_TOP).likeness


def _asked(
    indexes: Sequence[PublishedIndex],
    query: str,
    embedder: Embedder,
    levels: Sequence[Level],
    lanes: Sequence[Lane],
    filters: Filters,
    weights: Weights,
) -> DocumentQuery | None:
    """The question with the weights of its signals; None where no document could be found."""
    weights = _weights_of(indexes, lanes, weights)
    signals = signals_of(lanes)
    of_documents = tuple(signal for signal in signals if weights.signals[signal])
    of_files = tuple(signal for signal in signals if weights.file_signals[signal])
    is_dense = needs_vector({*of_documents, *of_files})
    if is_dense:
        for index in indexes:
            index.check_embedder(embedder)
    parsed = parse_query(query, embedder=embedder if is_dense else None)
    if parsed.vector is not None:
        for index in indexes:
            index.check_query(parsed.vector)
    shelf = Shelf(sorted((index for index in indexes if len(index)), key=lambda index: index.repo), filters)
    wanted = tuple(level for level in LEVELS if level in levels)
    if not shelf.indexes or not wanted:
        return None
    return DocumentQuery(
        shelf,
        parsed,
        of_documents,
        of_files,
        weights,
        wanted,
        is_one_lane=len(lanes) == 1,
        asks_for_tests=asks_for_tests(query),
    )


def _weights_of(indexes: Sequence[PublishedIndex], lanes: Sequence[Lane], weights: Weights) -> Weights:
    """The weights where some lanes are named: each has a signal that counts, and a lane alone counts with all signals
    that all indexes have."""
    if set(lanes) == set(LANES):
        return weights
    not_there = {signal for index in indexes for signal in missing_signals(index)}
    chosen, of_files = dict(weights.signals), dict(weights.file_signals)
    for lane in lanes:
        if len(lanes) == 1 or not any(chosen[signal] for signal in SIGNALS[lane]):
            there = [signal for signal in SIGNALS[lane] if signal not in not_there] or SIGNALS[lane]
            chosen.update(dict.fromkeys(there, 1.0))
            if not any(of_files[signal] for signal in SIGNALS[lane]):
                of_files.update(dict.fromkeys(there, 1.0))
    return replace(weights, signals=chosen, file_signals=of_files)
