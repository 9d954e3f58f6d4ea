"""What a run's tags say of itself, for the planner: the state that it builds, and the fault that ended it.

A run that is started again begins with the tags of the run before it, so a fault also names the run that it ended.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from codesum_pipeline.builds.reports.faults import (
    DATABASE,
    REPOSITORY,
    STOPPED,
    WORKERS,
    Fault,
    sort_end,
    sort_fault,
)

# Dagster's pages show no tag that begins with `.dagster/`.
HIDDEN = ".dagster/codesum/"
# The fingerprint that a run builds, whoever started it; its first step says it.
STATE_TAG = f"{HIDDEN}state"
# Whose fault it is that a run failed.
FAULT_TAG = "codesum/fault"
_FAULT_OF_RUN = f"{HIDDEN}fault_of_run"
# Why Dagster itself ended a run: none of its workers began it, or its process was told to end.
_REASON = "dagster/failure_reason"
_BY_REASON = {"START_TIMEOUT": WORKERS, "UNEXPECTED_TERMINATION": STOPPED}

# What tells of the end of a run, the newest of these events, and how many causes of an error are looked at.
_OF_THE_END = {
    dg.DagsterEventType.RUN_FAILURE,
    dg.DagsterEventType.STEP_FAILURE,
    dg.DagsterEventType.ENGINE_EVENT,
}
_EVENTS, _CAUSES = 50, 20
# A database restarts in that time, and Dagster itself asks it again for some seconds only.
_AWAY_S, _ASK_AGAIN_S = 30.0, 1.0


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
    """Tag a run with its fault. A database that is away is waited for, for `_AWAY_S`; beyond that, and where records
    cannot be written, the run goes without."""
    give_up_at = time.monotonic() + _AWAY_S
    while True:
        try:
            instance.add_run_tags(run_id, _tags_of(run_id, fault))
            return
        except Exception as error:
            problem = sort_fault(error)
            if problem.is_attempt:
                raise
            if problem != DATABASE or time.monotonic() > give_up_at:
                return
        time.sleep(_ASK_AGAIN_S)


def _tags_of(run_id: str, fault: Fault) -> dict[str, str]:
    return {FAULT_TAG: str(fault), _FAULT_OF_RUN: run_id}


def fault_of(run: dg.DagsterRun) -> Fault | None:
    """Whose fault it is that a run failed; None if it did not. A run that nobody has sorted counts as the
    repository's."""
    if run.status is not dg.DagsterRunStatus.FAILURE:
        return None
    if run.tags.get(_FAULT_OF_RUN) == run.run_id:
        return Fault.parse(run.tags.get(FAULT_TAG, ""))
    return _BY_REASON.get(run.tags.get(_REASON, ""), REPOSITORY)


def with_fault(instance: dg.DagsterInstance, run: dg.DagsterRun) -> dg.DagsterRun:
    """The run, tagged with its fault if it failed. One whose process could not say it is sorted once, by what Dagster
    was told of its end; what killed it without a word may be the repository."""
    is_sorted = run.tags.get(_FAULT_OF_RUN) == run.run_id or run.tags.get(_REASON) in _BY_REASON
    if run.status is not dg.DagsterRunStatus.FAILURE or is_sorted:
        return run
    records = instance.get_records_for_run(run.run_id, of_type=_OF_THE_END, limit=_EVENTS, ascending=False).records
    events = [event for each in records if (event := each.event_log_entry.dagster_event)]
    errors = [text for event in events for text in _errors_of(event)]
    # A message about an error repeats its words, and those may be anybody's.
    tags = _tags_of(run.run_id, sort_end([event.message or "" for event in events if not _errors_of(event)], errors))
    instance.add_run_tags(run.run_id, tags)
    return run.with_tags({**run.tags, **tags})


def _errors_of(event: dg.DagsterEvent) -> list[str]:
    """The error that an event tells of, and its causes."""
    error = getattr(event.event_specific_data, "error", None)
    found: list[str] = []
    while error and len(found) < _CAUSES:
        found.append(error.message)
        error = error.cause or error.context
    return found
