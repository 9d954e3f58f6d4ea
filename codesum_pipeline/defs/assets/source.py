"""A repository becomes files, and files become symbols."""

import dagster as dg

from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.shows import show_files, show_symbols
from codesum_pipeline.defs.steps import run_step, step_asset
from codesum_pipeline.parsing.symbols import PARSER_VERSION
from codesum_pipeline.pipeline import REPO_SNAPSHOT, SYMBOLS
from codesum_pipeline.source.rules import RULES_VERSION


@step_asset(group="source", kinds={"git", "parquet"}, table="files", version=RULES_VERSION, deps=[])
def repo_snapshot(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """The commit that a build stands for. One row is one file of it: indexed, or skipped for a reason."""
    return run_step(context, codesum, REPO_SNAPSHOT, show=show_files)


@step_asset(
    group="source", kinds={"treesitter", "parquet"}, table="symbols", version=PARSER_VERSION, deps=[repo_snapshot]
)
def symbols(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """What the indexed files define. One row is one function, method or class."""
    return run_step(context, codesum, SYMBOLS, show=show_symbols)
