"""Documents become vectors and terms."""

import dagster as dg

from codesum_pipeline.defs.assets.summaries import summary_documents
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import run_step, step_asset


@step_asset(group="indexes", kinds={"numpy", "parquet"}, deps=[summary_documents])
def dense_index(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """One row is the vector of one document in one dense lane; placeholders have none."""
    return run_step(context, codesum)


@step_asset(group="indexes", kinds={"python", "parquet"}, deps=[summary_documents])
def sparse_index(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """One row is the words of one document in one BM25 lane."""
    return run_step(context, codesum)
