"""A turn's notes in the store, which must not cost the answer.

A question is begun only where it can be written down. From then on a store that fails is told and gone on without;
what it then has of the turn is closed by the next sweep.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from codesum_pipeline.asking.schema import PartKind, Speaker
from codesum_pipeline.asking.store import AskStore, MessagePart
from codesum_pipeline.model.errors import CannotWrite

STORE_FAILED = "store"
Result = TypeVar("Result")
_log = logging.getLogger(__name__)


class Notebook:
    """Notes of one turn. `problems` are what the store refused."""

    def __init__(self, store: AskStore, turn: str) -> None:
        self._store = store
        self.turn = turn
        self.problems: list[str] = []

    def begin(self, role: Speaker, *parts: MessagePart) -> str:
        """A message that is being written; its id, empty where it could not be noted."""
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
            self._keep(message, call_id, text)

    def read_whole(self, message: str, call_id: str) -> str | None:
        """A whole result; None where it cannot be read any more."""
        return self._try(lambda: self._store.read_whole(message, call_id)) if message else None

    def touch(self) -> None:
        """Say that the turn lives."""
        self._try(lambda: self._store.touch(self.turn))

    def end_turn(self, answer: str | None, *, failed: str | None = None) -> str | None:
        """Close the turn; the reason for which it ended as failed. If the answer cannot be kept, it failed for that."""
        before = len(self.problems)
        self._try(lambda: self._store.end_turn(self.turn, answer=answer, failed=failed))
        if len(self.problems) == before:
            return failed
        reason = failed or STORE_FAILED
        self._try(lambda: self._store.end_turn(self.turn, answer=None, failed=reason))
        return reason

    def _keep(self, message: str, call_id: str, text: str) -> None:
        self._try(lambda: self._store.keep_whole(message, call_id, text))

    def _try(self, write: Callable[[], Result]) -> Result | None:
        try:
            return write()
        except (sqlite3.Error, CannotWrite, UnicodeError) as error:
            said = f"the turn could not be written down: {error}"
            _log.warning("turn %s: %s", self.turn, said)
            if said not in self.problems:
                self.problems.append(said)
            else:
                # Counted, so that a caller sees that it failed again.
                self.problems.append("")
            return None


@contextmanager
def closed_at_the_end(notebook: Notebook) -> Iterator[None]:
    """However the block ends, the turn has a final state; one that it has already stays."""
    try:
        yield
    finally:
        notebook.end_turn(None, failed="error")


def text_part(text: str) -> MessagePart:
    return MessagePart(PartKind.TEXT, text)
