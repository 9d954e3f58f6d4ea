"""Indexes become a version, and the version becomes what readers see."""

from collections.abc import Mapping

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
from codesum_pipeline.model.documents import Level
from codesum_pipeline.pipeline import INDEX_CANDIDATE, PUBLISHED_INDEX, RETRIEVAL_EVALUATION
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.by_model.outages import Outage, standing_outages

AT_HEAD = "index_is_at_head"
ANSWERED = "every_level_was_answered"


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
        ),
        dg.AssetCheckSpec(
            ANSWERED,
            asset="published_index",
            partitions_def=codesum_repos,
            blocking=True,
            description="The model gave something at every level that it was asked at. Where not, the index is "
            "published with extractive texts, and the run fails.",
        ),
    ],
)
def published_index(context: dg.AssetExecutionContext, codesum: CodesumResource):  # type: ignore[no-untyped-def]
    """What search reads: the repository's name points at its candidate, and the last versions are kept."""
    published = run_step(context, codesum, PUBLISHED_INDEX)
    workspace = codesum.workspace(context.partition_key, run_id=context.run.run_id)
    hold = _hold(workspace)
    at_head = dg.AssetCheckResult(
        passed=hold is None,
        check_name=AT_HEAD,
        severity=dg.AssetCheckSeverity.WARN,
        description=hold.because if hold else None,
        metadata={name: (published.metadata or {})[name] for name in ("documents", "versions_kept")},
    )
    outages = standing_outages(workspace.layout, workspace.key, fingerprint=built_from(workspace))
    answered = dg.AssetCheckResult(
        passed=not outages, check_name=ANSWERED, description=_unanswered(workspace.key, outages, hold)
    )
    return published._replace(check_results=[at_head, answered])


def _unanswered(key: str, outages: Mapping[Level, Outage], hold: Hold | None) -> str | None:
    """What a person needs to know of a build that came to its end and has failed; None of another."""
    if not outages:
        return None
    whys = "; ".join(outage.because for outage in outages.values())
    done = "held back" if hold else "up to date"
    return f"the index is {done} with extractive texts instead: {whys} (`codesum index {key}` asks again)"


def _hold(workspace: Workspace) -> Hold | None:
    """Why the candidate was not published; None where it was."""
    options = workspace.options.evaluation
    return standing_hold(workspace.layout, workspace.key, options, fingerprint=built_from(workspace))
