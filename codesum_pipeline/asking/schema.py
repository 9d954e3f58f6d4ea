"""The tables of questions and answers, and how a file of an earlier version becomes one of this.

Bringing a file up to date twice changes nothing. It happens under a lock: two processes may start at once.
"""

import re
import sqlite3
from enum import StrEnum
from pathlib import Path

from codesum_pipeline.store.locks import exclusive


class PartKind(StrEnum):
    """What a part of a message is."""

    TEXT = "text"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    REASONING = "reasoning"
    STEP_START = "step_start"
    SYNTHESIS = "synthesis"


class Status(StrEnum):
    """How far a turn or message is; the last two are final."""

    STREAMING = "streaming"
    COMPLETE = "complete"
    FAILED = "failed"


class Role(StrEnum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


def _one_of(column: str, values: type[StrEnum]) -> str:
    return f"CHECK ({column} IN ({', '.join(repr(value.value) for value in values)}))"


_STATE = (
    f"status TEXT NOT NULL {_one_of('status', Status)}, reason TEXT, started_at TEXT NOT NULL, "
    "touched_at TEXT NOT NULL, ended_at TEXT, CHECK ((status = 'failed') = (reason IS NOT NULL))"
)
_TABLES = {
    "conversations": "id TEXT PRIMARY KEY, repositories TEXT NOT NULL, started_at TEXT NOT NULL",
    "turns": "id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL REFERENCES conversations (id), "
    f"question TEXT NOT NULL, model TEXT, answer TEXT, {_STATE}",
    "messages": "id TEXT PRIMARY KEY, turn_id TEXT NOT NULL REFERENCES turns (id), sequence INTEGER NOT NULL, "
    f"role TEXT NOT NULL {_one_of('role', Role)}, {_STATE}, UNIQUE (turn_id, sequence)",
    "parts": "message_id TEXT NOT NULL REFERENCES messages (id), sequence INTEGER NOT NULL, "
    f"kind TEXT NOT NULL {_one_of('kind', PartKind)}, content TEXT NOT NULL, PRIMARY KEY (message_id, sequence)",
    "whole_results": "message_id TEXT NOT NULL REFERENCES messages (id), call_id TEXT NOT NULL, text TEXT NOT NULL, "
    "PRIMARY KEY (message_id, call_id)",
}
_INDEXES = (
    "CREATE INDEX IF NOT EXISTS open_turns ON turns (touched_at) WHERE status = 'streaming'",
    "CREATE INDEX IF NOT EXISTS open_messages ON messages (touched_at) WHERE status = 'streaming'",
)


def open_file(path: Path, *, timeout_s: float) -> sqlite3.Connection:
    """Open the file, made or brought up to date. The connection is in no transaction."""
    with exclusive(path.with_name(f"{path.name}.lock")):
        connection = sqlite3.connect(path, timeout=timeout_s, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # A turn is on disk when it ends: what was answered was paid for.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            for table in _TABLES:
                _bring_up_to_date(connection, table)
            for statement in _INDEXES:
                connection.execute(statement)
            connection.execute("COMMIT")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
    return connection


def _bring_up_to_date(connection: sqlite3.Connection, table: str) -> None:
    """Create a table, or copy it into one with the columns and constraints of this version."""
    wanted = f"CREATE TABLE {table} ({_TABLES[table]})"
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
