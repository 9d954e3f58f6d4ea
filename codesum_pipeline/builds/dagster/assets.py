"""The assets, one for each step of a build, and the job. Upstream assets are those that write what the step reads.

Whoever builds a repository, from the UI, the command line, a schedule or a sensor, runs this one job. A blocking check
that fails stops the run of its own repository, and no other.
"""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from codesum_pipeline.builds.dagster.asset_steps import (
    JOB,
    OWNER,
    check_results,
    run_step,
    stage_failures,
    table_metadata,
)
from codesum_pipeline.builds.dagster.resource import IN_MEMORY, BuildRequest, CodesumResource, RunHost, codesum_repos
from codesum_pipeline.builds.dagster.run_tags import noting_fault
from codesum_pipeline.builds.reports.build_values import (
    ANSWERED,
    AT_HEAD,
    BLOCKING,
    CHECKED_AFTER,
    NOT_WORSE,
    BuildOptions,
)
from codesum_pipeline.builds.steps.known_facts import STAGE_FACTS
from codesum_pipeline.foundation.settings.operation_settings import CheckName

# The checks that steps carry out themselves, by asset.
_OF_STEPS: dict[str, dict[str, str]] = {
    "call_graph": {
        CheckName.CALLS: "The share of calls whose target is known is not below `checks.resolved_calls_least`, nor by "
        "`checks.resolved_calls_drop` below what the repository's last commits had.",
    },
    "summary_documents": {
        CheckName.PLACEHOLDERS: "The share of placeholders among the documents is at most `checks.placeholders_most`.",
        CheckName.MODEL_TEXTS: "Of the texts, placeholders aside, a model wrote at least `checks.model_texts_least`.",
        CheckName.FAILURES: "There are at most `checks.failures_most` failures of files and texts for each document.",
    },
    "retrieval_evaluation": {
        NOT_WORSE: "By the questions that both answered, the candidate is not worse than the published index by more "
        "than `evaluation.margin`, with 95 % confidence. Where it is, it is not published, and the run ends.",
    },
    "published_index": {
        AT_HEAD: "Set by each publication, and taken back by the sensor when it sees a newer state.",
        ANSWERED: "The model gave something at every level that it was asked at. Where not, the index is published "
        "with extractive texts, and the run fails.",
        CheckName.COST: "The texts of the repository cost at most `checks.cost_usd_most` on this day (UTC).",
    },
}
# Dagster stores names, and no enumeration of ours.
OWN_CHECKS = tuple(
    dg.AssetCheckSpec(
        str(name), asset=asset, partitions_def=codesum_repos, description=description, blocking=name in BLOCKING
    )
    for asset, checks in _OF_STEPS.items()
    for name, description in checks.items()
)

# By step: its group, what it is made with, and what it is.
_STEPS = {
    "repo_snapshot": (
        "source", "git parquet",
        "The commit that a build describes. One row is one file of it: indexed, or skipped for a reason."),
    "symbols": (
        "source", "treesitter parquet",
        "What the indexed files define. One row is one function, method or class."),
    "call_graph": (
        "graph", "numpy parquet",
        "Who uses whom. One row is one caller, importer or subclass with its target, and how that was found."),
    "summary_plan": (
        "summaries", "duckdb parquet",
        "What will be rewritten, and why. One row is one document; above functions the plan is an upper bound."),
    "function_summaries": (
        "summaries", "python parquet",
        "One row is the text of one function or method, with what it was written from and why."),
    "class_summaries": (
        "summaries", "python parquet",
        "One row is the text of one class, written from its head and its members' texts."),
    "file_summaries": (
        "summaries", "python parquet",
        "One row is the text of one file, written from its head and its top-level symbols' texts."),
    "module_summaries": (
        "summaries", "python parquet",
        "One row is the text of one folder, written from its README and its files' and sub-folders' texts."),
    "summary_documents": (
        "summaries", "python parquet",
        "The levels put together. One row is one document with its lines, signature and context as they are now."),
    "dense_index": (
        "indexes", "numpy parquet",
        "One row is the vector of one document in one dense lane; placeholders have none."),
    "sparse_index": ("indexes", "python parquet", "One row is the words of one document in one BM25 lane."),
    "index_candidate": (
        "publishing", "numpy json",
        "A version folder, ready to be published. Its one row is the digest that names it."),
    "retrieval_evaluation": (
        "publishing", "numpy parquet",
        "How well the candidate answers questions. One row is one measure of one evaluation, with its interval."),
    "published_index": (
        "publishing", "file",
        "What a search reads: the repository's name now points at the candidate; the last versions are kept."),
    "repo_overview": (
        "publishing", "markdown parquet",
        "A description of the repository for newcomers. Its one row is the page of the published version."),
    "intent_matches": (
        "digests", "python sqlite",
        "Which changes wait for a digest. One row is one changed document and one standing question that it "
        "concerns."),
    "intent_digests": (
        "digests", "markdown sqlite",
        "Digests of a build, for the standing questions that get one with each build, and their delivery. One row is "
        "one digest about the repository."),
}  # fmt: skip


