"""Questions and answers of all repositories, written down as they happen, in one file of the home.

Whatever is begun ends as `complete` or `failed` with a reason: by who began it, else, where that process is gone, by
the sweeper of the next question. A turn that lives says so now and then (`touch`).
"""

import json
import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, overload
from uuid import uuid4

from codesum_pipeline.asking.earlier import Exchange
from codesum_pipeline.asking.schema import PartKind, Speaker, Status, open_file
from codesum_pipeline.llm.ledger import open_ledger
from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.model.moments import iso_moment
from codesum_pipeline.store.refusals import writing
from codesum_pipeline.store.sqlite_tables import one_transaction

# Besides what is asked and answered it holds the ledger of its calls.
STORE_FILE = "ask.sqlite"
BUSY_TIMEOUT_S = 30.0
# A turn that lives is touched several times as often.
ABANDONED_AFTER = timedelta(minutes=5)
ABANDONED = "abandoned"
# Whole results are there for the turn that asked; what the model saw of them stays.
WHOLE_RESULTS_KEPT = timedelta(days=30)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A piece of a message; `content` is what JSON can hold."""

    kind: PartKind
    content: Any


class AskStore:
    """The open file. Methods raise `CannotWrite` where the system refuses, else `sqlite3.Error`."""

    def __init__(self, connection: sqlite3.Connection, path: Path, now: Callable[[], datetime]) -> None:
        self._connection = connection
        self.path = path
        self._now = now

    def sweep(self) -> list[str]:
        """Close what ended without a word more than five minutes ago; the turns that were."""
        moment, before = self._moment(), iso_moment(self._now() - ABANDONED_AFTER)
        with self.together():
            closed = [
                turn
                for (turn,) in self._connection.execute(
                    "SELECT id FROM turns WHERE status = 'streaming' AND touched_at < ?", (before,)
                )
            ]
            for table in ("turns", "messages"):
                self._connection.execute(
                    f"UPDATE {table} SET status = 'failed', reason = ?, ended_at = ?, touched_at = ? "
                    "WHERE status = 'streaming' AND touched_at < ?",
                    (ABANDONED, moment, moment, before),
                )
            self._connection.execute(
                "DELETE FROM whole_results WHERE message_id IN (SELECT id FROM messages WHERE started_at < ?)",
                (iso_moment(self._now() - WHOLE_RESULTS_KEPT),),
            )
        if closed:
            _log.warning("closed %d turns that a process had left open", len(closed))
        return closed

    def latest_conversation(self, repositories: Sequence[str], *, asker: str = "") -> str | None:
        """Of an asker's about these repositories the one in which something was asked last."""
        found = self._connection.execute(
            "SELECT c.id FROM conversations c JOIN turns t ON t.conversation_id = c.id WHERE c.repositories = ? "
            "AND c.asker = ? ORDER BY t.started_at DESC, t.rowid DESC LIMIT 1",
            (json.dumps(list(repositories)), asker),
        ).fetchone()
        return str(found[0]) if found else None

    def repositories_of(self, conversation: str, *, asker: str = "") -> list[str] | None:
        """What a conversation is about; None where this asker has none with this id."""
        found = self._connection.execute(
            "SELECT repositories FROM conversations WHERE id = ? AND asker = ?", (conversation, asker)
        ).fetchone()
        return list(json.loads(found[0])) if found else None

    def exchanges(self, conversation: str) -> list[Exchange]:
        """What models answered in a conversation, in its order; turns that failed are none."""
        rows = self._connection.execute(
            "SELECT question, answer FROM turns WHERE conversation_id = ? AND status = 'complete' "
            "AND answer IS NOT NULL ORDER BY started_at, rowid",
            (conversation,),
        )
        return [Exchange(question, answer) for question, answer in rows]

    def begin_conversation(self, repositories: Sequence[str], *, asker: str = "") -> str:
        """A conversation in which nothing was asked yet; its id."""
        conversation = uuid4().hex
        with self.together():
            self._connection.execute(
                "INSERT INTO conversations (id, repositories, started_at, asker) VALUES (?, ?, ?, ?)",
                (conversation, json.dumps(list(repositories)), self._moment(), asker),
            )
        return conversation

    def begin_turn(self, conversation: str, question: str, *, model: str | None) -> str:
        """A turn of a conversation; its id."""
        turn, moment = uuid4().hex, self._moment()
        with self.together():
            self._connection.execute(
                "INSERT INTO turns (id, conversation_id, question, model, status, started_at, touched_at) "
                "VALUES (?, ?, ?, ?, 'streaming', ?, ?)",
                (turn, conversation, _storable(question), model, moment, moment),
            )
            self.add_message(turn, Speaker.USER, [MessagePart(PartKind.TEXT, question)])
        return turn

    def begin_message(self, turn: str, role: Speaker, parts: Sequence[MessagePart] = ()) -> str:
        """A message that is being written; its id."""
        id_, moment = uuid4().hex, self._moment()
        with self.together():
            self._connection.execute(
                "INSERT INTO messages (id, turn_id, sequence, role, status, started_at, touched_at) VALUES "
                "(?, ?, (SELECT count(*) + 1 FROM messages WHERE turn_id = ?), ?, 'streaming', ?, ?)",
                (id_, turn, turn, role, moment, moment),
            )
            self.add_parts(id_, parts)
        return id_

    def add_message(self, turn: str, role: Speaker, parts: Sequence[MessagePart]) -> str:
        """A whole message; its id."""
        with self.together():
            id_ = self.begin_message(turn, role, parts)
            self.end_message(id_)
        return id_

    def add_parts(self, message: str, parts: Sequence[MessagePart]) -> None:
        """Add to a message, in this order."""
        with self.together():
            for part in parts:
                self._connection.execute(
                    "INSERT INTO parts (message_id, sequence, kind, content) VALUES "
                    "(?, (SELECT count(*) + 1 FROM parts WHERE message_id = ?), ?, ?)",
                    (message, message, part.kind, _json(part.content)),
                )

    def end_message(self, message: str, *, failed: str | None = None) -> None:
        """Close a message: as complete, or for the reason that it `failed` for."""
        self._end("messages", message, failed)

    def end_turn(self, turn: str, *, answer: str | None, failed: str | None = None) -> None:
        """Close a turn, and with it every message of it that is still open."""
        with self.together():
            left = self._connection.execute(
                "SELECT id FROM messages WHERE turn_id = ? AND status = 'streaming'", (turn,)
            ).fetchall()
            for (message,) in left:
                self.end_message(message, failed=failed or "unfinished")
            if self._end("turns", turn, failed):
                self._connection.execute("UPDATE turns SET answer = ? WHERE id = ?", (_storable(answer), turn))

    def touch(self, turn: str) -> None:
        """Say that a turn lives."""
        with self.together():
            for table, column in (("turns", "id"), ("messages", "turn_id")):
                self._connection.execute(
                    f"UPDATE {table} SET touched_at = ? WHERE {column} = ? AND status = 'streaming'",
                    (self._moment(), turn),
                )

    def keep_whole(self, message: str, call_id: str, text: str) -> None:
        """Keep the whole of a result of which the message has the head."""
        with self.together():
            self._connection.execute("INSERT INTO whole_results VALUES (?, ?, ?)", (message, call_id, _storable(text)))

    def read_whole(self, message: str, call_id: str) -> str | None:
        """The whole of a result; None where it is not there any more."""
        found = self._connection.execute(
            "SELECT text FROM whole_results WHERE message_id = ? AND call_id = ?", (message, call_id)
        ).fetchone()
        return str(found[0]) if found else None

    @contextmanager
    def together(self) -> Iterator[None]:
        """One transaction for all that is written in the block."""
        with one_transaction(self._connection, self.path):
            yield

    def _end(self, table: str, id_: str, failed: str | None) -> bool:
        """A final state stays, but for that of a sweeper that took a sleeping process for a dead one."""
        moment = self._moment()
        with self.together():
            changed = self._connection.execute(
                f"UPDATE {table} SET status = ?, reason = ?, ended_at = ?, touched_at = ? "
                "WHERE id = ? AND (status = 'streaming' OR reason = ?)",
                (Status.FAILED if failed else Status.COMPLETE, failed, moment, moment, id_, ABANDONED),
            ).rowcount
        return bool(changed)

    def _moment(self) -> str:
        return iso_moment(self._now())


@contextmanager
def open_store(home: Path, *, now: Callable[[], datetime]) -> Iterator[AskStore]:
    """The store of a home, with what was left open long ago closed, calls too."""
    path = home / STORE_FILE
    with writing(path):
        home.mkdir(parents=True, exist_ok=True)
        try:
            connection = open_file(path, timeout_s=BUSY_TIMEOUT_S)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            raise BrokenStore(f"{path} is damaged ({error}): move it away to begin a new one") from error
    with closing(connection):
        store = AskStore(connection, path, now)
        for turn in store.sweep():
            with open_ledger(path, run_id=turn, now=now) as ledger:
                ledger.recover_own()
        yield store


def _json(content: Any) -> str:
    return _storable(json.dumps(content, ensure_ascii=False))


@overload
def _storable(text: str) -> str: ...
@overload
def _storable(text: str | None) -> str | None: ...
def _storable(text: str | None) -> str | None:
    """A lone surrogate of a model or a repository is no UTF-8."""
    return None if text is None else text.encode("utf-8", "backslashreplace").decode("utf-8")
