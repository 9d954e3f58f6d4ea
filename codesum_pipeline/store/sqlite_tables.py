"""Files of SQLite with the tables of this version, and how a file of an earlier version becomes one.

Bringing a file up to date twice changes nothing. It happens under a lock: two processes may start at once.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from codesum_pipeline.store.locks import exclusive
from codesum_pipeline.store.refusals import writing


def one_of(column: str, values: type[StrEnum]) -> str:
    """The constraint of a column that holds one of a closed set."""
    return f"CHECK ({column} IN ({', '.join(repr(value.value) for value in values)}))"


def open_tables(
    path: Path, tables: Mapping[str, str], indexes: Sequence[str], *, timeout_s: float
) -> sqlite3.Connection:
    """Open a file with these tables (columns and constraints by name), made or brought up to date.

    The connection is in no transaction, and what it commits is on disk.
    """
    with exclusive(path.with_name(f"{path.name}.lock")):
        connection = sqlite3.connect(path, timeout=timeout_s, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # What was answered was paid for, and what was sent must not be sent again.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            for table, content in tables.items():
                _bring_up_to_date(connection, table, content)
            for statement in indexes:
                connection.execute(statement)
            connection.execute("COMMIT")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
    return connection


def _bring_up_to_date(connection: sqlite3.Connection, table: str, content: str) -> None:
    """Create a table, or copy it into one with the columns and constraints of this version."""
    wanted = f"CREATE TABLE {table} ({content})"
    found = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone()
    if found is None:
        connection.execute(wanted)
    elif _told_alike(found[0]) != _told_alike(wanted):
        # SQLite changes no constraint of a table that is there.
        connection.execute(wanted.replace(f"TABLE {table} ", f"TABLE {table}_new ", 1))
        columns = ", ".join(sorted(_columns(connection, table) & _columns(connection, f"{table}_new")))
        connection.execute(f"INSERT INTO {table}_new ({columns}) SELECT {columns} FROM {table}")
        connection.execute(f"DROP TABLE {table}")
        connection.execute(f"ALTER TABLE {table}_new RENAME TO {table}")


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")}


def _told_alike(statement: str) -> str:
    """A statement without what SQLite changes when a table is renamed."""
    return re.sub(r"[\s\"]+", "", statement)


@contextmanager
def one_transaction(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Within another such block, that one's transaction. Raises `CannotWrite` where the system refuses."""
    if connection.in_transaction:
        yield
        return
    with writing(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        finally:
            # Of some refusals to write SQLite has rolled back by itself.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
