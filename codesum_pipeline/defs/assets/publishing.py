"""Indexes become a version, and the version becomes what readers see."""

import dagster as dg

from codesum_pipeline.defs.assets.indexes import dense_index, sparse_index
from codesum_pipeline.defs.partitions import codesum_repos
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.shows import show_candidate
from codesum_pipeline.defs.steps import run_step, step_asset
from codesum_pipeline.indexes.version_folder import INDEX_SCHEMA_VERSION
from codesum_pipeline.pipeline import INDEX_CANDIDATE, PUBLISHED_INDEX

AT_HEAD = "index_is_at_head"


@step_asset(
    group="publishing",
    kinds={"numpy", "json"},
    table="candidate",
    version=str(INDEX_SCHEMA_VERSION),
    deps=[dense_index, sparse_index],
)
def index_candidate(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """A version folder, ready to be published. Its one row is the digest that names it."""
    return run_step(context, codesum, INDEX_CANDIDATE, show=show_candidate)


@step_asset(
    group="publishing",
    kinds={"file"},
    table="candidate",
    version=str(INDEX_SCHEMA_VERSION),
    deps=[index_candidate],
    check_specs=[
        dg.AssetCheckSpec(
            AT_HEAD,
            asset="published_index",
            partitions_def=codesum_repos,
            description="Set by each publication, and taken back by the sensor when it sees a newer state.",
        )
    ],
)
def published_index(context: dg.AssetExecutionContext, codesum: CodesumResource):  # type: ignore[no-untyped-def]
    """What search reads: the repository's name points at its candidate, and the last versions are kept."""
    published = run_step(context, codesum, PUBLISHED_INDEX)
    return published._replace(check_results=[dg.AssetCheckResult(passed=True, check_name=AT_HEAD)])
