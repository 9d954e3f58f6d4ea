"""The tables of questions and answers."""

import sqlite3
from enum import StrEnum
from pathlib import Path

from codesum_pipeline.store.sqlite_tables import one_of, open_tables


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


class Speaker(StrEnum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


_STATE = (
    f"status TEXT NOT NULL {one_of('status', Status)}, reason TEXT, started_at TEXT NOT NULL, "
    "touched_at TEXT NOT NULL, ended_at TEXT, CHECK ((status = 'failed') = (reason IS NOT NULL))"
)
_TABLES = {
    "conversations": "id TEXT PRIMARY KEY, repositories TEXT NOT NULL, started_at TEXT NOT NULL, "
    # The name of the token that it was asked with.
    "asker TEXT NOT NULL DEFAULT ''",
    "turns": "id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL REFERENCES conversations (id), "
    f"question TEXT NOT NULL, model TEXT, answer TEXT, {_STATE}",
    "messages": "id TEXT PRIMARY KEY, turn_id TEXT NOT NULL REFERENCES turns (id), sequence INTEGER NOT NULL, "
    f"role TEXT NOT NULL {one_of('role', Speaker)}, {_STATE}, UNIQUE (turn_id, sequence)",
    "parts": "message_id TEXT NOT NULL REFERENCES messages (id), sequence INTEGER NOT NULL, "
    f"kind TEXT NOT NULL {one_of('kind', PartKind)}, content TEXT NOT NULL, PRIMARY KEY (message_id, sequence)",
    "whole_results": "message_id TEXT NOT NULL REFERENCES messages (id), call_id TEXT NOT NULL, text TEXT NOT NULL, "
    "PRIMARY KEY (message_id, call_id)",
}
_INDEXES = (
    "CREATE INDEX IF NOT EXISTS open_turns ON turns (touched_at) WHERE status = 'streaming'",
    "CREATE INDEX IF NOT EXISTS open_messages ON messages (touched_at) WHERE status = 'streaming'",
)


def open_file(path: Path, *, timeout_s: float) -> sqlite3.Connection:
    """Open the file, made or brought up to date. The connection is in no transaction."""
    return open_tables(path, _TABLES, _INDEXES, timeout_s=timeout_s)
