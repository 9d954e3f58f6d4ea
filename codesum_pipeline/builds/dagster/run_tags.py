"""What a run's tags say of itself, for the planner: the state that it builds, and the fault that ended it.

A run that is started again begins with the tags of the run before it, so a fault also names the run that it ended.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import dagster as dg
from sqlalchemy.exc import SQLAlchemyError

from codesum_pipeline.builds.reports.faults import REPOSITORY, STOPPED, WORKERS, Fault, sort_fault

# Dagster's pages show no tag that begins with `.dagster/`.
HIDDEN = ".dagster/codesum/"
# The fingerprint that a run builds, whoever started it; its first step says it.
STATE_TAG = f"{HIDDEN}state"
# Whose fault it is that a run failed.
FAULT_TAG = "codesum/fault"
_FAULT_OF_RUN = f"{HIDDEN}fault_of_run"
# Why Dagster itself ended a run: none of its workers began it, or its process was told to end.
_BY_REASON = {"START_TIMEOUT": WORKERS, "UNEXPECTED_TERMINATION": STOPPED}


@contextmanager
def noting_fault(instance: dg.DagsterInstance, run_id: str) -> Iterator[None]:
    """Tag a run with the fault of an error that leaves the block; not for one that asks for another try of its step."""
    try:
        yield
    except dg.RetryRequested:
        raise
    except Exception as error:
        note_fault(instance, run_id, sort_fault(error))
        raise


def note_fault(instance: dg.DagsterInstance, run_id: str, fault: Fault) -> None:
    """Tag a run with its fault; records that cannot be written go without."""
    with suppress(SQLAlchemyError):
        instance.add_run_tags(run_id, {FAULT_TAG: str(fault), _FAULT_OF_RUN: run_id})


def fault_of(run: dg.DagsterRun) -> Fault | None:
    """Whose fault it is that a run failed; None if it did not. A run that ended without a word counts as the
    repository's: what it is made of may have killed it."""
    if run.status is not dg.DagsterRunStatus.FAILURE:
        return None
    if run.tags.get(_FAULT_OF_RUN) == run.run_id:
        return Fault.parse(run.tags.get(FAULT_TAG, ""))
    return _BY_REASON.get(run.tags.get("dagster/failure_reason", ""), REPOSITORY)
