"""Earlier questions with their answers and costs, for readers only: they make no file and change nothing in it."""

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from codesum_pipeline.asking.store import ABANDONED, ABANDONED_AFTER, BUSY_TIMEOUT_S, STORE_FILE, PartKind, Status
from codesum_pipeline.llm.ledger import NO_ANSWER_YET, reading
from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.model.ledger import AttemptOutcome
from codesum_pipeline.model.moments import iso_moment

_COLUMNS = (
    "turns.id, conversation_id, question, repositories, model, status, reason, turns.started_at, touched_at, answer"
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
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT kind, content FROM parts JOIN messages ON messages.id = message_id WHERE turn_id = ? "
                f"AND kind IN ({marks}) ORDER BY messages.sequence, parts.sequence",
                (id_, *_STEPS),
            ).fetchall() if connection else []  # fmt: skip
        return [PastStep(PartKind(kind), json.loads(content)) for kind, content in rows]

    def _turns(self, now: datetime, condition: str, value: str, limit: int) -> list[PastTurn]:
        with self._reading() as connection:
            if connection is None:
                return []
            if self.asker and not _has_askers(connection):
                return []
            # A file of an earlier version has no askers.
            own = "asker = ?4" if self.asker else "?4 = ''"
            has_ledger = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'llm_attempts'").fetchone()
            rows = connection.execute(
                f"SELECT {_COLUMNS}, ({_SPENT if has_ledger else '0'}) FROM turns "
                f"JOIN conversations ON conversations.id = conversation_id WHERE ({condition}) AND "
                "(?2 IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(repositories) AS about WHERE about.value NOT IN "
                f"(SELECT value FROM json_each(?2)))) AND {own} "
                "ORDER BY turns.started_at DESC, turns.rowid DESC LIMIT ?3",
                (value, None if self.only is None else json.dumps(sorted(self.only)), limit, self.asker),
            ).fetchall()
        return [_turn(row, iso_moment(now - ABANDONED_AFTER)) for row in rows]

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection for reading; None where there are no questions."""
        path = self.home / STORE_FILE
        if not path.exists():
            yield None
            return
        try:
            address = f"{path.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, timeout=BUSY_TIMEOUT_S, uri=True)) as connection:
                is_there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'turns'").fetchone()
                yield connection if is_there else None
        except sqlite3.Error as error:
            raise BrokenStore(f"{path} cannot be read ({error}): move it away to begin a new one") from error


def _has_askers(connection: sqlite3.Connection) -> bool:
    """Whether the file's version stores askers."""
    columns = connection.execute("SELECT name FROM pragma_table_info('conversations')").fetchall()
    return ("asker",) in columns


def _turn(row: Sequence[Any], abandoned_before: str) -> PastTurn:
    id_, conversation, question, repositories, model, status, reason, started_at, touched_at, answer, usd = row
    # The sweep of the next question will store this.
    is_left = status == Status.STREAMING and touched_at < abandoned_before
    return PastTurn(
        id=id_,
        conversation=conversation,
        question=question,
        repositories=tuple(json.loads(repositories)),
        model=model or "",
        status=Status.FAILED if is_left else Status(status),
        reason=ABANDONED if is_left else reason,
        started_at=started_at,
        answer=answer,
        usd=float(usd),
    )


_CALLS = f"""
SELECT c.repositories, l.run_id, l.model, l.started_at, coalesce(l.outcome, '{AttemptOutcome.INTERRUPTED}'),
    CASE WHEN l.outcome IS NULL THEN '{NO_ANSWER_YET}' ELSE l.failure END,
    l.prompt_tokens, l.completion_tokens, l.cached_tokens,
    CASE WHEN l.outcome IS NULL THEN l.reserved_usd ELSE l.cost_usd END,
    l.outcome IS NULL OR l.is_estimated, l.latency_s
FROM llm_attempts l JOIN turns t ON t.id = l.run_id JOIN conversations c ON c.id = t.conversation_id
WHERE l.started_at >= ? ORDER BY l.sequence
"""


class QuestionCall(Struct, frozen=True):
    """One call of a model for a question (`run_id`); an open call counts with its highest possible cost."""

    repositories: tuple[str, ...]
    run_id: str
    model: str
    started_at: str
    outcome: AttemptOutcome
    failure: str | None
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost_usd: float
    is_estimated: bool
    latency_s: float
    attempts: int | None = None


def calls_of_questions(store: Path, *, since: str) -> list[QuestionCall]:
    """The calls that began since a moment (ISO 8601; "": all), in their order. Raises `BrokenStore`."""
    try:
        with reading(store) as connection:
            rows = [] if connection is None else connection.execute(_CALLS, (since,)).fetchall()
    except sqlite3.Error as error:
        raise BrokenStore(f"{store} cannot be read ({error}): move it away to begin a new one") from error
    return [_call(*row) for row in rows]


def _call(repositories: str, run_id: str, model: str, started_at: str, outcome: str, *others: Any) -> QuestionCall:
    failure, prompt_tokens, completion_tokens, cached_tokens, cost_usd, is_estimated, latency_s = others
    return QuestionCall(
        repositories=tuple(json.loads(repositories)),
        run_id=run_id,
        model=model,
        started_at=started_at,
        outcome=AttemptOutcome(outcome),
        failure=failure,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        cached_tokens=cached_tokens,
        cost_usd=cost_usd,
        is_estimated=bool(is_estimated),
        latency_s=latency_s,
    )
