"""Files of SQLite: rows are Structs, and a file of an earlier version is brought up to date.

Bringing a file up to date twice changes nothing. It happens under a lock: two processes may start at once.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import datetime
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, Self, TypeVar, Union, get_args, get_origin

from msgspec import Struct, to_builtins
from msgspec.structs import astuple, fields

from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.errors import BrokenStore, CannotWrite
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.store.atomic import explain_refused_writes
from codesum_pipeline.foundation.store.locks import lock_exclusively

BUSY_TIMEOUT_S = 30.0
Row = TypeVar("Row", bound=Struct)
_SCALARS = {str: "TEXT", bool: "INTEGER", int: "INTEGER", float: "REAL"}


class SqliteFile:
    """An open file with the tables of its class. Methods raise `CannotWrite` if the system refuses, else
    `sqlite3.Error`."""

    # Columns and constraints by the table's name.
    tables: ClassVar[Mapping[str, str]]
    indexes: ClassVar[Sequence[str]] = ()

    def __init__(self, connection: sqlite3.Connection, path: Path, now: Callable[[], datetime]) -> None:
        self.connection = connection
        self.path = path
        self.now = now

    @classmethod
    @contextmanager
    def opened(cls, path: Path, *, now: Callable[[], datetime]) -> Iterator[Self]:
        """The file, made where there is none.

        Raises `CannotWrite` for one that may not be written, `BrokenStore` for one that is damaged or of another
        program, which is left as it is.
        """
        way_out = "move it away to begin a new one"
        try:
            with explain_refused_writes(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                connection = _open_tables(path, cls.tables, cls.indexes)
            with closing(connection):
                yield cls(connection, path, now)
        except PermissionError as error:
            way_out = "give this user the right to write it"
            raise CannotWrite(f"{path} cannot be written: {error.strerror}; {way_out}") from error
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN:
                raise
            raise BrokenStore(f"{path} cannot be opened ({error}): {way_out}") from error
        except sqlite3.DatabaseError as error:
            raise BrokenStore(f"{path} is damaged ({error}): {way_out}") from error

    def together(self) -> AbstractContextManager[None]:
        """One transaction for all that is written in the block."""
        return one_transaction(self.connection, self.path)

    def moment(self) -> str:
        """Now, as it is written down."""
        return iso_moment(self.now())

    def select(self, row: type[Row], rest: str, values: Sequence[object] = ()) -> list[Row]:
        """Rows as Structs; `rest` is the query behind the names of the columns, as `FROM ticks WHERE id = ?`."""
        names = ", ".join(each.name for each in _columns_of(row))
        return [read_row(row, each) for each in self.connection.execute(f"SELECT {names} {rest}", values)]

    def insert(self, table: str, *rows: Struct, or_else: str = "") -> None:
        """Add rows; `or_else` says what becomes of one that there is: `OR REPLACE`, `OR IGNORE`."""
        with self.together():
            for row in rows:
                names = [each.name for each in _columns_of(type(row))]
                self.connection.execute(
                    f"INSERT {or_else} INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
                    row_values(row),
                )


def column_definitions(row: type[Struct], **rules: str) -> str:
    """The columns of a table with such rows. `rules` are those of columns that have another than (`NOT NULL`)."""
    return ", ".join(
        f"{each.name} {each.type} {rules.get(each.name, each.rule)} {each.check}".strip() for each in _columns_of(row)
    )


def row_values(row: Struct) -> list[Any]:
    """What the columns of a row hold: what is no number or text is written as JSON."""
    return [to_storable(value) for value in astuple(row)]


def read_row(row: type[Row], values: Sequence[Any]) -> Row:
    """The Struct that `row_values` was given."""
    found = {
        column.name: json.loads(value) if column.is_json and value is not None else value
        for column, value in zip(_columns_of(row), values, strict=True)
    }
    return convert(found, row, strict=False)


def to_storable(value: Any) -> Any:
    """A value as a column holds it. A lone surrogate, of a path or an error, is no UTF-8: in a text it becomes an
    escape."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value if value is None or isinstance(value, int | float) else to_json(value)


def to_json(value: object) -> str:
    """A value such that `read_json` gives it back, a path that is no UTF-8 too."""
    return json.dumps(to_builtins(value), separators=(",", ":"))


def read_json(text: str, kind: type[Row]) -> Row:
    """The Struct that `to_json` was given."""
    return convert(json.loads(text), kind)


