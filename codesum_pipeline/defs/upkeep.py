"""The job `maintenance`: what nobody needs any more is deleted, of a home's files and of Dagster's records.

One maintenance at a time; builds and the UI may go on beside it.
"""

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

import dagster as dg
import sqlalchemy.exc

from codesum_pipeline.defs import storage
from codesum_pipeline.defs.building.values import PreviewRows
from codesum_pipeline.defs.metadata import metadata_of
from codesum_pipeline.defs.pruning import RunRecords
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import OWNER, schedule_of, stage_failures
from codesum_pipeline.defs.storage import StorageFile
from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.model.moments import utc_now
from codesum_pipeline.store.locks import exclusive_if_free
from codesum_pipeline.upkeep.freed import FreedSpace, Maintenance, RemovalKind, SkippedUpkeep
from codesum_pipeline.upkeep.maintaining import MaintainedHome
from codesum_pipeline.wiring import Home

# Records that come next take free pages: a few are no loss.
_FREE_SHARE = 0.2
_LEAST_BYTES = 1 << 20
# Others write there: who waits for them longer looks again next time.
_BUSY_TIMEOUT_S = 10.0


def give_back(file: StorageFile, *, is_dry_run: bool = False) -> Iterator[FreedSpace | SkippedUpkeep]:
    """Write a file anew without its free pages, where these are many.

    Readers go on meanwhile; whoever writes waits. SQLite leaves the file as it is where it is killed.
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
                _check_room(file.path, (pages - free) * size)
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            yield FreedSpace(RemovalKind.RECORDS, "", free, free * size)
    except (sqlite3.Error, OSError) as error:
        yield SkippedUpkeep(RemovalKind.RECORDS, "", f"{file}: {error}")


def _check_room(path: Path, size: int) -> None:
    """SQLite writes the file aside and then into its log of changes."""
    for folder in (path.parent, Path(tempfile.gettempdir())):
        if shutil.disk_usage(folder).free < 2 * size:
            raise OSError(f"{folder} has no room to write it anew: free {2 * size:,} bytes there")


LOCK = ".maintenance.lock"
Tell = Callable[[FreedSpace | SkippedUpkeep], None]


def maintain(
    home: Home,
    instance: dg.DagsterInstance,
    *,
    is_dry_run: bool = False,
    now: Callable[[], datetime] = utc_now,
    tell: Tell = lambda _found: None,
) -> Maintenance:
    """Prune all that the settings let go; with `is_dry_run` nothing changes. `tell` hears of each thing when it is
    done."""
    start = time.monotonic()
    found: list[FreedSpace | SkippedUpkeep] = []
    with exclusive_if_free(home.layout.home / "state" / LOCK) as is_alone:
        parts = _parts(home, instance, is_dry_run=is_dry_run, now=now()) if is_alone else _elsewhere()
        for each in parts:
            tell(each)
            found.append(each)
    return Maintenance(
        freed=tuple(each for each in found if isinstance(each, FreedSpace)),
        untouched=tuple(each for each in found if isinstance(each, SkippedUpkeep)),
        is_dry_run=is_dry_run,
        seconds=time.monotonic() - start,
    )


def _parts(
    home: Home, instance: dg.DagsterInstance, *, is_dry_run: bool, now: datetime
) -> Iterator[FreedSpace | SkippedUpkeep]:
    yield from MaintainedHome(home, now, is_dry_run).maintain()
    yield from _prune_runs(home, instance, is_dry_run=is_dry_run)
    for file in storage.storage_files(instance.get_ref()):
        yield from give_back(file, is_dry_run=is_dry_run)


def _elsewhere() -> Iterator[SkippedUpkeep]:
    yield SkippedUpkeep(None, "", "another maintenance of this home is under way")


def _prune_runs(home: Home, instance: dg.DagsterInstance, *, is_dry_run: bool) -> Iterator[FreedSpace | SkippedUpkeep]:
    records = RunRecords(instance, home.layout.dagster_home)
    # The planner looks for so many failed attempts in a row.
    keep = max(home.settings.maintenance.keep_runs, home.settings.planner.max_attempts)
    try:
        yield from records.prune(keep=keep, is_dry_run=is_dry_run)
    except (CodesumError, OSError, sqlalchemy.exc.SQLAlchemyError) as error:
        yield SkippedUpkeep(RemovalKind.RUNS, "", f"{type(error).__name__}: {error}")


# A fleet's repositories would make the page of a run too long to read.
_SHOWN = 50


@dg.op(out=dg.Out(dg.Nothing), description="Prune what the settings below `maintenance` let go, and say what that was.")
def prune(context: dg.OpExecutionContext, codesum: CodesumResource) -> Iterator[dg.Output[None]]:
    """One row of `freed` is what went of one kind and repository."""
    with stage_failures():
        done = maintain(codesum.open_home(), context.instance, tell=lambda found: _log(context, found))
    yield dg.Output(None, metadata=maintenance_metadata(done))


@dg.job(
    name="maintenance",
    description="Prune old runs, rows, mirrors and caches, so that a home does not grow for ever.",
    owners=[OWNER],
    executor_def=dg.in_process_executor,
)
def maintenance() -> None:
    """One op: it is no step of an index."""
    prune()


def pruning(cron: str) -> dg.ScheduleDefinition:
    """When the job runs."""
    says = "Prunes what the settings below `maintenance` let go."
    return schedule_of("maintenance", maintenance, cron, says, lambda _context, _home: [dg.RunRequest()])


def maintenance_metadata(done: Maintenance) -> dict[str, dg.MetadataValue]:
    """What went in all and by kind, what most went of, and what was left as it is."""
    largest = sorted(done.freed, key=lambda each: (-each.size, each.kind, each.repository))
    return metadata_of(
        {
            "seconds": done.seconds,
            "freed_bytes": done.size,
            "untouched": len(done.untouched),
            "by_kind": _table(done.by_kind()),
            "freed": _table(largest[:_SHOWN]),
            "left": PreviewRows(
                tuple(
                    {"kind": each.kind or "", "repository": each.repository, "because": each.because}
                    for each in done.untouched[:_SHOWN]
                )
            ),
        }
    )


def _table(rows: list[FreedSpace]) -> PreviewRows:
    return PreviewRows(
        tuple(
            {"kind": each.kind.value, "repository": each.repository, "count": each.count, "bytes": each.size}
            for each in rows
        )
    )


def _log(context: dg.OpExecutionContext, found: FreedSpace | SkippedUpkeep) -> None:
    """Of a fleet only what was left as it is: the rest is in the metadata."""
    if isinstance(found, SkippedUpkeep):
        context.log.warning("%s: left as it is: %s", found.repository or "the home", found.because)
