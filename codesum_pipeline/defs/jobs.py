"""The one job: whoever builds a repository, from the UI, the command line, a schedule or a sensor, runs this."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from codesum_pipeline.defs.assets import ASSETS, OWN_CHECKS
from codesum_pipeline.defs.checks import CHECKS
from codesum_pipeline.defs.resource import IN_MEMORY, BuildRequest, CodesumResource, RunHost
from codesum_pipeline.defs.steps import JOB, OWNER

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
    # What a run that died had done is in no record where its worker had a copy of its own: all is looked at again, and
    # what stands is reused.
    tags={"dagster/retry_strategy": "ALL_STEPS"},
)


def resources(given: Mapping[str, Any]) -> dict[str, Any]:
    """What assets and sensors work with; `given` are settings that win over file and environment, `home` among them."""
    return {
        "codesum": CodesumResource(host=RunHost(given), duckdb=IN_MEMORY),
        "request": BuildRequest.configure_at_launch(),
        # No step hands a value to another, and Dagster's own default takes a folder from the run config.
        "io_manager": dg.mem_io_manager,
    }


def resolve_job(given: Mapping[str, Any] | None = None) -> dg.JobDefinition:
    """The job alone, for a process that runs it."""
    defs = dg.Definitions(
        assets=ASSETS, asset_checks=CHECKS, jobs=[index_repository],
        resources=resources(given or {}), executor=dg.in_process_executor,
    )  # fmt: skip
    return defs.resolve_job_def(JOB)
