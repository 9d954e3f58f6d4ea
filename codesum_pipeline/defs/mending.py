"""Mending of Dagster's own records: in place where nothing has to go, else beside the broken file, which is kept."""

import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy

from codesum_pipeline.defs.instance_file import LOCK
from codesum_pipeline.defs.storage import (
    EVENTS,
    RUNS,
    SCHEDULES,
    StorageFile,
    connected,
    create,
    fault_of,
    migrate,
    storage_files,
)
from codesum_pipeline.store.locks import exclusive

if TYPE_CHECKING:
    # Private: the type of what `storage.reference_of` makes.
    from dagster._core.instance.ref import InstanceRef

_LOST = {
    RUNS: "the list of past runs",
    EVENTS: "the history of materialisations and checks",
    SCHEDULES: "the ticks of schedules and sensors, and which of them are switched on",
}


def mend(reference: "InstanceRef", folder: Path) -> list[str]:
    """Mend what is broken of an instance's files; for each, what was wrong and what became of it."""
    files = storage_files(reference)
    if not any(_deep_fault(file) for file in [*files, *_logs_of_runs(files)]):
        return []
    with exclusive(folder / LOCK):
        mended = [_mended(file, fault) for file in files if (fault := _deep_fault(file))]
        return mended + [_mended_log(file, fault) for file in _logs_of_runs(files) if (fault := _deep_fault(file))]


def _logs_of_runs(files: Sequence[StorageFile]) -> list[StorageFile]:
    """The log of each run, a file of its own."""
    return [
        StorageFile(EVENTS, path)
        for file in files
        if file.kind == EVENTS
        for path in sorted(file.path.parent.glob("*.db"))
        if path != file.path
    ]


def _mended(file: StorageFile, fault: str) -> str:
    if not file.path.exists():
        create(file)
        return f"{file} was missing: it is made anew"
    if _is_repaired(file):
        file.make(file.path.parent)
        return f"{file} was broken ({fault}): it is whole again, nothing is lost"
    kept = _set_aside(file)
    create(file)
    return f"{file} was broken ({fault}): it is kept as {kept.name}, and a new one made; {_LOST[file.kind]} is lost"


def _mended_log(file: StorageFile, fault: str) -> str:
    if _is_repaired(file):
        return f"the log of run {file.path.stem} was broken ({fault}): it is whole again, nothing is lost"
    kept = _set_aside(file)
    return f"the log of run {file.path.stem} was broken ({fault}): it is kept as {kept.name}; Dagster shows none of it"


def _is_repaired(file: StorageFile) -> bool:
    """Make what is missing and stamp what is there, if what is there can be read and used."""
    try:
        if _damage(file) or (_lacks_columns(file) and not _is_migrated(file)):
            return False
        _complete(file)
    except (sqlite3.DatabaseError, sqlalchemy.exc.DatabaseError):
        return False
    return not _deep_fault(file)


def _complete(file: StorageFile) -> None:
    # Private: nothing public stamps tables that were made by hand.
    from dagster._core.storage.sql import stamp_alembic_rev

    with connected(file) as connection:
        file.metadata.create_all(connection)
        for table in file.metadata.sorted_tables:
            for index in table.indexes:
                index.create(connection, checkfirst=True)
        connection.execute(sqlalchemy.text("DROP TABLE IF EXISTS alembic_version"))
        stamp_alembic_rev(file.migrations, connection)
        connection.commit()
        connection.execute(sqlalchemy.text("PRAGMA journal_mode=WAL"))
    if file.kind in (RUNS, SCHEDULES):
        storage = file.make(file.path.parent)
        storage.migrate()
        storage.optimize()


def _is_migrated(file: StorageFile) -> bool:
    """Whether tables of an earlier Dagster could be brought to those of this one."""
    if not _is_known(file):
        return False
    migrate(file)
    return not _lacks_columns(file)


def _deep_fault(file: StorageFile) -> str:
    """What is wrong with a file, its pages, its columns and its revision included."""
    return fault_of(file) or _damage(file) or _lacks_columns(file) or ("" if _is_known(file) else "unknown revision")


def _damage(file: StorageFile) -> str:
    try:
        with closing(sqlite3.connect(f"{file.path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.OperationalError:
        # Locked, or not to be opened here: that is no damage.
        return ""
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if answer == "ok" else str(answer).replace("\n", " ")


def _lacks_columns(file: StorageFile) -> str:
    with connected(file) as connection:
        found = sqlalchemy.inspect(connection)
        names = set(found.get_table_names())
        there = {table: {column["name"] for column in found.get_columns(table)} for table in names}
    for table in file.metadata.sorted_tables:
        if table.name in names and (missing := sorted(set(table.columns.keys()) - there[table.name])):
            return f"table {table.name} without {', '.join(missing)}"
    return ""


def _is_known(file: StorageFile) -> bool:
    """Whether the revision that a file is stamped with is one of this Dagster's."""
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    # Private: nothing public tells the revision of one file.
    from dagster._core.storage.sql import check_alembic_revision

    try:
        with connected(file) as connection:
            revision, _ = check_alembic_revision(file.migrations, connection)
        ScriptDirectory.from_config(file.migrations).get_revision(str(revision))
    except CommandError:
        return False
    return revision is not None


def _set_aside(file: StorageFile) -> Path:
    """The broken file under another name, with what SQLite keeps beside it."""
    kept = file.path.with_name(f"{file.path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}")
    for suffix in ("", "-wal", "-shm"):
        part = file.path.with_name(file.path.name + suffix)
        if part.exists():
            part.rename(kept.with_name(kept.name + suffix))
    return kept
