"""The maintenance of a home: its files, then Dagster's records. One at a time; beside builds and the UI."""

import time
from collections.abc import Callable, Iterator
from datetime import datetime

import dagster as dg
import sqlalchemy.exc

from codesum_pipeline.defs import storage
from codesum_pipeline.defs.pruning import RunRecords
from codesum_pipeline.defs.vacuum import give_back
from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.model.moments import utc_now
from codesum_pipeline.store.locks import exclusive_if_free
from codesum_pipeline.upkeep.freed import FreedSpace, Maintenance, RemovalKind, SkippedUpkeep
from codesum_pipeline.upkeep.maintaining import MaintainedHome
from codesum_pipeline.wiring import Home

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
