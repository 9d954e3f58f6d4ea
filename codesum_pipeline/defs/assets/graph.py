"""Symbols become a graph."""

import dagster as dg

from codesum_pipeline.defs.assets.source import symbols
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import health_specs, run_step, step_asset
from codesum_pipeline.settings.checks import CheckName


@step_asset(
    group="graph",
    kinds={"networkx", "parquet"},
    deps=[symbols],
    check_specs=health_specs("call_graph", CheckName.CALLS),
)
def call_graph(context: dg.AssetExecutionContext, codesum: CodesumResource):  # type: ignore[no-untyped-def]
    """Who uses whom. One row is one caller, importer or heir with the target it uses, and how that was found."""
    return run_step(context, codesum)
