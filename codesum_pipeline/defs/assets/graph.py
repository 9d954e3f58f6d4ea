"""Symbols become a graph."""

import dagster as dg

from codesum_pipeline.defs.assets.source import symbols
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.shows import show_edges
from codesum_pipeline.defs.steps import run_step, step_asset
from codesum_pipeline.graph.build import GRAPH_VERSION, build_call_graph


@step_asset(group="graph", kinds={"networkx", "parquet"}, table="edges", version=GRAPH_VERSION, deps=[symbols])
def call_graph(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """Who uses whom. One row is one caller, importer or heir with the target it uses, and how that was found."""
    return run_step(context, codesum, build_call_graph, show=show_edges)
