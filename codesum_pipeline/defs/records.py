"""What Dagster's records say of all repositories, by a number of queries that does not grow with theirs: the last
published fingerprints, and how often builds were tried.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from pathlib import Path

import dagster as dg

# Private: which database has the records, and where its files are.
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.runs import SqlRunStorage
from msgspec.structs import replace

from codesum_pipeline.defs.partitions import PARTITION_TAG
from codesum_pipeline.defs.planner import Observation
from codesum_pipeline.defs.steps import FINGERPRINT_TAG, PUBLISHED_INDEX
from codesum_pipeline.model.moments import utc_now
from codesum_pipeline.source.poll_state import PollState

KIND = "recorded"


def recorded_fingerprints(
    instance: dg.DagsterInstance, state: PollState, keys: Collection[str], *, give_up_at: float
) -> dict[str, str | None]:
    """The fingerprint that the last published index of each repository is tagged with; None where there is none.

    Keys that there was no time for are left out.
    """
    newest = instance.event_log_storage.get_latest_storage_id_by_partition(
        PUBLISHED_INDEX, dg.DagsterEventType.ASSET_MATERIALIZATION
    )
    records = _records_id(instance)
    seen = {key: f"{records}/{newest[key]}" for key in keys if key in newest}
    found = state.derived(KIND, seen, lambda portion: _tags(instance, portion, newest), give_up_at=give_up_at)
    return {key: found.get(key) for key in keys if key not in newest or key in found}


def _tags(instance: dg.DagsterInstance, keys: Sequence[str], newest: Mapping[str, int]) -> dict[str, str | None]:
    wanted = dg.AssetRecordsFilter(asset_key=PUBLISHED_INDEX, storage_ids=[newest[key] for key in keys])
    found = instance.fetch_materializations(wanted, limit=len(keys)).records
    last = [each.asset_materialization for each in found if each.asset_materialization]
    return {str(each.partition): (each.tags or {}).get(FINGERPRINT_TAG) for each in last}


def _records_id(instance: dg.DagsterInstance) -> str:
    """What tells these records from others with the same numbers, as after the file of events was made anew."""
    storage = instance.event_log_storage
    file = Path(storage.path_for_shard("index")) if isinstance(storage, SqliteEventLogStorage) else None
    inode = file.stat().st_ino if file and file.exists() else 0
    runs = instance.run_storage
    return f"{runs.get_run_storage_id() if isinstance(runs, SqlRunStorage) else ''}/{inode}"


_RUN_KEY_TAG, _WILL_RETRY_TAG = "dagster/run_key", "dagster/will_retry"
# Runs of one repository that are looked at for failed attempts.
RUNS_REMEMBERED = 25
_PORTION = 500
# Dagster's daemon starts the retry of a failed run within seconds; without one the planner asks for the run after this.
_UNTIL_RETRIED = timedelta(minutes=2)

ACTIVE = (
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


def active_keys(instance: dg.DagsterInstance) -> set[str]:
    """The repositories with a run that goes on or waits, or that Dagster is about to try again by itself."""
    found = instance.run_storage.get_run_partition_data(dg.RunsFilter(statuses=list(ACTIVE)))
    return {run.partition for run in found} | _keys_to_be_retried(instance)


def _keys_to_be_retried(instance: dg.DagsterInstance) -> set[str]:
    """The repositories of runs that just failed and whose retry is not there yet."""
    just_failed = dg.RunsFilter(
        statuses=[dg.DagsterRunStatus.FAILURE], tags={_WILL_RETRY_TAG: "true"}, updated_after=utc_now() - _UNTIL_RETRIED
    )
    runs = instance.get_runs(filters=just_failed)
    return {run.tags.get(PARTITION_TAG, "") for run in runs if run.is_complete_and_waiting_to_retry}


def with_attempts(instance: dg.DagsterInstance, seen: Sequence[Observation], *, give_up_at: float) -> list[Observation]:
    """The same with the attempts at what each is to be built for; those that there is no time for are left out."""
    tried = _tried(instance, [_target(each) for each in seen])
    counted = []
    for each in seen:
        if each.key not in tried:
            counted.append(each)
        elif time.monotonic() < give_up_at:
            counted.append(_with_attempts(instance, each))
    return counted


def _tried(instance: dg.DagsterInstance, fingerprints: Sequence[str]) -> set[str]:
    """The repositories of which a run was ever requested for one of these fingerprints."""
    found: set[str] = set()
    rest: Iterator[str] = iter(fingerprints)
    while portion := list(islice(rest, _PORTION)):
        runs = instance.run_storage.get_run_partition_data(dg.RunsFilter(tags={FINGERPRINT_TAG: portion}))
        found.update(run.partition for run in runs)
    return found


def _with_attempts(instance: dg.DagsterInstance, seen: Observation) -> Observation:
    of_repository = {PARTITION_TAG: seen.key}
    runs = instance.get_runs(filters=dg.RunsFilter(tags=of_repository), limit=RUNS_REMEMBERED)
    same = dg.RunsFilter(tags={**of_repository, FINGERPRINT_TAG: _target(seen)})
    return replace(
        seen,
        tried=tuple(run.tags.get(FINGERPRINT_TAG) for run in runs),
        launches=_launches(instance.get_runs(filters=same, limit=RUNS_REMEMBERED)),
    )


def _launches(same: Sequence[dg.DagsterRun]) -> int:
    """How many runs were requested: the highest number in a `run_key`, or how many there are; old ones are pruned."""
    numbers = (run.tags.get(_RUN_KEY_TAG, "").rpartition(":")[2] for run in same)
    return max([len(same), *(int(number) for number in numbers if number.isdecimal())])


def _target(seen: Observation) -> str:
    return seen.left_over or seen.wanted or ""
