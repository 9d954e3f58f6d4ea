"""What changed becomes what people are told."""

import dagster as dg

from codesum_pipeline.defs.assets.publishing import published_index
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import run_step, step_asset


@step_asset(group="digests", kinds={"python", "sqlite"}, deps=[published_index])
def intent_matches(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """Which changes wait for a digest. One row is one document that changed, and one standing question that it
    concerns."""
    return run_step(context, codesum)


@step_asset(group="digests", kinds={"markdown", "sqlite"}, deps=[intent_matches])
def intent_digests(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """What is told of a build, and sent: the answers to those questions that have one with each build. One row is one
    digest about the repository."""
    return run_step(context, codesum)
