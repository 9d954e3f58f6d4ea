"""What the past runs of a repository say about the next one: how often its state was tried, whether a person stopped
it, and whether a fault of a machine or of a shared part is waited for.

A run that failed is tagged with its fault, in its own process, where the error is at hand. A run that its process
could not tag is sorted here, by what is told of its end: it was killed, as for want of memory, or came to its own end
and had no database to write that to. If nothing is told, what ended it may be the repository: it counts as an attempt.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import takewhile

import dagster as dg
from msgspec.structs import replace

from codesum_pipeline.builds.dagster.asset_steps import FINGERPRINT_TAG, JOB
from codesum_pipeline.builds.dagster.planner import GOES_ON_TAG, Observation, Wait
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG, PORTION
from codesum_pipeline.builds.dagster.run_tags import STATE_TAG, fault_of, with_fault
from codesum_pipeline.source.repositories.poll_state import PollState

# Runs of one repository that are looked at.
RUNS_REMEMBERED = 25
# How long a fault that is not the repository's is waited for: twice as long after each further one in a row.
FIRST_PAUSE_S = 30.0
LONGEST_PAUSE_S = 900.0
# The kind of what is derived from a cancelled run: the state that it was to build.
_CANCELLED = "cancelled"
# Dagster cancels a run that takes too long as a person does, and says so.
_TOOK_TOO_LONG = "maximum runtime"


def with_lost_records(instance: dg.DagsterInstance, seen: Sequence[Observation]) -> list[Observation]:
    """The observations; of an index that the home has and Dagster has no run for, Dagster's records were lost.

    That is so after a restore of the database, and after an import. A build that was killed before it was recorded has
    a run.
    """
    lost = [each for each in seen if each.is_unrecorded]
    known = _keys_with_runs(instance, [each.wanted for each in lost if each.wanted])
    unknown = {each.key for each in lost} - known
    return [replace(each, recorded=each.wanted) if each.key in unknown else each for each in seen]


def with_attempts(
    instance: dg.DagsterInstance, state: PollState, seen: Sequence[Observation], *, give_up_at: float, now: float
) -> list[Observation]:
    """The observations with what past runs say; those for which the time does not last are left out.

    `now` is in Unix seconds.
    """
    tried = _keys_with_runs(instance, [text for each in seen for text in {each.target, each.wanted} if text])
    cancelled = dg.RunsFilter(job_name=JOB, statuses=[dg.DagsterRunStatus.CANCELED])
    tried.update(run.partition for run in instance.run_storage.get_run_partition_data(cancelled))
    counted = []
    for each in seen:
        if each.key not in tried:
            counted.append(each)
        elif time.monotonic() < give_up_at:
            counted.append(_with_runs(instance, state, each, now=now))
    return counted


def _keys_with_runs(instance: dg.DagsterInstance, fingerprints: Sequence[str]) -> set[str]:
    """The repositories with a run for one of these states."""
    found: set[str] = set()
    for start in range(0, len(fingerprints), PORTION):
        some = list(fingerprints[start : start + PORTION])
        for tag in (FINGERPRINT_TAG, STATE_TAG):
            runs_filter = dg.RunsFilter(tags={tag: some})
            found.update(run.partition for run in instance.run_storage.get_run_partition_data(runs_filter))
    return found


def _with_runs(instance: dg.DagsterInstance, state: PollState, seen: Observation, *, now: float) -> Observation:
    of_repository = {PARTITION_TAG: seen.key}
    same = dg.RunsFilter(tags={**of_repository, FINGERPRINT_TAG: seen.target})
    records = instance.get_run_records(dg.RunsFilter(job_name=JOB, tags=of_repository), limit=RUNS_REMEMBERED)
    launched = instance.get_runs(filters=same, limit=RUNS_REMEMBERED)
    # The highest number in a `run_key`, or how many runs there are; old ones are pruned.
    numbers = (run.tags.get("dagster/run_key", "").rpartition(":")[2] for run in launched)
    launches = max([len(launched), *(int(number) for number in numbers if number.isdecimal())])
    runs = [with_fault(instance, record.dagster_run) for record in records]
    tried = tuple(None if _is_by_hand(run) else run.tags.get(FINGERPRINT_TAG) for run in runs if _is_counted(run))
    return replace(
        seen,
        tried=tried,
        launches=launches,
        is_stopped=bool(runs) and _is_stopped(instance, state, runs[0], seen),
        waits=_wait(runs, records[0].end_time, seen, now=now) if runs else None,
    )


def _is_counted(run: dg.DagsterRun) -> bool:
    """Whether a run counts: as an attempt or, if a person started it, as the end of those before it."""
    if _is_by_hand(run):
        return True
    fault = fault_of(run)
    return run.status is not dg.DagsterRunStatus.CANCELED and (fault is None or fault.is_attempt)


def _is_by_hand(run: dg.DagsterRun) -> bool:
    """Whether a person started a run, from the command line or the UI. The UI's "Re-execute" copies a run's tags, as
    do Dagster's own retries, which earlier versions had."""
    is_repeated = run.parent_run_id is not None and "dagster/retry_number" not in run.tags
    return is_repeated or FINGERPRINT_TAG not in run.tags


