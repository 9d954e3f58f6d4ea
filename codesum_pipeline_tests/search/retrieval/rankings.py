"""One ranking by itself."""

from collections.abc import Sequence

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.search.retrieval.lookup import Lookup
from codesum_pipeline.search.retrieval.query import Query
from codesum_pipeline.search.retrieval.shelf import Candidates, Shelf
from codesum_pipeline.search.retrieval.weights import DEFAULT_WEIGHTS, ScoredDocuments, Signal


def rank_documents(
    shelf: Shelf, query: Query, signal: Signal, levels: Sequence[Level], *, limit: int
) -> ScoredDocuments:
    """At most `limit` documents by number, best first, with their scores."""
    found = Lookup(shelf, query, limit=limit, related_weight=DEFAULT_WEIGHTS.related_words).best(signal, levels)
    candidates = Candidates.of(shelf, [found.numbers])
    ranking = candidates.rank_all({signal: found}, limit=limit)[signal]
    return ScoredDocuments(candidates.numbers[ranking.places], ranking.scores)
