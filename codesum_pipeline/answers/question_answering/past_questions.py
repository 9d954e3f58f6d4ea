"""Earlier questions with their answers and costs. Reading them creates no file and changes nothing."""

import json
from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from codesum_pipeline.answers.question_answering.question_store import (
    ABANDONED,
    ABANDONED_AFTER,
    STORE_FILE,
    PartKind,
    Status,
)
from codesum_pipeline.foundation.data_model.model_call import LedgerRow
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.store.sqlite_tables import has_table, open_for_reading, read_row
from codesum_pipeline.texts.llm.ledger_readings import calls_about

# The sweep of the next question will store that a turn was abandoned.
_IS_LEFT = "status = 'streaming' AND touched_at < ?5"
_COLUMNS = (
    "turns.id, conversation_id, question, repositories, coalesce(model, ''), "
    f"CASE WHEN {_IS_LEFT} THEN 'failed' ELSE status END, CASE WHEN {_IS_LEFT} THEN '{ABANDONED}' ELSE reason END, "
    "turns.started_at, answer"
)
# An open call counts with its highest possible cost, as it does for the caps.
_SPENT = (
    "SELECT coalesce(sum(CASE WHEN outcome IS NULL THEN reserved_usd ELSE cost_usd END), 0) "
    "FROM llm_attempts WHERE run_id = turns.id"
)
_STEPS = (PartKind.TOOL_CALL, PartKind.TOOL_RESULT, PartKind.SYNTHESIS)


class PastTurn(Struct, frozen=True):
    """A question with its outcome. `reason` says why it failed, or that its process ended."""

    id: str
    conversation: str
    question: str
    repositories: tuple[str, ...]
    model: str
    status: Status
    reason: str | None
    started_at: str
    answer: str | None
    usd: float


class PastStep(Struct, frozen=True):
    """A step of a turn: a call, a result, or a synthesis with its material."""

    kind: PartKind
    content: dict[str, Any]


class PastTurns(Struct, frozen=True):
    """The questions of a home; with `only`, those about no other repositories; with an `asker`, this asker's."""

    home: Path
    only: Collection[str] | None = None
    asker: str = ""

    def newest(self, now: datetime, *, before: str = "", limit: int) -> list[PastTurn]:
        """The questions that began `before` a moment, newest first."""
        return self._turns(now, "?1 = '' OR turns.started_at < ?1", before, limit)

    def one(self, now: datetime, id_: str) -> PastTurn | None:
        return next(iter(self._turns(now, "turns.id = ?1", id_, 1)), None)

    def steps(self, id_: str) -> list[PastStep]:
        """The steps of a turn, in their order."""
        marks = ", ".join("?" * len(_STEPS))
        with open_for_reading(self.home / STORE_FILE, "turns") as connection:
            if connection is None:
                return []
            rows = connection.execute(
                "SELECT kind, content FROM parts JOIN messages ON messages.id = message_id WHERE turn_id = ? "
                f"AND kind IN ({marks}) ORDER BY messages.sequence, parts.sequence",
                (id_, *_STEPS),
            )
            return [read_row(PastStep, row) for row in rows]

    def _turns(self, now: datetime, condition: str, value: str, limit: int) -> list[PastTurn]:
        with open_for_reading(self.home / STORE_FILE, "turns") as connection:
            if connection is None:
                return []
            # A file of an earlier version has no askers.
            kept = connection.execute("SELECT name FROM pragma_table_info('conversations')").fetchall()
            if self.asker and ("asker",) not in kept:
                return []
            own = "asker = ?4" if self.asker else "?4 = ''"
            spent = _SPENT if has_table(connection, "llm_attempts") else "0"
            rows = connection.execute(
                f"SELECT {_COLUMNS}, ({spent}) FROM turns JOIN conversations ON conversations.id = conversation_id "
                f"WHERE ({condition}) AND {own} AND (?2 IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(repositories) "
                "AS about WHERE about.value NOT IN (SELECT value FROM json_each(?2)))) "
                "ORDER BY turns.started_at DESC, turns.rowid DESC LIMIT ?3",
                (
                    value,
                    None if self.only is None else json.dumps(sorted(self.only)),
                    limit,
                    self.asker,
                    iso_moment(now - ABANDONED_AFTER),
                ),
            ).fetchall()
        return [read_row(PastTurn, row) for row in rows]


def calls_of_questions(store: Path, *, since: str) -> list[tuple[tuple[str, ...], LedgerRow]]:
    """As `calls_about`. A call's `run_id` is that of its turn."""
    subjects = "SELECT t.id, c.repositories FROM turns t JOIN conversations c ON c.id = t.conversation_id"
    return calls_about(store, subjects=subjects, table="turns", since=since)