def _is_stopped(instance: dg.DagsterInstance, state: PollState, run: dg.DagsterRun, seen: Observation) -> bool:
    """Whether a person cancelled the last run, and nothing has changed since.

    A run that was cancelled before it could say what it builds was to build what is wanted when it is first seen.
    """
    if run.status is not dg.DagsterRunStatus.CANCELED or not _is_cancelled_by_person(instance, run.run_id):
        return False
    asked = None if GOES_ON_TAG in run.tags else run.tags.get(FINGERPRINT_TAG)
    built = run.tags.get(STATE_TAG) or asked
    if built is None:
        noted = state.derived(
            _CANCELLED, {seen.key: run.run_id}, lambda _: {seen.key: seen.wanted}, give_up_at=float("inf")
        )
        built = noted[seen.key]
    return built == seen.wanted


def _is_cancelled_by_person(instance: dg.DagsterInstance, run_id: str) -> bool:
    """Whether somebody asked for the end of a run: from the UI, over GraphQL, or with Ctrl-C at the command line.

    A run whose process was told to end by another than Dagster has no such request.
    """
    records = instance.get_records_for_run(run_id, of_type=dg.DagsterEventType.RUN_CANCELING).records
    messages = [record.event_log_entry.message for record in records]
    return bool(messages) and not any(_TOOK_TOO_LONG in message for message in messages)


def _wait(runs: Sequence[dg.DagsterRun], ended_at: float | None, seen: Observation, *, now: float) -> Wait | None:
    """What the state waits for after the first of the runs, and until when; None if it need not. Another state is tried
    at once."""
    fault, tags = fault_of(runs[0]), runs[0].tags
    is_same_state = seen.wanted in (tags.get(STATE_TAG), tags.get(FINGERPRINT_TAG)) or seen.target == tags.get(
        FINGERPRINT_TAG
    )
    if fault is None or fault.is_attempt or not is_same_state or ended_at is None:
        return None
    in_a_row = len(list(takewhile(lambda run: (found := fault_of(run)) and not found.is_attempt, runs)))
    until = ended_at + pause_after(in_a_row)
    # A time after now is from before the clock was set back.
    if not ended_at <= now < until:
        return None
    return Wait(str(fault), datetime.fromtimestamp(until, UTC))


def pause_after(faults: int) -> float:
    """How long a repository waits after so many faults in a row that are not its own, in seconds."""
    return float(min(FIRST_PAUSE_S * 2.0 ** (min(faults, RUNS_REMEMBERED) - 1), LONGEST_PAUSE_S))
