"""What the ledger of a repository, of questions or of digests holds, for readers without its lease: rows, sums of rows,
and answers that are paid for and cannot be used."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from codesum_pipeline.foundation.data_model.model_call import (
    AttemptOutcome,
    AvoidanceReason,
    AvoidedRow,
    CallTotals,
    LedgerRow,
)
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.store.sqlite_tables import open_for_reading
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.texts.llm.ledger import ATTEMPTS, KEEP_DAYS, SPENT, midnight_of, select_rows
from codesum_pipeline.texts.llm.pins import FAILURES_BY_END, AnswerEnd


def spent_today(state: Path, *, now: datetime) -> float:
    """US dollars of a repository since midnight, UTC, for readers without its lease; 0 if no call was made."""
    return calls_since(state, iso_moment(midnight_of(now)))[1]


def calls_since(state: Path, since: str) -> tuple[int, float]:
    """How many attempts were begun since a moment, and their US dollars, for readers; a `since` of "" counts all."""
    with open_for_reading(state, ATTEMPTS) as connection:
        if connection is None:
            return 0, 0.0
        counted, spent = connection.execute(
            f"SELECT count(*), ({SPENT} WHERE started_at >= ?1) FROM llm_attempts WHERE started_at >= ?1", (since,)
        ).fetchone()
        return int(counted), float(spent)


def last_form(state: Path, model: str) -> tuple[str, str] | None:
    """When a model last gave a text (ISO 8601) that is still in the file, and in which form, for readers."""
    with open_for_reading(state, ATTEMPTS) as connection:
        if connection is None:
            return None
        known = {name for _, name, *_ in connection.execute(f"PRAGMA table_info({ATTEMPTS})")}
        if "form" not in known:
            return None
        found: tuple[str, str] | None = connection.execute(
            "SELECT started_at, form FROM llm_attempts WHERE model = ? AND outcome = 'good' AND form IS NOT NULL "
            "ORDER BY sequence DESC LIMIT 1",
            (model,),
        ).fetchone()
        return found


def rows_of_unfinished_builds(state: Path) -> list[LedgerRow]:
    """The attempts that are not in the warehouse's table yet, for readers without the repository's lease."""
    with open_for_reading(state, ATTEMPTS) as connection:
        return [] if connection is None else select_rows(connection, "is_in_table = 0")


def calls_about(books: Path, *, subjects: str, table: str, since: str) -> list[tuple[tuple[str, ...], LedgerRow]]:
    """The calls in the books of questions or digests that were begun since a moment (ISO 8601; "": all), in their
    order, each with the repositories that it was about; none if that is not known.

    `subjects` is a query for the repositories (a JSON list) of each run, in a file that has `table`. Raises
    `BrokenStore`.
    """
    rows = [row for row in rows_of_unfinished_builds(books) if row.started_at >= since]
    with open_for_reading(books, table) as connection:
        found = dict(connection.execute(subjects).fetchall()) if connection and rows else {}
    return [(tuple(json.loads(found.get(row.run_id, "[]"))), row) for row in rows]


def every_attempt(tables: TableStore, state: Path, repo: str) -> list[LedgerRow]:
    """All attempts for a repository: the rows of its table, and those of builds that are under way or ended before
    they wrote it."""
    # A build that ends between the two readings brings its rows from the file into the table.
    unfinished = rows_of_unfinished_builds(state)
    rows = tables.read_rows_or_empty("ledger", repo, LedgerRow)
    known = {(row.run_id, row.sequence) for row in rows}
    return [*rows, *(row for row in unfinished if (row.run_id, row.sequence) not in known)]


class KeptAnswer(Struct, frozen=True):
    """An answer that is paid for and cannot be used, what it is about, and what is wrong with it. Rows of earlier
    versions have no `model_echoed`."""

    about: str
    answer: str
    has_tool_call: bool
    model_echoed: str | None
    failure: str
    error: str
    started_at: str

    @property
    def kept_until(self) -> str:
        """The moment from which on its request is sent again."""
        return iso_moment(datetime.fromisoformat(self.started_at) + timedelta(days=KEEP_DAYS))


def unusable_answers(state: Path, *, now: datetime) -> dict[str, KeptAnswer]:
    """By the hash of the request, the last unusable answer of the last days, empty ones and those of another model
    included; not one that an error of the server ended. For readers."""
    with open_for_reading(state, "llm_attempts") as connection:
        if connection is None:
            return {}
        rows = connection.execute(
            "SELECT request_hash, id, coalesce(answer, ''), has_tool_call, model_echoed, coalesce(failure, ''), "
            "coalesce(error, ''), started_at FROM llm_attempts WHERE outcome = 'invalid' AND started_at > ? "
            "AND failure IS NOT ? ORDER BY sequence",
            (iso_moment(now - timedelta(days=KEEP_DAYS)), FAILURES_BY_END[AnswerEnd.ERROR]),
        )
        return {key: KeptAnswer(about, answer, bool(called), *rest) for key, about, answer, called, *rest in rows}


Key = TypeVar("Key", str, tuple[str, ...])
_ANSWERED = (AttemptOutcome.GOOD, AttemptOutcome.INVALID)


class Totals(Struct, frozen=True):
    """Sums over attempts: how many were sent and how many gave a text, tokens, dollars, waits.

    `estimated_usd` is the unconfirmed part of `cost_usd`: the most that calls
    without an answer can have cost. Latencies are of answers.
    `failures` are counts by kind, most frequent first.
    """

    calls: int
    texts: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost_usd: float
    estimated_usd: float
    latency_p50_s: float
    latency_p95_s: float
    failures: tuple[tuple[str, int], ...]

    @property
    def cached_share(self) -> float:
        """The share of the tokens read that a provider's cache held."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


