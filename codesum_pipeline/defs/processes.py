"""Which process executes a run, written on the run itself.

After a power loss or a SIGKILL from outside, Dagster believes for hours that a
run goes on, and nothing of its repository is started meanwhile. The tags tell
that the process is gone. They are for the program alone: Dagster's pages show
no tag that begins with `.dagster/`.
"""

from collections.abc import Mapping

import dagster as dg

from codesum_pipeline.store.lease import Holder

_HIDDEN = ".dagster/"
HOST_TAG = f"{_HIDDEN}codesum/host"
BOOT_TAG = f"{_HIDDEN}codesum/boot_id"
PID_TAG = f"{_HIDDEN}codesum/pid"
STARTED_TAG = f"{_HIDDEN}codesum/process_started"

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
    unfinished = instance.get_runs(filters=dg.RunsFilter(statuses=list(UNFINISHED)))
    holders = [(run, _holder(run.run_id, run.tags)) for run in unfinished]
    vanished = [(run, holder) for run, holder in holders if holder and holder.is_gone()]
    for run, holder in vanished:
        instance.report_run_failed(run, f"process {holder.pid} on {holder.host} ended without a word")
    return [run.run_id for run, _ in vanished]


def _holder(run_id: str, tags: Mapping[str, str]) -> Holder | None:
    """The process of a run; None where its tags do not name one."""
    # Earlier versions wrote the same names without the prefix, and their runs may still stand as started.
    found = {name.removeprefix(_HIDDEN): value for name, value in tags.items()}
    pid, started, boot_id, host = (
        found.get(tag.removeprefix(_HIDDEN)) for tag in (PID_TAG, STARTED_TAG, BOOT_TAG, HOST_TAG)
    )
    if pid is None or started is None or boot_id is None or host is None:
        return None
    return Holder(
        pid=int(pid),
        process_started=float(started),
        boot_id=boot_id,
        host=host,
        run_id=run_id,
        acquired_at=0.0,
    )