class _Column(Struct, frozen=True):
    name: str
    type: str
    rule: str
    check: str
    is_json: bool


@cache
def _columns_of(row: type[Struct]) -> tuple[_Column, ...]:
    found = []
    for field in fields(row):
        kinds = get_args(field.type) if get_origin(field.type) in (Union, UnionType) else (field.type,)
        kind = next(getattr(each, "__supertype__", each) for each in kinds if each is not NoneType)
        is_enum = isinstance(kind, type) and issubclass(kind, StrEnum)
        check = constrain_to(field.name, kind) if is_enum else ""
        type_ = "TEXT" if is_enum else _SCALARS.get(kind, "TEXT")
        rule = "" if NoneType in kinds else "NOT NULL"
        found.append(_Column(field.name, type_, rule, check, not is_enum and kind not in _SCALARS))
    return tuple(found)


def constrain_to(column: str, values: type[StrEnum]) -> str:
    """The constraint of a column that holds one of a closed set."""
    return f"CHECK ({column} IN ({', '.join(repr(value.value) for value in values)}))"


@contextmanager
def open_for_reading(path: Path, table: str) -> Iterator[sqlite3.Connection | None]:
    """A connection that writes nothing; None if there is no such file, or no such table in it.

    Raises `BrokenStore` for a file that cannot be read.
    """
    if not path.exists():
        yield None
        return
    address = path.absolute().as_uri()
    try:
        # What SQLite shares between processes cannot be written everywhere; there nobody changes the file either.
        for how in ("mode=ro", "immutable=1"):
            with closing(sqlite3.connect(f"{address}?{how}", timeout=BUSY_TIMEOUT_S, uri=True)) as connection:
                try:
                    is_there = has_table(connection, table)
                except sqlite3.OperationalError:
                    if how == "immutable=1":
                        raise
                else:
                    yield connection if is_there else None
                    return
    except sqlite3.Error as error:
        raise BrokenStore(f"{path} cannot be read ({error}): move it away to begin a new one") from error


def has_table(connection: sqlite3.Connection, table: str) -> bool:
    """Whether a file has such a table."""
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))
    return found.fetchone() is not None


def _open_tables(path: Path, tables: Mapping[str, str], indexes: Sequence[str]) -> sqlite3.Connection:
    """A connection in no transaction; what it commits is on disk."""
    with lock_exclusively(path.with_name(f"{path.name}.lock")):
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        try:
            # What was answered was paid for, and what was sent must not be sent again.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            # SQLite's own tables, and those of a ledger, may have been there first.
            there = {name for (name,) in found if not name.startswith(("sqlite_", "llm_"))}
            is_ours = not there or not there.isdisjoint(tables)
            if not is_ours or not all(_bring_up_to_date(connection, *table) for table in tables.items()):
                raise BrokenStore(f"{path} is a database of another program: move it away to begin a new one")
            for statement in indexes:
                connection.execute(statement)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
    return connection


def _bring_up_to_date(connection: sqlite3.Connection, table: str, content: str) -> bool:
    """Create a table, or copy it into one with the columns and constraints of this version; False if it has none of
    these columns."""
    wanted = f"CREATE TABLE {table} ({content})"
    found = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone()
    if found is None:
        connection.execute(wanted)
    # SQLite writes quotation marks when a table is renamed.
    elif re.sub(r"[\s\"]+", "", found[0]) != re.sub(r"[\s\"]+", "", wanted):
        # SQLite changes no constraint of a table that is there.
        connection.execute(wanted.replace(f"TABLE {table} ", f"TABLE {table}_new ", 1))
        old, new = (
            {name for _, name, *_ in connection.execute(f"PRAGMA table_info({each})")}
            for each in (table, f"{table}_new")
        )
        if old.isdisjoint(new):
            return False
        names = ", ".join(sorted(old & new))
        connection.execute(f"INSERT INTO {table}_new ({names}) SELECT {names} FROM {table}")
        connection.execute(f"DROP TABLE {table}")
        connection.execute(f"ALTER TABLE {table}_new RENAME TO {table}")
    return True


@contextmanager
def one_transaction(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Within another such block, that one's transaction. Raises `CannotWrite` if the system refuses."""
    if connection.in_transaction:
        yield
        return
    with explain_refused_writes(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        finally:
            # After some refusals to write, SQLite has already rolled back by itself.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
