"""Symbols become a graph."""

import dagster as dg

from codesum_pipeline.defs.assets.source import symbols
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.shows import show_edges
from codesum_pipeline.defs.steps import run_step, step_asset
from codesum_pipeline.graph.build import GRAPH_VERSION
from codesum_pipeline.pipeline import CALL_GRAPH


@step_asset(group="graph", kinds={"networkx", "parquet"}, table="edges", version=GRAPH_VERSION, deps=[symbols])
def call_graph(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """Who uses whom. One row is one caller, importer or heir with the target it uses, and how that was found."""
    return run_step(context, codesum, CALL_GRAPH, show=show_edges)
