"""Dagster's own records, as SQLite files: made whole or not at all, migrated by one process alone, and mended.

Dagster makes a file when it first opens it, table by table. Two processes that
do so at one moment fail, or leave a file that no later one can use. Here a file
is made aside and moved in place, behind one lock; where a `dagster.yaml` names
other storage, its server looks after that.
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import yaml
from msgspec import Struct

from codesum_pipeline.defs import storage
from codesum_pipeline.defs.instance_file import LOCK, ensure_dagster_home
from codesum_pipeline.defs.sqlite_records import with_open_records
from codesum_pipeline.model.errors import BrokenStore, CannotWrite, CodesumError
from codesum_pipeline.store.atomic import write_text_atomically
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.locks import exclusive
from codesum_pipeline.store.refusals import writing

if TYPE_CHECKING:
    import sqlalchemy
    from alembic.config import Config

    # Private: the type of what `reference_of` makes.
    from dagster._core.instance.ref import InstanceRef

# The version of Dagster by which the files were last made or migrated.
MADE_BY = ".storage-version"
RUNS, EVENTS, SCHEDULES = "run", "event", "schedule"
_CLASSES = {"SqliteRunStorage": RUNS, "SqliteEventLogStorage": EVENTS, "SqliteScheduleStorage": SCHEDULES}
_FILES = {RUNS: "runs.db", EVENTS: "index.db", SCHEDULES: "schedules.db"}
_STAMP = "alembic_version"
# Where a file is made; what is left there by a process that was killed goes before the next.
_ASIDE = ".new-"
_BROKEN_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_BROKEN_WORDS = ("no such table", "no such column", "has no column named")


class StorageFile(Struct, frozen=True):
    """One of Dagster's SQLite files, and what kind of records it holds."""

    kind: str
    path: Path

    def __str__(self) -> str:
        return f"Dagster's {self.kind} storage {self.path}"

    def _dagsters(self) -> tuple["sqlalchemy.MetaData", Any, Callable[[str], Any]]:
        """Dagster's tables for this kind, its module with their migrations, and what opens its storage in a folder."""
        # Private: Dagster says nowhere else what belongs in one of its files, and how to make one alone.
        from dagster._core.storage.event_log.schema import SqlEventLogStorageMetadata
        from dagster._core.storage.event_log.sqlite import sqlite_event_log
        from dagster._core.storage.runs.schema import RunStorageSqlMetadata
        from dagster._core.storage.runs.sqlite import sqlite_run_storage
        from dagster._core.storage.schedules.schema import ScheduleStorageSqlMetadata
        from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage

        open_runs = sqlite_run_storage.SqliteRunStorage.from_local
        open_schedules = sqlite_schedule_storage.SqliteScheduleStorage.from_local
        return {
            RUNS: (RunStorageSqlMetadata, sqlite_run_storage, open_runs),
            EVENTS: (SqlEventLogStorageMetadata, sqlite_event_log, sqlite_event_log.SqliteEventLogStorage),
            SCHEDULES: (ScheduleStorageSqlMetadata, sqlite_schedule_storage, open_schedules),
        }[self.kind]

    @property
    def metadata(self) -> "sqlalchemy.MetaData":
        """The tables that belong in it."""
        return self._dagsters()[0]

    @property
    def migrations(self) -> "Config":
        """How its tables change from version to version."""
        # Private: where Dagster's scripts of migrations are.
        from dagster._core.storage.sql import get_alembic_config

        return get_alembic_config(self._dagsters()[1].__file__)

    def make(self, folder: Path) -> Any:
        """Dagster's own storage in a folder, whose file is made where it is missing."""
        return self._dagsters()[2](str(folder))


def make_ready(reference: "InstanceRef", folder: Path) -> None:
    """Make what is missing of an instance's files, and migrate them to the Dagster at hand.

    Raises `BrokenStore` for a file that is neither missing nor whole.
    """
    files = storage_files(reference)
    if _is_made_by_this(folder) and not any(fault_of(file) for file in files):
        return
    try:
        with writing(folder, called=f"Dagster's records in {folder}"), exclusive(folder / LOCK):
            for file in files:
                if _is_empty(file):
                    create(file)
            _check(files)
            if not _is_made_by_this(folder):
                for file in files:
                    migrate(file)
                write_text_atomically(folder / MADE_BY, _version())
    except (CannotWrite, PermissionError):
        # Who may only read a whole home reads it as it is.
        if any(_is_empty(file) for file in files):
            raise


def _check(files: Sequence[StorageFile]) -> None:
    for file in files:
        if fault := fault_of(file):
            raise BrokenStore(f"{file} is broken ({fault}): run `codesum doctor`, which mends it")


@contextmanager
def naming_breakage(folder: Path) -> Iterator[None]:
    """Turn SQLite's word that a file is broken into `BrokenStore`, which names the way out."""
    try:
        yield
    except CodesumError:
        raise
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and not _is_breakage(cause):
            cause = cause.__cause__ or cause.__context__
        if cause is None:
            raise
        raise BrokenStore(
            f"Dagster's records in {folder} are broken ({cause}): run `codesum doctor`, which mends them"
        ) from error


