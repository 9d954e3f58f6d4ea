"""Dagster's own records, as SQLite files: made whole or not at all, migrated by one process alone.

Dagster makes a file when it first opens it, table by table. Two processes that do so at one moment fail, or leave a
file that no later one can use. Here a file is made aside and moved in place, behind one lock; where a `dagster.yaml`
names other storage, its server looks after that. A broken file is kept under another name, and a new one is made.
"""

import inspect
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import sqlalchemy
import yaml
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from msgspec import Struct
from sqlalchemy.pool import NullPool

from codesum_pipeline.builds.dagster import private_names
from codesum_pipeline.builds.dagster.instance_file import LOCK, NO_LOGS, OUTPUT, ensure_dagster_home
from codesum_pipeline.builds.dagster.sqlite_records import with_open_records
from codesum_pipeline.foundation.data_model.errors import (
    BrokenStore,
    CannotWrite,
    CodesumError,
    RecordsUnavailable,
    causes_of,
)
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.settings.operation_settings import POSTGRES_VARIABLE
from codesum_pipeline.foundation.store.atomic import explain_refused_writes, write_text_atomically
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.locks import lock_exclusively

# The version of Dagster by which the files were last made or migrated.
MADE_BY = ".storage-version"
# By Dagster's class: the kind of its records, its file, its tables, and what is lost with the file.
_FILES: dict[Any, tuple[str, str, sqlalchemy.MetaData, str]] = {
    private_names.SqliteRunStorage: ("run", "runs.db", private_names.RunStorageSqlMetadata, "the list of past runs"),
    private_names.SqliteEventLogStorage: (
        "event", "index.db", private_names.SqlEventLogStorageMetadata, "the history of materialisations and checks"),
    private_names.SqliteScheduleStorage: (
        "schedule", "schedules.db", private_names.ScheduleStorageSqlMetadata,
        "the ticks of schedules and sensors, and which of them are switched on"),
}  # fmt: skip
_STAMP = "alembic_version"
# Where a file is made; what is left there by a process that was killed goes before the next.
_ASIDE = ".new-"
# Characters of a database's message that are shown.
_MOST_SHOWN = 300
_BROKEN_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_BROKEN_WORDS = ("no such table", "no such column", "has no column named")


class StorageFile(Struct, frozen=True):
    """One of Dagster's SQLite files, and the class of Dagster that reads and writes it."""

    storage: Any
    path: Path

    def __str__(self) -> str:
        return f"Dagster's {_FILES[self.storage][0]} storage {self.path}"

    @property
    def metadata(self) -> sqlalchemy.MetaData:
        """The tables that belong in it."""
        return _FILES[self.storage][2]

    @property
    def migrations(self) -> Config:
        """How its tables change from version to version."""
        return private_names.get_alembic_config(inspect.getfile(self.storage))

    def make(self, folder: Path) -> Any:
        """Dagster's own storage in a folder, whose file is made where it is missing."""
        return self.storage.from_config_value(None, {"base_dir": str(folder)})

    @contextmanager
    def connected(self) -> Iterator[sqlalchemy.Connection]:
        engine = sqlalchemy.create_engine(f"sqlite:///{self.path.absolute()}", poolclass=NullPool)
        with engine.connect() as connection:
            yield connection


@contextmanager
def open_instance(layout: HomeLayout) -> Iterator[dg.DagsterInstance]:
    """The instance that the UI shows.

    Raises `CannotWrite` if its records have no room, and `BrokenStore` for broken ones. Its files are
    whole before it is opened: Dagster's webserver and daemon open them at one moment.
    """
    with writing_records(layout):
        reference = reference_of(layout)
        make_ready(reference, layout.dagster_home)
        with dg.DagsterInstance.from_ref(with_open_records(reference)) as instance:
            yield instance