def _asset(name: str, group: str, kinds: str, description: str) -> dg.AssetsDefinition:
    facts = STAGE_FACTS.get().assets[name]

    @dg.asset(
        name=name,
        description=description,
        partitions_def=codesum_repos,
        group_name=group,
        kinds=set(kinds.split()),
        owners=[OWNER],
        code_version=facts.code_version,
        deps=facts.deps,
        check_specs=[check for check in OWN_CHECKS if check.asset_key == dg.AssetKey(name)],
        metadata=table_metadata(facts.table),
    )
    def step(context: dg.AssetExecutionContext, codesum: CodesumResource, request: BuildRequest):  # type: ignore[no-untyped-def]
        return run_step(context, codesum, request)

    return step


ASSETS = tuple(_asset(name, *definition) for name, definition in _STEPS.items())


def _checks(asset: str, specs: Mapping[str, str]) -> dg.AssetChecksDefinition:
    """Blocking checks of an asset that are looked at together, each with its description."""
    key = dg.AssetKey(asset)

    @dg.multi_asset_check(
        name=CHECKED_AFTER[asset],
        specs=[
            dg.AssetCheckSpec(each, asset=key, blocking=True, description=says, partitions_def=codesum_repos)
            for each, says in specs.items()
        ],
    )
    def look(context: dg.AssetCheckExecutionContext, codesum: CodesumResource):  # type: ignore[no-untyped-def]
        with noting_fault(context.instance, context.run.run_id), stage_failures():
            yield from check_results(key, codesum.builder(context, BuildOptions()).check(CHECKED_AFTER[asset]))

    return look


CHECKS = (
    _checks(
        "summary_documents",
        {
            "ids_are_unique": "No two documents and no two symbols share an id.",
            "no_orphans": "Every document's parent, file, symbol and neighbours are there.",
            "every_source_has_its_document": "Every symbol, indexed file and folder has its document, with a text.",
            "citations_hold": "Every filled field of a function is cited, by lines of the function.",
            "no_names_leak": "No text names a caller or callee that the graph knows, besides its subject's own "
            "names. A warning where only extractive texts do, whose writer sees no caller.",
        },
    ),
    _checks(
        "dense_index",
        {
            "vectors_are_whole": "One vector of the model's length per lane and document that is no placeholder, "
            "finite and normalised.",
        },
    ),
)

# Steps of one repository depend on one another: a process for each would cost more than it saves, and would
# leave the repository's lease free between them.
index_repository = dg.define_asset_job(
    name=JOB,
    description="Bring the index of one repository up to date.",
    # Without the checks that look at an index while nothing is built.
    selection=dg.AssetSelection.assets(*ASSETS).without_checks()
    | dg.AssetSelection.checks(*(check.key for check in OWN_CHECKS), *CHECKS),
    owners=[OWNER],
    executor_def=dg.in_process_executor,
    # The launchpad shows what a run can be asked for.
    config=dg.RunConfig(resources={"request": BuildRequest()}),
    # The planner alone decides when a repository is built again. With Dagster's retries beside it, a run that died was
    # sometimes followed by two.
    tags={"dagster/max_retries": "0"},
)


def make_resources(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """What assets and sensors work with; `overrides` are settings that win over file and environment."""
    return {
        "codesum": CodesumResource(host=RunHost(overrides), duckdb=IN_MEMORY),
        "request": BuildRequest.configure_at_launch(),
        # No step hands a value to another, and Dagster's own default takes a folder from the run config.
        "io_manager": dg.mem_io_manager,
    }


def resolve_job() -> dg.JobDefinition:
    """The job alone, for a process that runs it."""
    defs = dg.Definitions(
        assets=ASSETS,
        asset_checks=CHECKS,
        jobs=[index_repository],
        resources=make_resources({}),
        executor=dg.in_process_executor,
    )
    return defs.resolve_job_def(JOB)
