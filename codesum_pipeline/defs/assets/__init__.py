"""The assets: one per box of the flow, each one row-by-row description of a table."""

from codesum_pipeline.defs.assets.digests import intent_digests, intent_matches
from codesum_pipeline.defs.assets.graph import call_graph
from codesum_pipeline.defs.assets.indexes import dense_index, sparse_index
from codesum_pipeline.defs.assets.publishing import (
    index_candidate,
    published_index,
    repo_overview,
    retrieval_evaluation,
)
from codesum_pipeline.defs.assets.source import repo_snapshot, symbols
from codesum_pipeline.defs.assets.summaries import (
    class_summaries,
    file_summaries,
    function_summaries,
    module_summaries,
    summary_documents,
    summary_plan,
)

ASSETS = (
    repo_snapshot,
    symbols,
    call_graph,
    summary_plan,
    function_summaries,
    class_summaries,
    file_summaries,
    module_summaries,
    summary_documents,
    dense_index,
    sparse_index,
    index_candidate,
    retrieval_evaluation,
    published_index,
    repo_overview,
    intent_matches,
    intent_digests,
)
