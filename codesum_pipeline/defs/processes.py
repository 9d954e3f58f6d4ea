"""Which process executes a run, written on the run itself.

After a power loss or a SIGKILL from outside, Dagster believes for hours that a
run goes on, and nothing of its repository is started meanwhile. The tags tell
that the process is gone. They are for the program alone: Dagster's pages show
no tag that begins with `.dagster/`.
"""

import dagster as dg

from codesum_pipeline.defs.partitions import PARTITION_TAG
from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.lease import Holder, current_holder

_HIDDEN = ".dagster/"
HOST_TAG = f"{_HIDDEN}codesum/host"
BOOT_TAG = f"{_HIDDEN}codesum/boot_id"
PID_TAG = f"{_HIDDEN}codesum/pid"
STARTED_TAG = f"{_HIDDEN}codesum/process_started"
NAMESPACE_TAG = f"{_HIDDEN}codesum/pid_namespace"
# A retry, and a re-execution from the UI, begin with the tags of the run before them, whose process is another one.
RUN_TAG = f"{_HIDDEN}codesum/process_of_run"

UNFINISHED = (
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


def process_tags(holder: Holder) -> dict[str, str]:
    """The run tags that name the process of a run, from before it waits for its lease."""
    tags = {
        HOST_TAG: holder.host,
        BOOT_TAG: holder.boot_id,
        PID_TAG: str(holder.pid),
        STARTED_TAG: str(holder.process_started),
        NAMESPACE_TAG: holder.pid_namespace,
        RUN_TAG: holder.run_id,
    }
    return {name: value for name, value in tags.items() if value}


def end_vanished_runs(layout: HomeLayout, instance: dg.DagsterInstance) -> list[str]:
    """Mark the runs whose process certainly is gone as failed; their ids."""
    unfinished = instance.get_runs(filters=dg.RunsFilter(statuses=list(UNFINISHED)))
    holders = [(run, holder_of(run)) for run in unfinished]
    vanished = [(run, holder) for run, holder in holders if holder and _is_gone(layout, run, holder)]
    for run, holder in vanished:
        instance.report_run_failed(run, f"process {holder.pid} on {holder.host} ended without a word")
    return [run.run_id for run, _ in vanished]


def holder_of(run: dg.DagsterRun) -> Holder | None:
    """The process of a run; None where its tags name none, or only that of the run that it repeats."""
    tags = run.tags
    if tags.get(RUN_TAG, run.root_run_id or run.run_id) != run.run_id:
        return None
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
        run_id=run.run_id,
        acquired_at=0.0,
        pid_namespace=tags.get(NAMESPACE_TAG, ""),
    )


def _is_gone(layout: HomeLayout, run: dg.DagsterRun, process: Holder) -> bool:
    """Of a process in another container the lease of its repository tells, as long as it is that process's."""
    if process.is_gone():
        return True
    holder = _lease_of(layout, run.tags.get(PARTITION_TAG, ""))
    return holder is not None and holder.is_process_of(process) and holder.is_gone()


def _lease_of(layout: HomeLayout, key: str) -> Holder | None:
    try:
        return current_holder(layout.state(key)) if key else None
    except BrokenStore:
        return None
