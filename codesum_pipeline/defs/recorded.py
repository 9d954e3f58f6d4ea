"""What Dagster has recorded of all repositories, by a number of queries that does not grow with theirs.

Dagster tells the newest materialisation of every partition in one query, but of
its tags the data version alone. Those whose number is another than the last
time are read in portions, and the others' tags are noted.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import dagster as dg
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.runs import SqlRunStorage

from codesum_pipeline.defs.steps import FINGERPRINT_TAG, PUBLISHED_INDEX
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
