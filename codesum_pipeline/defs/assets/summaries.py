"""Symbols and graph become documents, from functions up to modules."""

import dagster as dg

from codesum_pipeline.defs.assets.graph import call_graph
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import health_specs, run_step, step_asset
from codesum_pipeline.settings.checks import CheckName


@step_asset(group="summaries", kinds={"duckdb", "parquet"}, deps=[call_graph])
def summary_plan(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """What is about to be rewritten and why. One row is one document; above functions the plan is an upper bound."""
    return run_step(context, codesum)


@step_asset(
    group="summaries",
    kinds={"python", "parquet"},
    deps=[summary_plan],
)
def function_summaries(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """One row is the text of one function or method, with what it was written from and why."""
    return run_step(context, codesum)


@step_asset(
    group="summaries",
    kinds={"python", "parquet"},
    deps=[function_summaries],
)
def class_summaries(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """One row is the text of one class, written from its head and its members' texts."""
    return run_step(context, codesum)


@step_asset(
    group="summaries",
    kinds={"python", "parquet"},
    deps=[class_summaries],
)
def file_summaries(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """One row is the text of one file, written from its head and its top-level symbols' texts."""
    return run_step(context, codesum)


@step_asset(
    group="summaries",
    kinds={"python", "parquet"},
    deps=[file_summaries],
)
def module_summaries(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """One row is the text of one folder, written from its README and its files' and sub-folders' texts."""
    return run_step(context, codesum)


@step_asset(
    group="summaries",
    kinds={"python", "parquet"},
    deps=[module_summaries],
    check_specs=health_specs("summary_documents", CheckName.PLACEHOLDERS, CheckName.MODEL_TEXTS, CheckName.FAILURES),
)
def summary_documents(context: dg.AssetExecutionContext, codesum: CodesumResource):  # type: ignore[no-untyped-def]
    """The levels put together. One row is one document with its lines, signature and context as they are now."""
    return run_step(context, codesum)
