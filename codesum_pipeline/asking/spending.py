"""What questions cost: the calls of the store's ledger, each with the repositories that its question was about."""

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codesum_pipeline.llm.ledger import NO_ANSWER_YET, reading
from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.model.ledger import AttemptOutcome

_CALLS = f"""
SELECT c.repositories, l.run_id, l.model, l.started_at, coalesce(l.outcome, '{AttemptOutcome.INTERRUPTED}'),
    CASE WHEN l.outcome IS NULL THEN '{NO_ANSWER_YET}' ELSE l.failure END,
    l.prompt_tokens, l.completion_tokens, l.cached_tokens,
    CASE WHEN l.outcome IS NULL THEN l.reserved_usd ELSE l.cost_usd END,
    l.outcome IS NULL OR l.is_estimated, l.latency_s
FROM llm_attempts l JOIN turns t ON t.id = l.run_id JOIN conversations c ON c.id = t.conversation_id
WHERE l.started_at >= ? ORDER BY l.sequence
"""


@dataclass(frozen=True, slots=True)
class QuestionCall:
    """One call of a model for a question (`run_id`); without an answer so far it counts with the most it can cost."""

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
    """Those begun since a moment (ISO 8601; "": all), in their order; none where nobody asked.

    Raises `BrokenStore`.
    """
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
