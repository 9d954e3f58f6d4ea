"""The job `maintenance`: deletes files of a home, and records of Dagster, that are no longer needed.

One maintenance at a time; builds and the UI may go on beside it.

Of Dagster's runs, with their events, these are kept: the newest of each repository and job; those that hold the last
materialisation, the last planned one or the last check of an asset of a repository; those under way, and those of a
backfill that is. A run's row goes last: a kill in between leaves a run that the next maintenance finds again. Of SQLite
the file of a run's events goes first, which needs no room on a full disk.
"""

import shutil
import sqlite3
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

import dagster as dg
import sqlalchemy as sql
from msgspec import Struct, to_builtins

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster import asset_steps, private_names
from codesum_pipeline.builds.dagster.dagster_records import StorageFile, storage_files
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG, CodesumResource
from codesum_pipeline.builds.maintenance.freed import FreedSpace, Maintenance, RemovalKind, SkippedUpkeep, size_of
from codesum_pipeline.builds.maintenance.maintaining import Found, MaintainedHome
from codesum_pipeline.builds.reports.build_values import PreviewRows
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.store.locks import lock_if_free

LOCK = ".maintenance.lock"
# Records that come next take free pages: a few are no loss.
_FREE_SHARE = 0.2
_LEAST_BYTES = 1 << 20
# Others write there: who waits for them longer looks again next time.
_BUSY_TIMEOUT_S = 10.0
ENDED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
_BACKFILL_ENDED = ("COMPLETED", "COMPLETED_SUCCESS", "COMPLETED_FAILED", "FAILED", "CANCELED")
# Runs of a transaction: another process waits for it.
_AT_ONCE = 50
_PAGE = 500
# Rows of each table in the metadata.
_SHOWN = 50
# Since the run of a file of events is created before it, one without a run is older than any that begins.
_ORPHAN_AGE_S = 3600.0
# The last event of each of these kinds is what the UI shows of an asset's partition.
_LAST_EVENTS = (
    dg.DagsterEventType.ASSET_MATERIALIZATION,
    dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
    dg.DagsterEventType.ASSET_OBSERVATION,
    dg.DagsterEventType.ASSET_CHECK_EVALUATION,
)

