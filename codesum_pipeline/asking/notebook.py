"""A turn's notes in the store; errors of the store must not cost the answer.

A question begins only where it can be stored. After that, an error of the store is reported and the turn continues; the
next sweep closes what the store has of the turn.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from codesum_pipeline.asking.store import AskStore, MessagePart, PartKind, Speaker
from codesum_pipeline.model.errors import CannotWrite

STORE_FAILED = "store"
Result = TypeVar("Result")
_log = logging.getLogger(__name__)


class Notebook:
    """The notes of one turn; `problems` are errors of the store."""

    def __init__(self, store: AskStore, turn: str) -> None:
        self._store = store
        self.turn = turn
        self.problems: list[str] = []

    def begin(self, role: Speaker, *parts: MessagePart) -> str:
        """Begin a message; its id is empty where it could not be stored."""
        return self._try(lambda: self._store.begin_message(self.turn, role, parts)) or ""

    def add(self, message: str, *parts: MessagePart) -> None:
        """Add to a message."""
        if message:
            self._try(lambda: self._store.add_parts(message, parts))

    def end(self, message: str, *, failed: str | None = None) -> None:
        """Close a message."""
        if message:
            self._try(lambda: self._store.end_message(message, failed=failed))

    def whole(self, message: str, whole: Sequence[tuple[str, str]]) -> None:
        """Keep whole results, by the id of their call."""
        for call_id, text in whole if message else ():
            self._try(partial(self._store.keep_whole, message, call_id, text))

    def read_whole(self, message: str, call_id: str) -> str | None:
        """A whole result; None where it cannot be read."""
        return self._try(lambda: self._store.read_whole(message, call_id)) if message else None

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
    try:
        yield
    finally:
        notebook.end_turn(None, failed="error")


def text_part(text: str) -> MessagePart:
    return MessagePart(PartKind.TEXT, text)
