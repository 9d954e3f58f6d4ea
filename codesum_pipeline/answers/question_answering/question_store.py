"""Questions and answers of all repositories, stored as they happen, in one file of the home.

Each turn and message ends as `complete` or `failed` with a reason: the process that began it closes it, or, where that
process is gone, the sweep of the next question. A live turn records this now and then (`touch`).

Errors of the store must not cost the answer: a question begins only where it can be stored. After that, an error of the
store is reported and the turn continues; the next sweep closes what the store has of the turn.
"""

import asyncio
import json
import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from uuid import uuid4

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import CannotWrite
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.store.sqlite_tables import SqliteFile, constrain_to, to_storable
from codesum_pipeline.texts.llm.ledger import open_ledger


class PartKind(StrEnum):
    """The kinds of parts of a message."""

    TEXT = "text"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    REASONING = "reasoning"
    STEP_START = "step_start"
    SYNTHESIS = "synthesis"


class Status(StrEnum):
    """The states of a turn or message; the last two are final."""

    STREAMING = "streaming"
    COMPLETE = "complete"
    FAILED = "failed"


class Speaker(StrEnum):
    """The roles of messages."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


_STATE = (
    f"status TEXT NOT NULL {constrain_to('status', Status)}, reason TEXT, started_at TEXT NOT NULL, "
    "touched_at TEXT NOT NULL, ended_at TEXT, CHECK ((status = 'failed') = (reason IS NOT NULL))"
)
# It also has the ledger of the calls.
STORE_FILE = "ask.sqlite"
# A live turn is touched much more often.
ABANDONED_AFTER = timedelta(minutes=5)
ABANDONED = "abandoned"
_log = logging.getLogger(__name__)


class MessagePart(Struct, frozen=True):
    """A piece of a message; `content` is a JSON value."""

    kind: PartKind
    content: Any


class Exchange(Struct, frozen=True):
    """A question and the model's answer to it."""

    question: str
    answer: str

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages of a conversation."""
        return [{"role": "user", "content": self.question}, {"role": "assistant", "content": self.answer}]

    def __len__(self) -> int:
        return len(self.question) + len(self.answer)


class AskStore(SqliteFile):
    """The open file."""

    tables: ClassVar = {
        "conversations": "id TEXT PRIMARY KEY, repositories TEXT NOT NULL, started_at TEXT NOT NULL, "
        # The name of the asker's token.
        "asker TEXT NOT NULL DEFAULT ''",
        "turns": "id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL REFERENCES conversations (id), "
        f"question TEXT NOT NULL, model TEXT, answer TEXT, {_STATE}",
        "messages": "id TEXT PRIMARY KEY, turn_id TEXT NOT NULL REFERENCES turns (id), sequence INTEGER NOT NULL, "
        f"role TEXT NOT NULL {constrain_to('role', Speaker)}, {_STATE}, UNIQUE (turn_id, sequence)",
        "parts": "message_id TEXT NOT NULL REFERENCES messages (id), sequence INTEGER NOT NULL, "
        f"kind TEXT NOT NULL {constrain_to('kind', PartKind)}, content TEXT NOT NULL, "
        "PRIMARY KEY (message_id, sequence)",
    }
    indexes = (
        "CREATE INDEX IF NOT EXISTS open_turns ON turns (touched_at) WHERE status = 'streaming'",
        "CREATE INDEX IF NOT EXISTS open_messages ON messages (touched_at) WHERE status = 'streaming'",
        # Earlier versions kept whole results, which only their own turn needs.
        "DROP TABLE IF EXISTS whole_results",
    )

    def sweep(self) -> list[str]:
        """Close turns and messages that were not touched for five minutes; return these turns."""
        moment, before = self.moment(), iso_moment(self.now() - ABANDONED_AFTER)
        with self.together():
            is_left = "status = 'streaming' AND touched_at < ?"
            closed = [turn for (turn,) in self.connection.execute(f"SELECT id FROM turns WHERE {is_left}", (before,))]
            for table in ("turns", "messages"):
                self.connection.execute(
                    f"UPDATE {table} SET status = 'failed', reason = ?, ended_at = ?, touched_at = ? WHERE {is_left}",
                    (ABANDONED, moment, moment, before),
                )
        if closed:
            _log.warning("closed %d turns that a process had left open", len(closed))
        return closed

    def latest_conversation(self, repositories: Sequence[str], *, asker: str = "") -> str | None:
        """The asker's conversation about these repositories with the latest question."""
        found = self.connection.execute(
            "SELECT c.id FROM conversations c JOIN turns t ON t.conversation_id = c.id WHERE c.repositories = ? "
            "AND c.asker = ? ORDER BY t.started_at DESC, t.rowid DESC LIMIT 1",
            (json.dumps(list(repositories)), asker),
        ).fetchone()
        return str(found[0]) if found else None

    def repositories_of(self, conversation: str, *, asker: str = "") -> list[str] | None:
        """The repositories of a conversation; None if this asker has none with this id."""
        found = self.connection.execute(
            "SELECT repositories FROM conversations WHERE id = ? AND asker = ?", (conversation, asker)
        ).fetchone()
        return list(json.loads(found[0])) if found else None

    def exchanges(self, conversation: str) -> list[Exchange]:
        """The exchanges of a conversation, in their order, without turns that failed."""
        complete = "conversation_id = ? AND status = 'complete' AND answer IS NOT NULL"
        return self.select(Exchange, f"FROM turns WHERE {complete} ORDER BY started_at, rowid", (conversation,))

    def begin_conversation(self, repositories: Sequence[str], *, asker: str = "") -> str:
        """Begin a conversation; returns its id."""
        conversation = uuid4().hex
        with self.together():
            self.connection.execute(
                "INSERT INTO conversations (id, repositories, started_at, asker) VALUES (?, ?, ?, ?)",
                (conversation, json.dumps(list(repositories)), self.moment(), asker),
            )
        return conversation

    def begin_turn(self, conversation: str, question: str, *, model: str | None) -> str:
        """Begin a turn of a conversation; returns its id."""
        turn, moment = uuid4().hex, self.moment()
        with self.together():
            self.connection.execute(
                "INSERT INTO turns (id, conversation_id, question, model, status, started_at, touched_at) "
                "VALUES (?, ?, ?, ?, 'streaming', ?, ?)",
                (turn, conversation, to_storable(question), model, moment, moment),
            )
            self.add_message(turn, Speaker.USER, [MessagePart(PartKind.TEXT, question)])
        return turn

    def begin_message(self, turn: str, role: Speaker, parts: Sequence[MessagePart] = ()) -> str:
        """Begin a message; returns its id."""
        id_, moment = uuid4().hex, self.moment()
        with self.together():
            self.connection.execute(
                "INSERT INTO messages (id, turn_id, sequence, role, status, started_at, touched_at) VALUES "
                "(?, ?, (SELECT count(*) + 1 FROM messages WHERE turn_id = ?), ?, 'streaming', ?, ?)",
                (id_, turn, turn, role, moment, moment),
            )
            self.add_parts(id_, parts)
        return id_

    def add_message(self, turn: str, role: Speaker, parts: Sequence[MessagePart]) -> str:
        """Add a complete message; returns its id."""
        with self.together():
            id_ = self.begin_message(turn, role, parts)
            self.end_message(id_)
        return id_

    def add_parts(self, message: str, parts: Sequence[MessagePart]) -> None:
        """Add to a message, in this order."""
        with self.together():
            for part in parts:
                self.connection.execute(
                    "INSERT INTO parts (message_id, sequence, kind, content) VALUES "
                    "(?, (SELECT count(*) + 1 FROM parts WHERE message_id = ?), ?, ?)",
                    (message, message, part.kind, to_storable(json.dumps(part.content, ensure_ascii=False))),
                )

    def end_message(self, message: str, *, failed: str | None = None) -> None:
        """Close a message as complete, or as failed with a reason."""
        self._end("messages", message, failed)

    def end_turn(self, turn: str, *, answer: str | None, failed: str | None = None) -> None:
        """Close a turn and its open messages."""
        with self.together():
            left = self.connection.execute(
                "SELECT id FROM messages WHERE turn_id = ? AND status = 'streaming'", (turn,)
            ).fetchall()
            for (message,) in left:
                self.end_message(message, failed=failed or "unfinished")
            if self._end("turns", turn, failed):
                self.connection.execute("UPDATE turns SET answer = ? WHERE id = ?", (to_storable(answer), turn))

    def touch(self, turn: str) -> None:
        """Record that a turn is alive."""
        with self.together():
            for table, column in (("turns", "id"), ("messages", "turn_id")):
                self.connection.execute(
                    f"UPDATE {table} SET touched_at = ? WHERE {column} = ? AND status = 'streaming'",
                    (self.moment(), turn),
                )

    def _end(self, table: str, id_: str, failed: str | None) -> bool:
        """Set a final state. Only a sweep's is replaced, which may have taken a sleeping process for a dead one."""
        moment = self.moment()
        with self.together():
            changed = self.connection.execute(
                f"UPDATE {table} SET status = ?, reason = ?, ended_at = ?, touched_at = ? "
                "WHERE id = ? AND (status = 'streaming' OR reason = ?)",
                (Status.FAILED if failed else Status.COMPLETE, failed, moment, moment, id_, ABANDONED),
            ).rowcount
        return bool(changed)


