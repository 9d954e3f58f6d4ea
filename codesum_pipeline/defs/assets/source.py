"""A repository becomes files, and files become symbols."""

import dagster as dg

from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.shows import show_files, show_symbols
from codesum_pipeline.defs.steps import run_step, step_asset
from codesum_pipeline.parsing.symbols import PARSER_VERSION, parse_symbols
from codesum_pipeline.source.rules import RULES_VERSION
from codesum_pipeline.source.snapshot import take_snapshot


@step_asset(group="source", kinds={"git", "parquet"}, table="files", version=RULES_VERSION, deps=[])
def repo_snapshot(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """The commit that a build stands for. One row is one file of it: indexed, or skipped for a reason."""
    return run_step(context, codesum, take_snapshot, show=show_files)


@step_asset(
    group="source", kinds={"treesitter", "parquet"}, table="symbols", version=PARSER_VERSION, deps=[repo_snapshot]
)
def symbols(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """What the indexed files define. One row is one function, method or class."""
    return run_step(context, codesum, parse_symbols, show=show_symbols)