Tell = Callable[[Found], None]


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
            for run_id, repository in some:
                sizes[repository] += size_of(self._files(run_id))
                counts[repository] += 1
            if not is_dry_run:
                self._delete([run_id for run_id, _ in some])
            for repository in sorted(counts):
                yield FreedSpace(RemovalKind.RUNS, repository, counts[repository], sizes[repository])
        yield from self._drop_orphans(is_dry_run=is_dry_run)

    def _old_runs(self, keep: int) -> list[tuple[str, str]]:
        """The ids of those that may go, each with its repository; oldest first, so that a maintenance that is killed
        leaves the newest."""
        seen: Counter[tuple[str, str]] = Counter()
        old, cursor = [], None
        while runs := self.instance.get_runs(cursor=cursor, limit=_PAGE):
            cursor = runs[-1].run_id
            for run in runs:
                place = (run.job_name, run.tags.get(PARTITION_TAG, ""))
                seen[place] += 1
                if seen[place] > keep and run.status in ENDED:
                    old.append(run)
        if not old:
            return []
        kept = self._shown_runs()
        backfills = {
            backfill.backfill_id
            for backfill in self.instance.get_backfills()
            if backfill.status.value not in _BACKFILL_ENDED
        }
        return [
            (run.run_id, run.tags.get(PARTITION_TAG, ""))
            for run in reversed(old)
            if run.run_id not in kept and run.tags.get("dagster/backfill") not in backfills
        ]

    def _shown_runs(self) -> set[str]:
        """The runs that hold the last event of a kind, or the last execution of a check, of an asset's partition."""
        storage = self.instance.event_log_storage
        if not isinstance(storage, private_names.SqlEventLogStorage):
            raise NotImplementedError(f"{type(storage).__name__} keeps its events in no SQL database")
        events, checks = private_names.SqlEventLogStorageTable.c, private_names.AssetCheckExecutionsTable.c
        last_events = (
            sql.select(sql.func.max(events.id))
            .where(events.asset_key.is_not(None), events.dagster_event_type.in_([kind.value for kind in _LAST_EVENTS]))
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

    def _delete(self, run_ids: Sequence[str]) -> None:
        events, runs = self.instance.event_log_storage, self.instance.run_storage
        for run_id in run_ids:
            _unlink(self._files(run_id))
            if events.supports_global_concurrency_limits:
                events.free_concurrency_slots_for_run(run_id)
        if isinstance(events, private_names.SqlEventLogStorage):
            checks = private_names.AssetCheckExecutionsTable
            with events.index_connection() as connection:
                for run_id in run_ids:
                    events.delete_events_for_run(connection, run_id)
                connection.execute(checks.delete().where(checks.c.run_id.in_(run_ids)))
        if isinstance(runs, private_names.SqliteRunStorage):
            # Dagster leaves the tags of a run behind there.
            with runs.connect() as connection:
                for table in (private_names.RunTagsTable, private_names.RunsTable):
                    connection.execute(table.delete().where(table.c.run_id.in_(run_ids)))
            return
        for run_id in run_ids:
            runs.delete_run(run_id)

    def _files(self, run_id: str) -> list[Path]:
        """The files of a run: its events in SQLite, and the output of its steps."""
        found = [self.folder / "storage" / run_id]
        storage = self.instance.event_log_storage
        if isinstance(storage, private_names.SqliteEventLogStorage):
            events = Path(storage.path_for_shard(run_id))
            found += [events.with_name(events.name + end) for end in ("", "-wal", "-shm", "-journal")]
        return [path for path in found if path.exists()]

    def _drop_orphans(self, *, is_dry_run: bool) -> Iterator[FreedSpace]:
        """Files of runs that are gone: a page that was open makes an empty one."""
        names = {path.name for path in (self.folder / "storage").glob("*")}
        storage = self.instance.event_log_storage
        if isinstance(storage, private_names.SqliteEventLogStorage):
            names |= {path.stem for path in Path(storage.path_for_shard("index")).parent.glob("*.db")}
        orphans = [name for name in sorted(filter(_is_run_id, names)) if self.instance.get_run_by_id(name) is None]
        files = [path for run_id in orphans for path in self._files(run_id)]
        old = [path for path in files if time.time() - path.stat().st_mtime > _ORPHAN_AGE_S]
        if old:
            size = size_of(old)
            if not is_dry_run:
                _unlink(old)
            yield FreedSpace(RemovalKind.LEFTOVERS, "", len(old), size)


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


def compact_records_file(file: StorageFile, *, is_dry_run: bool = False) -> Iterator[Found]:
    """Write a file anew without its free pages, where these are many.

    Readers continue meanwhile; writers wait. If SQLite is killed, the file stays as it is.
    """
    if not file.path.exists():
        return
    try:
        with closing(sqlite3.connect(file.path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)) as connection:
            pages, free, size = (
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
            if free * size < _LEAST_BYTES or free < _FREE_SHARE * pages:
                return
            if not is_dry_run:
                # SQLite writes the file aside and then into its log of changes.
                room = 2 * (pages - free) * size
                for folder in (file.path.parent, Path(tempfile.gettempdir())):
                    if shutil.disk_usage(folder).free < room:
                        raise OSError(f"{folder} has no room to write it anew: free {room:,} bytes there")
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            yield FreedSpace(RemovalKind.RECORDS, "", free, free * size)
    except (sqlite3.Error, OSError) as error:
        yield SkippedUpkeep(RemovalKind.RECORDS, "", f"{file}: {error}")


def maintain_everything(
    home: Home,
    instance: dg.DagsterInstance,
    *,
    is_dry_run: bool = False,
    now: Callable[[], datetime] = utc_now,
    tell: Tell = lambda _found: None,
) -> Maintenance:
    """Prune everything that the settings do not keep; with `is_dry_run` nothing changes. `tell` is called after each
    removal."""
    start = time.monotonic()
    found: list[Found] = []
    elsewhere = SkippedUpkeep(None, "", "another maintenance of this home is under way")
    with lock_if_free(home.layout.home / "state" / LOCK) as is_alone:
        files = MaintainedHome(home, now(), is_dry_run)
        for each in _parts(files, instance, is_dry_run=is_dry_run) if is_alone else (elsewhere,):
            tell(each)
            found.append(each)
    return Maintenance(
        freed=tuple(each for each in found if isinstance(each, FreedSpace)),
        untouched=tuple(each for each in found if isinstance(each, SkippedUpkeep)),
        is_dry_run=is_dry_run,
        seconds=time.monotonic() - start,
    )


def _parts(files: MaintainedHome, instance: dg.DagsterInstance, *, is_dry_run: bool) -> Iterator[Found]:
    yield from files.maintain()
    home = files.home
    # The planner looks for so many failed attempts in a row.
    keep = max(home.settings.maintenance.keep_runs, home.settings.planner.max_attempts)
    try:
        yield from RunRecords(instance, home.layout.dagster_home).prune(keep=keep, is_dry_run=is_dry_run)
    except (CodesumError, OSError, sql.exc.SQLAlchemyError) as error:
        yield SkippedUpkeep(RemovalKind.RUNS, "", f"{type(error).__name__}: {error}")
    for file in storage_files(instance.get_ref()):
        yield from compact_records_file(file, is_dry_run=is_dry_run)


@dg.op(out=dg.Out(dg.Nothing), description="Prune what the settings below `maintenance` let go, and say what that was.")
def prune(context: dg.OpExecutionContext, codesum: CodesumResource) -> Iterator[dg.Output[None]]:
    """One row of `freed` is what went of one kind and repository."""

    def log(found: Found) -> None:
        """Log only what could not be pruned: a fleet has too much of the rest, which is in the metadata."""
        if isinstance(found, SkippedUpkeep):
            context.log.warning("%s: left as it is: %s", found.repository or "the home", found.because)

    with asset_steps.stage_failures():
        done = maintain_everything(codesum.open_home(), context.instance, tell=log)
    # The total that was removed and by kind, the largest removals, and what was skipped.
    largest = sorted(done.freed, key=lambda each: (-each.size, each.kind, each.repository))
    shown: dict[str, Sequence[Found]] = {"by_kind": done.by_kind(), "freed": largest, "left": done.untouched}
    tables = {name: PreviewRows(tuple(map(_row, rows[:_SHOWN]))) for name, rows in shown.items()}
    numbers = {"seconds": done.seconds, "freed_bytes": done.size, "untouched": len(done.untouched)}
    yield dg.Output(None, metadata=asset_steps.metadata_of({**numbers, **tables}))


def _row(found: Found) -> dict[str, str | int]:
    row = {name: "" if value is None else value for name, value in to_builtins(found).items()}
    return {"bytes" if name == "size" else name: value for name, value in row.items()}


@dg.job(
    name="maintenance",
    description=asset_steps.DEFINITIONS["jobs"]["maintenance"],
    owners=[asset_steps.OWNER],
    executor_def=dg.in_process_executor,
)
def maintenance() -> None:
    """One op: it is no step of an index."""
    prune()


def pruning(cron: str) -> dg.ScheduleDefinition:
    """When the job runs."""
    return asset_steps.schedule_of("maintenance", maintenance, cron, lambda _context, _home: [dg.RunRequest()])
