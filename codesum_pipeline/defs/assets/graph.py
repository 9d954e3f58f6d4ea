"""Symbols become a graph."""

import dagster as dg

from codesum_pipeline.defs.assets.source import symbols
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import run_step, step_asset


@step_asset(group="graph", kinds={"networkx", "parquet"}, deps=[symbols])
def call_graph(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """Who uses whom. One row is one caller, importer or heir with the target it uses, and how that was found."""
    return run_step(context, codesum)