def _unreachable(error: BaseException) -> str | None:
    """Why a server's database cannot be reached, without its password; None for any other error."""
    # A driver that is not installed is not imported to find out. SQLite has no server.
    names = ("OperationalError", "InterfaceError")
    found = (each for each in causes_of(error) if type(each).__module__.startswith("psycopg2"))
    return next((one_line(str(each))[:_MOST_SHOWN] for each in found if type(each).__name__ in names), None)


def reference_of(layout: HomeLayout) -> private_names.InstanceRef:
    """How the instance is opened, before any of its files is."""
    # The terminal belongs to the command: its output is not copied into Dagster's files.
    return private_names.InstanceRef.from_dir(str(ensure_dagster_home(layout)), overrides={OUTPUT: NO_LOGS})


@contextmanager
def writing_records(layout: HomeLayout) -> Iterator[None]:
    """Turn a refusal to write, and broken records, into errors that name the folder and say what to do."""
    folder = layout.dagster_home
    with explain_refused_writes(folder, called=f"Dagster's records in {folder}"):
        try:
            yield
        except CodesumError:
            raise
        except Exception as error:
            cause = next(filter(_is_breakage, causes_of(error)), None)
            if cause is None:
                if (database := _unreachable(error)) is not None:
                    raise RecordsUnavailable(
                        f"the database of Dagster's records ({POSTGRES_VARIABLE}) cannot be reached ({database}): try "
                        "again later; if it stays so, check its address, its password and the network"
                    ) from error
                raise
            raise BrokenStore(
                f"Dagster's records in {folder} are broken ({cause}): run `codesum doctor`, which mends them"
            ) from error


def make_ready(reference: private_names.InstanceRef, folder: Path) -> None:
    """Make the missing files of an instance, and migrate all to the installed version of Dagster.

    Raises `BrokenStore` for a file that is neither missing nor whole.
    """
    files, made_by = storage_files(reference), folder / MADE_BY

    def is_of_this_version() -> bool:
        try:
            return made_by.read_text(encoding="ascii") == dg.__version__
        except OSError:
            return False

    if is_of_this_version() and not any(fault_of(file) for file in files):
        return
    try:
        with explain_refused_writes(folder, called=f"Dagster's records in {folder}"), lock_exclusively(folder / LOCK):
            for file in filter(_is_empty, files):
                _create(file)
            for file in files:
                if fault := fault_of(file):
                    raise BrokenStore(f"{file} is broken ({fault}): run `codesum doctor`, which mends it")
            if not is_of_this_version():
                for file in files:
                    _migrate(file)
                write_text_atomically(made_by, dg.__version__)
    except (CannotWrite, PermissionError):
        # Who may only read a whole home reads it as it is.
        if any(_is_empty(file) for file in files):
            raise


def storage_files(reference: private_names.InstanceRef) -> list[StorageFile]:
    """The files of an instance that keeps its records in SQLite."""
    data = (reference.run_storage_data, reference.event_storage_data, reference.schedule_storage_data)
    return [
        StorageFile(storage, Path(yaml.safe_load(each.config_yaml)["base_dir"]) / name)
        for each in data
        for storage, (_, name, *_) in _FILES.items()
        if each and each.class_name == storage.__name__
    ]


def fault_of(file: StorageFile) -> str:
    """The fault of a file, judged by the names of its tables alone; empty if there is none."""
    if not file.path.exists():
        return "it is missing"
    try:
        tables, revisions = _read(file)
    except sqlite3.DatabaseError as error:
        return str(error) if _is_breakage(error) else ""
    if missing := sorted(set(file.metadata.tables) - tables):
        return f"without table {', '.join(missing)}"
    if len(revisions) != 1:
        return "without the revision of its tables" if not revisions else f"{len(revisions)} revisions of its tables"
    return ""


