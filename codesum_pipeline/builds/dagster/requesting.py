"""Runs that a person asks for, put into the queue of Dagster's instance, from which the daemon starts them."""

import sys
import time
from collections.abc import Sequence

import dagster as dg
from msgspec import Struct

from codesum_pipeline.builds.dagster.asset_steps import JOB
from codesum_pipeline.builds.dagster.assets import resolve_job
from codesum_pipeline.builds.dagster.observing import active_keys
from codesum_pipeline.builds.dagster.private_names import (
    DEFAULT_DAGSTER_ENTRY_POINT,
    JobPythonOrigin,
    ModuleCodePointer,
    RepositoryPythonOrigin,
)
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG, add_partitions
from codesum_pipeline.builds.dagster.runs import MODULE, REPOSITORY_TAGS, STARTED_BY_TAG, job_origin

BY_RETRY = "codesum retry"
# The daemon reports every 30 s, and takes runs from the queue every second.
_SILENT_S = 300.0


class QueuedRuns(Struct, frozen=True):
    """The runs that were put into the queue, by repository; `active` have one already. `is_served`: a daemon has
    reported in the last minutes, and will start them."""

    run_ids: dict[str, str]
    active: tuple[str, ...]
    is_served: bool


def request_runs(instance: dg.DagsterInstance, keys: Sequence[str]) -> QueuedRuns:
    """Put a run of each repository into the queue, unless it has one there or under way."""
    active = active_keys(instance)
    asked = [key for key in keys if key not in active]
    add_partitions(instance, asked)
    run_ids = {key: _enqueue(instance, key) for key in asked}
    return QueuedRuns(run_ids, tuple(key for key in keys if key in active), _has_daemon(instance))


def keys_that_failed(instance: dg.DagsterInstance) -> set[str]:
    """The repositories whose last run failed or was cancelled."""
    over = (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
    last = instance.run_storage.get_run_partition_data(dg.RunsFilter(job_name=JOB))
    return {run.partition for run in last if run.status in over}


def _enqueue(instance: dg.DagsterInstance, key: str) -> str:
    place = RepositoryPythonOrigin(
        executable_path=sys.executable,
        code_pointer=ModuleCodePointer(MODULE, "defs", working_directory=None),
        entry_point=DEFAULT_DAGSTER_ENTRY_POINT,
    )
    run = instance.create_run_for_job(
        resolve_job(),
        status=dg.DagsterRunStatus.NOT_STARTED,
        tags={PARTITION_TAG: key, STARTED_BY_TAG: BY_RETRY, **REPOSITORY_TAGS},
        remote_job_origin=job_origin(),
        job_code_origin=JobPythonOrigin(job_name=JOB, repository_origin=place),
    )
    instance.report_dagster_event(dg.DagsterEvent.job_enqueue(run), run_id=run.run_id)
    return run.run_id


def _has_daemon(instance: dg.DagsterInstance) -> bool:
    return any(time.time() - beat.timestamp < _SILENT_S for beat in instance.get_daemon_heartbeats().values())