def storage_files(reference: "InstanceRef") -> list[StorageFile]:
    """The files of an instance that keeps its records in SQLite."""
    found = []
    for data in (reference.run_storage_data, reference.event_storage_data, reference.schedule_storage_data):
        kind = _CLASSES.get(data.class_name) if data else None
        if data and kind:
            base = Path(yaml.safe_load(data.config_yaml)["base_dir"])
            found.append(StorageFile(kind, base / _FILES[kind]))
    return found


def fault_of(file: StorageFile) -> str:
    """What is wrong with a file, as far as a look at its tables tells; empty where it is whole."""
    if not file.path.exists():
        return "it is missing"
    try:
        tables, revisions = _read(file, "SELECT name FROM sqlite_master WHERE type = 'table'")
    except sqlite3.DatabaseError as error:
        return "" if not _is_breakage(error) else str(error)
    if missing := sorted(set(file.metadata.tables) - tables):
        return f"without table {', '.join(missing)}"
    if len(revisions) != 1:
        return "without the revision of its tables" if not revisions else f"{len(revisions)} revisions of its tables"
    return ""


def create(file: StorageFile) -> None:
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


def migrate(file: StorageFile) -> None:
    """Bring a whole file's tables to the Dagster at hand; the lock must be held."""
    # Private: `dagster instance migrate` migrates all files at once, and locks none.
    from dagster._core.storage.sql import check_alembic_revision, run_alembic_upgrade

    with connected(file) as connection:
        revision, head = check_alembic_revision(file.migrations, connection)
        if revision != head:
            run_alembic_upgrade(file.migrations, connection, "index" if file.kind == EVENTS else None)
            connection.commit()


@contextmanager
def connected(file: StorageFile) -> Iterator["sqlalchemy.Connection"]:
    """A connection as Dagster's own are."""
    # Private: it converts the errors of SQLite as Dagster's storage does.
    from dagster._core.storage.sql import create_engine
    from sqlalchemy.pool import NullPool

    with create_engine(f"sqlite:///{file.path.absolute()}", poolclass=NullPool).connect() as connection:
        yield connection


def _read(file: StorageFile, statement: str) -> tuple[set[str], list[str]]:
    """The names that a statement gives, and the revisions that a file is stamped with; nothing is written."""
    # Without a log of changes all is in the file itself, which is three times as fast to read and needs no right to
    # write beside it. One with such a log, in a folder that cannot be written to, is read without.
    has_log = file.path.with_name(f"{file.path.name}-wal").exists()
    ways = ("mode=ro", "immutable=1") if has_log else ("immutable=1", "mode=ro")
    for way in ways:
        try:
            with closing(sqlite3.connect(f"{file.path.absolute().as_uri()}?{way}", uri=True)) as connection:
                names = {row[0] for row in connection.execute(statement)}
                rows = connection.execute(f"SELECT version_num FROM {_STAMP}") if _STAMP in names else ()
                return names, [row[0] for row in rows]
        except sqlite3.DatabaseError:
            if way == ways[-1]:
                raise
    raise AssertionError("never reached")


def _is_empty(file: StorageFile) -> bool:
    """Whether nobody has made a table in a file yet."""
    if not file.path.exists():
        return True
    try:
        return not _read(file, "SELECT name FROM sqlite_master")[0]
    except sqlite3.DatabaseError:
        return False


def _is_breakage(error: BaseException) -> bool:
    if not isinstance(error, sqlite3.DatabaseError):
        return False
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in _BROKEN_CODES or any(words in str(error) for words in _BROKEN_WORDS)


def _is_made_by_this(folder: Path) -> bool:
    try:
        return (folder / MADE_BY).read_text(encoding="ascii") == _version()
    except OSError:
        return False


def _version() -> str:
    import dagster

    return dagster.__version__


# The terminal belongs to the command: its output is not copied into Dagster's files.
_OUTPUT_STAYS = {
    "compute_logs": {
        "module": "dagster._core.storage.noop_compute_log_manager",
        "class": "NoOpComputeLogManager",
        "config": {},
    }
}


@contextmanager
def open_instance(layout: HomeLayout) -> Iterator[dg.DagsterInstance]:
    """The instance that the UI shows.

    Raises `CannotWrite` where its records have no room, and `BrokenStore` for broken ones. Its files are
    whole before it is opened: Dagster's webserver and daemon open them at one moment.
    """
    with writing_records(layout):
        reference = reference_of(layout)
        storage.make_ready(reference, layout.dagster_home)
        with dg.DagsterInstance.from_ref(with_open_records(reference)) as instance:
            yield instance


def reference_of(layout: HomeLayout) -> "InstanceRef":
    """How the instance is opened, before any of its files is."""
    # Private: the public `DagsterInstance.from_ref` takes one, and nothing else makes it with other output.
    from dagster._core.instance.ref import InstanceRef

    return InstanceRef.from_dir(str(ensure_dagster_home(layout)), overrides=_OUTPUT_STAYS)


@contextmanager
def writing_records(layout: HomeLayout) -> Iterator[None]:
    """Name the folder where the system refuses to write there, and the way out where what is there is broken."""
    folder = layout.dagster_home
    with writing(folder, called=f"Dagster's records in {folder}"), storage.naming_breakage(folder):
        yield
