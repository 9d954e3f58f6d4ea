"""The assets, one for each step of a build (`assets.toml`), and the job.

Upstream assets are those that write what the step reads.

Whoever builds a repository, from the UI, the command line, a schedule or a sensor, runs this one job. A blocking check
that fails stops the run of its own repository, and no other.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from codesum_pipeline.builds.dagster import asset_steps
from codesum_pipeline.builds.dagster.resource import IN_MEMORY, BuildRequest, CodesumResource, RunHost, codesum_repos
from codesum_pipeline.builds.dagster.run_tags import noting_fault
from codesum_pipeline.builds.reports.build_values import BLOCKING, CHECKED_AFTER, BuildOptions
from codesum_pipeline.builds.steps.known_facts import STAGE_FACTS

OWN_CHECKS = tuple(
    dg.AssetCheckSpec(
        name, asset=asset, partitions_def=codesum_repos, description=description, blocking=name in BLOCKING
    )
    for asset, checks in asset_steps.DEFINITIONS["checks_of_steps"].items()
    for name, description in checks.items()
)


def _asset(name: str, group: str, kinds: Sequence[str], description: str) -> dg.AssetsDefinition:
    facts = STAGE_FACTS.get().assets[name]

    @dg.asset(
        name=name,
        description=description,
        partitions_def=codesum_repos,
        group_name=group,
        kinds=set(kinds),
        owners=[asset_steps.OWNER],
        code_version=facts.code_version,
        deps=facts.deps,
        check_specs=[check for check in OWN_CHECKS if check.asset_key == dg.AssetKey(name)],
        metadata=asset_steps.table_metadata(facts.table),
    )
    def step(context: dg.AssetExecutionContext, codesum: CodesumResource, request: BuildRequest):  # type: ignore[no-untyped-def]
        return asset_steps.run_step(context, codesum, request)

    return step


ASSETS = tuple(_asset(name, **definition) for name, definition in asset_steps.DEFINITIONS["steps"].items())


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
        with noting_fault(context.instance, context.run.run_id), asset_steps.stage_failures():
            yield from asset_steps.check_results(
                key, codesum.builder(context, BuildOptions()).check(CHECKED_AFTER[asset])
            )

    return look


CHECKS = tuple(_checks(asset, specs) for asset, specs in asset_steps.DEFINITIONS["blocking_checks"].items())

# Steps of one repository depend on one another: a process for each would cost more than it saves, and would
# leave the repository's lease free between them.
index_repository = dg.define_asset_job(
    name=asset_steps.JOB,
    description=asset_steps.DEFINITIONS["jobs"][asset_steps.JOB],
    # Without the checks that look at an index while nothing is built.
    selection=dg.AssetSelection.assets(*ASSETS).without_checks()
    | dg.AssetSelection.checks(*(check.key for check in OWN_CHECKS), *CHECKS),
    owners=[asset_steps.OWNER],
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
    return defs.resolve_job_def(asset_steps.JOB)