def add_up_calls(rows: Iterable[LedgerRow]) -> Totals:
    """All of them together."""
    rows = list(rows)
    waits = sorted((row.latency_s, _count(row)) for row in rows if row.outcome in _ANSWERED)
    kinds: Counter[str] = Counter()
    for row in rows:
        if row.outcome is not AttemptOutcome.GOOD:
            kinds[row.failure or row.outcome.value] += _count(row)
    return Totals(
        calls=sum(_count(row) for row in rows if row.outcome is not AttemptOutcome.NOT_SENT),
        texts=sum(_count(row) for row in rows if row.outcome is AttemptOutcome.GOOD),
        prompt_tokens=sum(row.prompt_tokens for row in rows),
        completion_tokens=sum(row.completion_tokens for row in rows),
        cached_tokens=sum(row.cached_tokens for row in rows),
        cost_usd=math.fsum(row.cost_usd for row in rows),
        estimated_usd=math.fsum(row.cost_usd for row in rows if row.is_estimated),
        latency_p50_s=_percentile(waits, 0.5),
        latency_p95_s=_percentile(waits, 0.95),
        failures=tuple(sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))),
    )


def add_up_calls_by(keyed: Iterable[tuple[Key, LedgerRow]]) -> dict[Key, Totals]:
    """By the key that each row is given with, in its order."""
    groups: dict[Key, list[LedgerRow]] = {}
    for key, row in keyed:
        groups.setdefault(key, []).append(row)
    return {key: add_up_calls(groups[key]) for key in sorted(groups)}


def _count(row: LedgerRow) -> int:
    """The number of calls in a row: old ones are added up."""
    return row.attempts or 1


def _percentile(ordered: Sequence[tuple[float, int]], share: float) -> float:
    """The smallest of values, each with how often it was seen, that at least `share` of all do not exceed (nearest
    rank)."""
    remaining = math.ceil(share * sum(count for _, count in ordered))
    for value, count in ordered:
        remaining -= count
        if remaining <= 0:
            return value
    return 0.0


def avoided_by_cause(rows: Iterable[AvoidedRow]) -> dict[AvoidanceReason, CallTotals]:
    """What builds did not have to ask a model for, by cause, in the order of the causes."""
    found: dict[AvoidanceReason, CallTotals] = {}
    for row in rows:
        saving = CallTotals(row.calls, row.input_tokens, row.output_tokens, row.usd)
        found[row.cause] = found.get(row.cause, CallTotals()) + saving
    return {cause: found[cause] for cause in AvoidanceReason if cause in found}
