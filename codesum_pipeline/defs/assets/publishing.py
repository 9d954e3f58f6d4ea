"""Indexes become a version, and the version becomes what readers see."""

import dagster as dg

from codesum_pipeline.defs.assets.indexes import dense_index, sparse_index
from codesum_pipeline.defs.partitions import codesum_repos
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.shows import show_candidate
from codesum_pipeline.defs.shows_evaluation import show_evaluation
from codesum_pipeline.defs.steps import built_from, run_step, step_asset
from codesum_pipeline.evaluation.gate import Hold, standing_hold
from codesum_pipeline.evaluation.step import EVALUATION_VERSION
from codesum_pipeline.indexes.version_folder import INDEX_SCHEMA_VERSION
from codesum_pipeline.pipeline import INDEX_CANDIDATE, PUBLISHED_INDEX, RETRIEVAL_EVALUATION
from codesum_pipeline.store.workspace import Workspace

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
    kinds={"numpy", "parquet"},
    table="evaluations",
    version=EVALUATION_VERSION,
    deps=[index_candidate],
)
def retrieval_evaluation(context: dg.AssetExecutionContext, codesum: CodesumResource) -> dg.MaterializeResult[None]:
    """How well the candidate answers questions. One row is one measure of one evaluation, with its interval."""
    return run_step(context, codesum, RETRIEVAL_EVALUATION, show=show_evaluation)


@step_asset(
    group="publishing",
    kinds={"file"},
    table="candidate",
    version=str(INDEX_SCHEMA_VERSION),
    deps=[retrieval_evaluation],
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
    hold = _hold(codesum.workspace(context.partition_key, run_id=context.run.run_id))
    at_head = dg.AssetCheckResult(
        passed=hold is None,
        check_name=AT_HEAD,
        severity=dg.AssetCheckSeverity.WARN,
        description=hold.because if hold else None,
        metadata={name: (published.metadata or {})[name] for name in ("documents", "versions_kept")},
    )
    return published._replace(check_results=[at_head])


def _hold(workspace: Workspace) -> Hold | None:
    """Why the candidate was not published; None where it was."""
    options = workspace.options.evaluation
    return standing_hold(workspace.layout, workspace.key, options, fingerprint=built_from(workspace))
