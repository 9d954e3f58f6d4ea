"""Old runs of Dagster: deleted with their events, but for what its pages and the planner still look at.

Kept are the newest runs of each repository and job; the runs that hold the last
materialisation, the last planned one or the last check of an asset of a
repository; runs that are under way, and those of a backfill that is.

A run's row goes last: a kill in between leaves a run that the next maintenance
finds again. Of SQLite the file of a run's events goes first, which needs no
room on a full disk.
"""

import shutil
import time
import uuid
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import dagster as dg
import sqlalchemy as sql

# Private: the public `delete_run` leaves tags, checks and files behind, one transaction for each run.
from dagster._core.storage.event_log import SqlEventLogStorage
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable, SqlEventLogStorageTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.runs.schema import RunsTable, RunTagsTable
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from msgspec import Struct

from codesum_pipeline.defs.partitions import PARTITION_TAG
from codesum_pipeline.upkeep.freed import FreedSpace, RemovalKind, size_of

ENDED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
_BACKFILL_ENDED = ("COMPLETED", "COMPLETED_SUCCESS", "COMPLETED_FAILED", "FAILED", "CANCELED")
# Rows of a transaction: another process waits for it.
_AT_ONCE = 50
_PAGE = 500
# Since the run of a file of events is created before it, one without a run is older than any that begins.
_ORPHAN_AGE_S = 3600.0
# The last event of each of these kinds is what the UI shows of an asset's partition.
_SHOWN = (
    dg.DagsterEventType.ASSET_MATERIALIZATION,
    dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
    dg.DagsterEventType.ASSET_OBSERVATION,
    dg.DagsterEventType.ASSET_CHECK_EVALUATION,
)


class PrunableRun(Struct, frozen=True):
    """An ended run that may go, and of which repository it was; empty where of none."""

    run_id: str
    repository: str


