"""A run as the daemon hands it to a launcher."""

import sys

import dagster as dg
from dagster._core.code_pointer import ModuleCodePointer
from dagster._core.launcher import LaunchRunContext
from dagster._core.origin import DEFAULT_DAGSTER_ENTRY_POINT, JobPythonOrigin, RepositoryPythonOrigin

from codesum_pipeline.builds.dagster.asset_steps import JOB
from codesum_pipeline.builds.dagster.assets import resolve_job
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG
from codesum_pipeline.builds.dagster.runs import MODULE


def new_run(instance: dg.DagsterInstance, key: str, **tags: str) -> dg.DagsterRun:
    """A run of one repository that nobody has started."""
    place = RepositoryPythonOrigin(
        executable_path=sys.executable,
        code_pointer=ModuleCodePointer(MODULE, "defs", working_directory=None),
        entry_point=DEFAULT_DAGSTER_ENTRY_POINT,
    )
    return instance.create_run_for_job(
        resolve_job(),
        status=dg.DagsterRunStatus.STARTING,
        tags={PARTITION_TAG: key, **tags},
        job_code_origin=JobPythonOrigin(job_name=JOB, repository_origin=place),
    )


def launched(instance: dg.DagsterInstance, run: dg.DagsterRun) -> dg.DagsterRun:
    """The run, once its launcher has it."""
    instance.run_launcher.launch_run(LaunchRunContext(dagster_run=run, workspace=None))
    found = instance.get_run_by_id(run.run_id)
    assert found
    return found


def started(instance: dg.DagsterInstance, run: dg.DagsterRun) -> dg.DagsterRun:
    """The run, once Dagster believes that it is carried out."""
    instance.report_dagster_event(
        dg.DagsterEvent(event_type_value=dg.DagsterEventType.RUN_START.value, job_name=JOB), run_id=run.run_id
    )
    found = instance.get_run_by_id(run.run_id)
    assert found and found.status is dg.DagsterRunStatus.STARTED
    return found
