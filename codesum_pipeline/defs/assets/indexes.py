"""Documents become vectors and terms."""

import dagster as dg

from codesum_pipeline.defs.assets.summaries import summary_documents
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.shows import show_terms, show_vectors
from codesum_pipeline.defs.steps import run_step, step_asset
from codesum_pipeline.indexes.lane_texts import LANES_VERSION
from codesum_pipeline.pipeline import DENSE_INDEX, SPARSE_INDEX


@step_asset(
    group="indexes", kinds={"numpy", "parquet"}, table="vectors", version=LANES_VERSION, deps=[summary_documents]
)
def dense_index(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """One row is the vector of one document in one dense lane; placeholders have none."""
    return run_step(context, codesum, DENSE_INDEX, show=show_vectors)


@step_asset(
    group="indexes", kinds={"python", "parquet"}, table="terms", version=LANES_VERSION, deps=[summary_documents]
)
def sparse_index(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """One row is the words of one document in one BM25 lane."""
    return run_step(context, codesum, SPARSE_INDEX, show=show_terms)
