"""A repository becomes files, and files become symbols."""

import dagster as dg

from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import run_step, step_asset


@step_asset(group="source", kinds={"git", "parquet"}, deps=[])
def repo_snapshot(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """The commit that a build stands for. One row is one file of it: indexed, or skipped for a reason."""
    return run_step(context, codesum)


@step_asset(group="source", kinds={"treesitter", "parquet"}, deps=[repo_snapshot])
def symbols(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """What the indexed files define. One row is one function, method or class."""
    return run_step(context, codesum)