class RunRecords(Struct, frozen=True):
    """The runs and events of one instance; `folder` is Dagster's own in the home, for what of a run is a file."""

    instance: dg.DagsterInstance
    folder: Path

    def prune(self, *, keep: int, is_dry_run: bool) -> Iterator[FreedSpace]:
        """Delete what is not kept; `keep` newest runs of each repository and job stay."""
        old = self._old_runs(keep)
        for start in range(0, len(old), _AT_ONCE):
            some = old[start : start + _AT_ONCE]
            sizes: Counter[str] = Counter()
            counts: Counter[str] = Counter()
            for run in some:
                sizes[run.repository] += size_of(self._files(run.run_id))
                counts[run.repository] += 1
            if not is_dry_run:
                self._delete([run.run_id for run in some])
            for repository in sorted(counts):
                yield FreedSpace(RemovalKind.RUNS, repository, counts[repository], sizes[repository])
        yield from self._drop_orphans(is_dry_run=is_dry_run)

    def _old_runs(self, keep: int) -> list[PrunableRun]:
        """Oldest first, so that a maintenance that is killed leaves the newest."""
        seen: Counter[tuple[str, str]] = Counter()
        old = []
        for run in self._runs():
            place = (run.job_name, run.tags.get(PARTITION_TAG, ""))
            seen[place] += 1
            if seen[place] > keep and run.status in ENDED:
                old.append(run)
        if not old:
            return []
        kept, backfills = self._shown_runs(), self._active_backfills()
        return [
            PrunableRun(run.run_id, run.tags.get(PARTITION_TAG, ""))
            for run in reversed(old)
            if run.run_id not in kept and run.tags.get("dagster/backfill") not in backfills
        ]

    def _runs(self) -> Iterator[dg.DagsterRun]:
        """All of them, newest first."""
        cursor = None
        while runs := self.instance.get_runs(cursor=cursor, limit=_PAGE):
            yield from runs
            cursor = runs[-1].run_id

    def _shown_runs(self) -> set[str]:
        """The runs that hold the last event of a kind, or the last execution of a check, of an asset's partition."""
        storage = self.instance.event_log_storage
        if not isinstance(storage, SqlEventLogStorage):
            raise NotImplementedError(f"{type(storage).__name__} keeps its events in no SQL database")
        events, checks = SqlEventLogStorageTable.c, AssetCheckExecutionsTable.c
        last_events = (
            sql.select(sql.func.max(events.id))
            .where(events.asset_key.is_not(None), events.dagster_event_type.in_([kind.value for kind in _SHOWN]))
            .group_by(events.asset_key, events.partition, events.dagster_event_type)
        )
        last_checks = sql.select(sql.func.max(checks.id)).group_by(
            checks.asset_key, checks.check_name, checks.partition
        )
        with storage.index_connection() as connection:
            rows = [
                *connection.execute(sql.select(events.run_id).where(events.id.in_(last_events))),
                *connection.execute(sql.select(checks.run_id).where(checks.id.in_(last_checks))),
            ]
        return {run_id for (run_id,) in rows}

    def _active_backfills(self) -> set[str]:
        return {
            backfill.backfill_id
            for backfill in self.instance.get_backfills()
            if backfill.status.value not in _BACKFILL_ENDED
        }

    def _delete(self, run_ids: Sequence[str]) -> None:
        storage = self.instance.event_log_storage
        for run_id in run_ids:
            _unlink(self._files(run_id))
            if storage.supports_global_concurrency_limits:
                storage.free_concurrency_slots_for_run(run_id)
        if isinstance(storage, SqlEventLogStorage):
            with storage.index_connection() as connection:
                for run_id in run_ids:
                    storage.delete_events_for_run(connection, run_id)
                connection.execute(
                    AssetCheckExecutionsTable.delete().where(AssetCheckExecutionsTable.c.run_id.in_(run_ids))
                )
        self._delete_rows(run_ids)

    def _delete_rows(self, run_ids: Sequence[str]) -> None:
        runs = self.instance.run_storage
        if isinstance(runs, SqliteRunStorage):
            # Dagster leaves the tags of a run behind there.
            with runs.connect() as connection:
                connection.execute(RunTagsTable.delete().where(RunTagsTable.c.run_id.in_(run_ids)))
                connection.execute(RunsTable.delete().where(RunsTable.c.run_id.in_(run_ids)))
            return
        for run_id in run_ids:
            runs.delete_run(run_id)

    def _files(self, run_id: str) -> list[Path]:
        """What of a run is in files: its events in SQLite, and what its steps printed."""
        found = [self.folder / "storage" / run_id]
        storage = self.instance.event_log_storage
        if isinstance(storage, SqliteEventLogStorage):
            events = Path(storage.path_for_shard(run_id))
            found += [events.with_name(events.name + end) for end in ("", "-wal", "-shm", "-journal")]
        return [path for path in found if path.exists()]

    def _drop_orphans(self, *, is_dry_run: bool) -> Iterator[FreedSpace]:
        """Files of runs that are gone: a page that was open makes an empty one."""
        orphans = [run_id for run_id in self._runs_with_files() if self.instance.get_run_by_id(run_id) is None]
        files = [path for run_id in orphans for path in self._files(run_id)]
        old = [path for path in files if time.time() - path.stat().st_mtime > _ORPHAN_AGE_S]
        if old:
            size = size_of(old)
            if not is_dry_run:
                _unlink(old)
            yield FreedSpace(RemovalKind.LEFTOVERS, "", len(old), size)

    def _runs_with_files(self) -> Collection[str]:
        storage = self.instance.event_log_storage
        names = {path.name for path in (self.folder / "storage").glob("*")}
        if isinstance(storage, SqliteEventLogStorage):
            folder = Path(storage.path_for_shard("index")).parent
            names |= {path.stem for path in folder.glob("*.db")}
        return sorted(filter(_is_run_id, names))


def _is_run_id(name: str) -> bool:
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False


def _unlink(paths: Collection[Path]) -> None:
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
