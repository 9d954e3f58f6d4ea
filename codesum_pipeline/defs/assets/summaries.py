"""Symbols and graph become documents, from functions up to modules."""

import dagster as dg

from codesum_pipeline.defs.assets.graph import call_graph
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.shows import (
    show_classes,
    show_documents,
    show_file_texts,
    show_functions,
    show_modules,
    show_plan,
)
from codesum_pipeline.defs.steps import run_step, step_asset
from codesum_pipeline.pipeline import (
    CLASS_SUMMARIES,
    FILE_SUMMARIES,
    FUNCTION_SUMMARIES,
    MODULE_SUMMARIES,
    SUMMARY_DOCUMENTS,
    SUMMARY_PLAN,
)
from codesum_pipeline.summaries.by_model.priced import held_back
from codesum_pipeline.summaries.writers import EXTRACTIVE, PLACEHOLDER

WRITERS_VERSION = f"{EXTRACTIVE} {PLACEHOLDER}"


@step_asset(group="summaries", kinds={"duckdb", "parquet"}, table="plan", version=WRITERS_VERSION, deps=[call_graph])
def summary_plan(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """What is about to be rewritten and why. One row is one document; above functions the plan is an upper bound."""
    planned = run_step(context, codesum, SUMMARY_PLAN, show=show_plan)
    home = codesum.open_home()
    if held := held_back(home.tables, context.partition_key, home.settings.options):
        context.log.warning(f"{held}, or the run's config with resources.codesum.config.confirm_llm: true")
    return planned


@step_asset(
    group="summaries",
    kinds={"python", "parquet"},
    table="texts_function",
    version=WRITERS_VERSION,
    deps=[summary_plan],
)
def function_summaries(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """One row is the text of one function or method, with what it was written from and why."""
    return run_step(context, codesum, FUNCTION_SUMMARIES, show=show_functions)


@step_asset(
    group="summaries",
    kinds={"python", "parquet"},
    table="texts_class",
    version=WRITERS_VERSION,
    deps=[function_summaries],
)
def class_summaries(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """One row is the text of one class, written from its head and its members' texts."""
    return run_step(context, codesum, CLASS_SUMMARIES, show=show_classes)


@step_asset(
    group="summaries",
    kinds={"python", "parquet"},
    table="texts_file",
    version=WRITERS_VERSION,
    deps=[class_summaries],
)
def file_summaries(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """One row is the text of one file, written from its head and its top-level symbols' texts."""
    return run_step(context, codesum, FILE_SUMMARIES, show=show_file_texts)


@step_asset(
    group="summaries",
    kinds={"python", "parquet"},
    table="texts_module",
    version=WRITERS_VERSION,
    deps=[file_summaries],
)
def module_summaries(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """One row is the text of one folder, written from its README and its files' and sub-folders' texts."""
    return run_step(context, codesum, MODULE_SUMMARIES, show=show_modules)


@step_asset(
    group="summaries",
    kinds={"python", "parquet"},
    table="documents",
    version=WRITERS_VERSION,
    deps=[module_summaries],
)
def summary_documents(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """The levels put together. One row is one document with its lines, signature and context as they are now."""
    return run_step(context, codesum, SUMMARY_DOCUMENTS, show=show_documents)