def _create(file: StorageFile) -> None:
    """Make a file aside and move it in place; the lock must be held."""
    file.path.parent.mkdir(parents=True, exist_ok=True)
    for left in file.path.parent.glob(f"{_ASIDE}*"):
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_ASIDE, dir=file.path.parent) as aside:
        file.make(Path(aside))
        made = Path(aside) / file.path.name
        with closing(sqlite3.connect(made)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        os.replace(made, file.path)


def _migrate(file: StorageFile) -> None:
    """Bring a whole file's tables to the Dagster at hand; the lock must be held."""
    with file.connected() as connection:
        revision, head = private_names.check_alembic_revision(file.migrations, connection)
        if revision != head:
            private_names.run_alembic_upgrade(
                file.migrations, connection, "index" if file.storage is private_names.SqliteEventLogStorage else None
            )
            connection.commit()


def _read(file: StorageFile) -> tuple[set[str], list[str]]:
    """The tables of a file, and the revisions that it is stamped with; nothing is written."""
    # Without a log of changes all is in the file itself, which is three times as fast to read and needs no right to
    # write beside it. One with such a log, in a folder that cannot be written to, is read without.
    ways = ["immutable=1", "mode=ro"]
    if file.path.with_name(f"{file.path.name}-wal").exists():
        ways.reverse()
    while True:
        try:
            with closing(sqlite3.connect(f"{file.path.absolute().as_uri()}?{ways.pop(0)}", uri=True)) as connection:
                tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                names = {name for (name,) in tables}
                rows = connection.execute(f"SELECT version_num FROM {_STAMP}") if _STAMP in names else ()
                return names, [row[0] for row in rows]
        except sqlite3.DatabaseError:
            if not ways:
                raise


def _is_empty(file: StorageFile) -> bool:
    """Whether nobody has made a table in a file yet."""
    try:
        return not file.path.exists() or not _read(file)[0]
    except sqlite3.DatabaseError:
        return False


def _is_breakage(error: BaseException) -> bool:
    if not isinstance(error, sqlite3.DatabaseError):
        return False
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in _BROKEN_CODES or any(words in str(error) for words in _BROKEN_WORDS)


def mend_record_files(reference: private_names.InstanceRef, folder: Path) -> list[str]:
    """Mend the broken files of an instance; returns a sentence for each: what was wrong, and what was done."""
    files = storage_files(reference)
    # The log of each run is a file of its own.
    logs = [
        StorageFile(file.storage, path)
        for file in files
        if file.storage is private_names.SqliteEventLogStorage
        for path in sorted(file.path.parent.glob("*.db"))
        if path != file.path
    ]
    if not any(_deep_fault(file) for file in [*files, *logs]):
        return []
    with lock_exclusively(folder / LOCK):
        mended = [_mended(file, fault) for file in files if (fault := _deep_fault(file))]
        for log in logs:
            if fault := _deep_fault(log):
                kept = f"it is kept as {_set_aside(log).name}; Dagster shows none of it"
                mended.append(f"the log of run {log.path.stem} was broken ({fault}): {kept}")
    return mended


def _mended(file: StorageFile, fault: str) -> str:
    if not file.path.exists():
        _create(file)
        return f"{file} was missing: it is made anew"
    kept = _set_aside(file)
    _create(file)
    lost = _FILES[file.storage][3]
    return f"{file} was broken ({fault}): it is kept as {kept.name}, and a new one made; {lost} is lost"


def _deep_fault(file: StorageFile) -> str:
    """The fault of a file, including its pages, columns and revision; empty if there is none."""
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
    with file.connected() as connection:
        found = sqlalchemy.inspect(connection)
        names = set(found.get_table_names())
        there = {table: {column["name"] for column in found.get_columns(table)} for table in names}
    for table in file.metadata.sorted_tables:
        if table.name in names and (missing := sorted(set(table.columns.keys()) - there[table.name])):
            return f"table {table.name} without {', '.join(missing)}"
    return ""


def _is_known(file: StorageFile) -> bool:
    """Whether the revision that a file is stamped with is one of this Dagster's."""
    try:
        with file.connected() as connection:
            revision, _ = private_names.check_alembic_revision(file.migrations, connection)
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
