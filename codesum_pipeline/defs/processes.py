"""Which process executes a run, written on the run itself.

After a power loss or a SIGKILL from outside, Dagster believes for hours that a
run goes on, and nothing of its repository is started meanwhile. The tags tell
that the process is gone.
"""

from collections.abc import Mapping

import dagster as dg

from codesum_pipeline.store.lease import Holder

HOST_TAG = "codesum/host"
BOOT_TAG = "codesum/boot_id"
PID_TAG = "codesum/pid"
STARTED_TAG = "codesum/process_started"

UNFINISHED = (
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


def process_tags(holder: Holder) -> dict[str, str]:
    """The run tags that name the process of a run, from before it waits for its lease."""
    return {
        HOST_TAG: holder.host,
        BOOT_TAG: holder.boot_id,
        PID_TAG: str(holder.pid),
        STARTED_TAG: str(holder.process_started),
    }


def end_vanished_runs(instance: dg.DagsterInstance) -> list[str]:
    """Mark the runs whose process certainly is gone as failed; their ids."""
    vanished = [
        run
        for run in instance.get_runs(filters=dg.RunsFilter(statuses=list(UNFINISHED)))
        if _is_gone(run.run_id, run.tags)
    ]
    for run in vanished:
        instance.report_run_failed(run, f"process {run.tags[PID_TAG]} on {run.tags[HOST_TAG]} ended without a word")
    return [run.run_id for run in vanished]


def _is_gone(run_id: str, tags: Mapping[str, str]) -> bool:
    if not {HOST_TAG, BOOT_TAG, PID_TAG, STARTED_TAG} <= tags.keys():
        return False
    holder = Holder(
        pid=int(tags[PID_TAG]),
        process_started=float(tags[STARTED_TAG]),
        boot_id=tags[BOOT_TAG],
        host=tags[HOST_TAG],
        run_id=run_id,
        acquired_at=0.0,
    )
    return holder.is_gone()
