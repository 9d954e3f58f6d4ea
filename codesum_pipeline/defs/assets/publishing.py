"""Indexes become a version, and the version becomes what readers see."""

import dagster as dg

from codesum_pipeline.defs.assets.indexes import dense_index, sparse_index
from codesum_pipeline.defs.building.builder import ANSWERED, AT_HEAD
from codesum_pipeline.defs.partitions import codesum_repos
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import health_specs, run_step, step_asset
from codesum_pipeline.settings.checks import CheckName


@step_asset(
    group="publishing",
    kinds={"numpy", "json"},
    deps=[dense_index, sparse_index],
)
def index_candidate(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """A version folder, ready to be published. Its one row is the digest that names it."""
    return run_step(context, codesum)


@step_asset(
    group="publishing",
    kinds={"numpy", "parquet"},
    deps=[index_candidate],
)
def retrieval_evaluation(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """How well the candidate answers questions. One row is one measure of one evaluation, with its interval."""
    return run_step(context, codesum)


@step_asset(
    group="publishing",
    kinds={"file"},
    deps=[retrieval_evaluation],
    check_specs=[
        dg.AssetCheckSpec(
            AT_HEAD,
            asset="published_index",
            partitions_def=codesum_repos,
            description="Set by each publication, and taken back by the sensor when it sees a newer state.",
        ),
        dg.AssetCheckSpec(
            ANSWERED,
            asset="published_index",
            partitions_def=codesum_repos,
            blocking=True,
            description="The model gave something at every level that it was asked at. Where not, the index is "
            "published with extractive texts, and the run fails.",
        ),
        *health_specs("published_index", CheckName.COST),
    ],
)
def published_index(context: dg.AssetExecutionContext, codesum: CodesumResource):  # type: ignore[no-untyped-def]
    """What search reads: the repository's name points at its candidate, and the last versions are kept."""
    return run_step(context, codesum)


@step_asset(
    group="publishing",
    kinds={"markdown", "parquet"},
    deps=[published_index],
)
def repo_overview(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """What a newcomer is told of the repository. One row is the page of the published version."""
    return run_step(context, codesum)