@contextmanager
def open_store(home: Path, *, now: Callable[[], datetime]) -> Iterator[AskStore]:
    """The store of a home; abandoned turns, messages and calls are closed first."""
    with AskStore.opened(home / STORE_FILE, now=now) as store:
        for turn in store.sweep():
            with open_ledger(store.path, run_id=turn, now=now) as ledger:
                ledger.recover(run_id=turn)
        yield store


STORE_FAILED = "store"
CANCELLED = "cancelled"
Result = TypeVar("Result")


class Notebook:
    """The notes of one turn; `problems` are errors of the store."""

    def __init__(self, store: AskStore, turn: str) -> None:
        self._store = store
        self.turn = turn
        self.problems: list[str] = []

    def begin(self, role: Speaker, *parts: MessagePart) -> str:
        """Begin a message; its id is empty if it could not be stored."""
        return self._try(lambda: self._store.begin_message(self.turn, role, parts)) or ""

    def add(self, message: str, *parts: MessagePart) -> None:
        """Add to a message."""
        if message:
            self._try(lambda: self._store.add_parts(message, parts))

    def end(self, message: str, *, failed: str | None = None) -> None:
        """Close a message."""
        if message:
            self._try(lambda: self._store.end_message(message, failed=failed))

    def touch(self) -> None:
        """Record that the turn is alive."""
        self._try(lambda: self._store.touch(self.turn))

    def end_turn(self, answer: str | None, *, failed: str | None = None) -> str | None:
        """Close the turn, and return the reason if it failed; an answer that cannot be stored is such a reason."""
        before = len(self.problems)
        self._try(lambda: self._store.end_turn(self.turn, answer=answer, failed=failed))
        if len(self.problems) == before:
            return failed
        reason = failed or STORE_FAILED
        self._try(lambda: self._store.end_turn(self.turn, answer=None, failed=reason))
        return reason

    def _try(self, write: Callable[[], Result]) -> Result | None:
        try:
            return write()
        except (sqlite3.Error, CannotWrite, UnicodeError) as error:
            problem = f"the turn could not be written down: {error}"
            _log.warning("turn %s: %s", self.turn, problem)
            # A repeated problem is added as an empty text, so that a caller sees that the store failed again.
            self.problems.append("" if problem in self.problems else problem)
            return None


@contextmanager
def closing_turn(notebook: Notebook) -> Iterator[None]:
    """Give the turn a final state after the block, unless it has one."""
    reason = "error"
    try:
        yield
    except asyncio.CancelledError:
        reason = CANCELLED
        raise
    finally:
        notebook.end_turn(None, failed=reason)
