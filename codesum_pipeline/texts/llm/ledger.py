"""Calls to models are written down before they are made, so that a killed run leaves no unknown cost.

An attempt is reserved with the most that it can cost, in a transaction that is
on disk before the request leaves. It is settled in one transaction: outcome,
cost, the answer as it came and, where that was taken, the text under its keys.
From there the text goes to the cache, as often as it takes: a paid answer is in
one of the two from the moment it counts.

For a home in a bucket, each transaction is also an entry of its journal, where
the next worker finds what a killed worker paid for.

The tables are in the file of the repository's lease. Whoever opens the ledger to
write must hold the lease, so an open attempt is one of a dead run.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict, astuple, replace

from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.errors import BucketUnavailable, CallFailure, SummaryOutputInvalid
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, LedgerRow
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.store.atomic import explain_refused_writes
from codesum_pipeline.foundation.store.repository_record import FOLDER_RECORD, Entry, LedgerJournal, RepositoryRecord
from codesum_pipeline.foundation.store.sqlite_tables import BUSY_TIMEOUT_S, one_transaction
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.texts.llm.answer_forms import FormIgnored
from codesum_pipeline.texts.llm.pins import FAILURES_BY_END, AnswerEnd, AnswerForm, SummaryResponse, TokenUsage
from codesum_pipeline.texts.llm.text_cache import COLUMNS, NAMES, KeptText

ATTEMPTS = "llm_attempts"
_OUTBOX = "llm_outbox"
# For so long the same request is not sent again after an unusable answer.
KEEP_DAYS = 7
# The failures of attempts whose answer would end alike if it were asked for again.
_ENDS = {FAILURES_BY_END[end]: end for end in (AnswerEnd.LENGTH, AnswerEnd.FILTERED, AnswerEnd.REFUSED)}
# Failures of attempts that did not reach their server.
_UNREACHED = (CallFailure.CONNECTION, CallFailure.TIMEOUT)
# The failure of an attempt that is under way, or was cut off by the end of a build that no other has followed.
NO_ANSWER_YET = "no-answer-yet"

_SQL = packaged_table(__package__, "ledger")
# An open attempt counts with the most that it can cost.
SPENT = "SELECT coalesce(sum(CASE WHEN outcome IS NULL THEN reserved_usd ELSE cost_usd END), 0) FROM llm_attempts"


class CallAttempt(Struct, frozen=True):
    """A call that is about to be made, the most that it can cost, and the form in which its answer is asked for."""

    id: str
    level: str
    request_hash: str
    model: str
    attempt: int
    reserved_usd: float
    form: str | None = None


class AttemptResult(Struct, frozen=True):
    """How an attempt ended. `cost_usd` of None: it is unknown, and the most that it can be is counted."""

    outcome: AttemptOutcome
    cost_usd: float | None
    latency_s: float
    usage: TokenUsage | None = None
    failure: str | None = None
    error: str | None = None
    answer: str | None = None
    has_tool_call: bool = False
    model_echoed: str | None = None


class Caps(Struct, frozen=True):
    """What a run may still do; `usd_left` of None: as many dollars as it takes."""

    documents_left: int
    usd_left: float | None


class Ledger(Struct):
    """One repository's ledger, as one run writes it. `unsent` are the attempts of this transaction that the journal
    does not have yet."""

    connection: sqlite3.Connection
    path: Path
    run_id: str
    now: Callable[[], datetime]
    journal: LedgerJournal | None = None
    unsent: set[int] = field(default_factory=set)

    @contextmanager
    def together(self) -> Iterator[None]:
        """One transaction for all that the block writes; for a home in a bucket, it is in the bucket when the block
        ends."""
        is_outer = not self.connection.in_transaction
        refused = None
        with one_transaction(self.connection, self.path):
            yield
            if is_outer and self.journal and self.unsent:
                try:
                    self.journal.write(_journal_entry(self.connection, self.unsent))
                    self.unsent.clear()
                except BucketUnavailable as error:
                    # The entry is at least on this worker's disk, and is written to the bucket with the next one.
                    refused = error
        if refused:
            raise refused

    def recover(self, *, run_id: str | None = None) -> int:
        """Close the attempts that dead runs left open, at the most that they can have cost; returns how many. With a
        `run_id` those of that run alone, where others may be alive."""
        with self.together():
            return self.connection.execute(_SQL["interrupt"], (run_id,)).rowcount

    def reserve(self, attempt: CallAttempt) -> int:
        """Write down a call before it is made; its sequence."""
        with self.together():
            row = (*astuple(attempt), self.run_id, self.moment())
            found = self.connection.execute(_SQL["reserve"], row).lastrowid
            self.unsent.add(found or 0)
        return found or 0

    def settle(self, sequence: int, settled: AttemptResult, kept: KeptText | None = None) -> None:
        """Write down how a call ended and, of one that gave a text, the text."""
        values = asdict(settled) | asdict(settled.usage or TokenUsage(0, 0)) | {"sequence": sequence}
        del values["usage"]
        with self.together():
            self.connection.execute(_SQL["settle"], values)
            self.unsent.add(sequence)
            if kept:
                row, marks = kept.row(), ", ".join("?" * len(kept.row()))
                self.connection.execute(f"INSERT OR REPLACE INTO llm_outbox VALUES ({marks})", row)

    def refused_answers(self) -> dict[str, tuple[SummaryResponse, bool]]:
        """By the hash of the request, the answers of the last days that could not be taken, at no cost, and whether
        their server had ignored the form of answers. What of them
        says nothing about the next answer is left out, so that the request is sent again: an empty one, and one that an
        error of the server ended."""
        since = iso_moment(self.now() - timedelta(days=KEEP_DAYS))
        rows = self.connection.execute(_SQL["refused"], (since,))
        return {
            request_hash: (
                SummaryResponse(answer, bool(called), None, model, 0.0, _ENDS.get(failure, AnswerEnd.STOP)),
                failure == FormIgnored.kind,
            )
            for request_hash, model, answer, called, failure in rows
            if failure in _ENDS or (failure in (SummaryOutputInvalid.kind, FormIgnored.kind) and answer.strip())
        }

    def failed_in_a_row(self) -> int:
        """How many documents of this run were last called for since one got a text, and got none."""
        failed: set[str] = set()
        for row in reversed(self.rows(self.run_id)):
            if row.outcome is AttemptOutcome.GOOD:
                break
            is_unreached = row.outcome is AttemptOutcome.NOT_SENT and row.failure in _UNREACHED
            if is_unreached or row.outcome in (AttemptOutcome.INVALID, AttemptOutcome.FAILED):
                failed.add(row.id)
        return len(failed)

    def forms_of_run(self) -> dict[str, AnswerForm]:
        """The form in which each model gave its last text in this run."""
        found = self.connection.execute(_SQL["forms"], (self.run_id,))
        return {model: AnswerForm(form) for model, form in found}

    def dearest_call(self) -> float:
        """How many times as much as was put aside for it a call of this run cost at most; at least 1."""
        found = "SELECT max(cost_usd / reserved_usd) FROM llm_attempts WHERE run_id = ? AND reserved_usd > 0"
        return max(1.0, self.connection.execute(found, (self.run_id,)).fetchone()[0] or 0.0)

    def has_uncounted(self) -> bool:
        """Whether a server answered in this run without counting tokens."""
        found = "SELECT 1 FROM llm_attempts WHERE run_id = ? AND is_estimated AND outcome IN ('good', 'invalid')"
        return self.connection.execute(found, (self.run_id,)).fetchone() is not None

    def good_answer(self, request_hash: str) -> SummaryResponse | None:
        """The accepted answer to a request, which is paid for and need not be sent again; None without one."""
        row = self.connection.execute(_SQL["good"], (request_hash,)).fetchone()
        if row is None:
            return None
        answer, has_tool_call, prompt, completion, cached, echoed, cost_usd = row
        return SummaryResponse(answer, bool(has_tool_call), TokenUsage(prompt, completion, cached), echoed, cost_usd)

    def deliver(self, put: Callable[[Sequence[KeptText]], None]) -> int:
        """Give `put` the paid texts that wait for the cache; returns how many. After a kill they are given twice, which
        must do no harm."""
        rows = self.connection.execute(f"SELECT {NAMES} FROM llm_outbox ORDER BY exact_key").fetchall()
        if rows:
            put([KeptText.of(row) for row in rows])
            with self.together():
                self.connection.executemany("DELETE FROM llm_outbox WHERE exact_key = ?", [row[:1] for row in rows])
        return len(rows)

    def spent(self, run_id: str | None = None) -> float:
        """US dollars of a run (default: this one), open attempts with the most that they can cost."""
        return float(self.connection.execute(f"{SPENT} WHERE run_id = ?", (run_id or self.run_id,)).fetchone()[0])

    def spent_today(self) -> float:
        """US dollars since midnight, UTC."""
        midnight = iso_moment(midnight_of(self.now()))
        return float(self.connection.execute(f"{SPENT} WHERE started_at >= ?", (midnight,)).fetchone()[0])

    def rows(self, run_id: str | None = None) -> list[LedgerRow]:
        """The settled attempts that are still here, of one run or of all, in order."""
        which = "outcome IS NOT NULL AND coalesce(?, run_id) = run_id"
        return select_rows(self.connection, which, run_id)

    def compact(self, tables: TableStore, repo: str) -> int:
        """Bring the warehouse's table up to date, and delete old rows here; returns how many rows were added.

        After a kill rows can be in both; the next time knows them by run and sequence.
        """
        waiting = select_rows(self.connection, "outcome IS NOT NULL AND is_in_table = 0")
        before = tables.read_rows_or_empty("ledger", repo, LedgerRow)
        known = {(row.run_id, row.sequence) for row in before}
        # An accepted answer is left out: its text is kept in the cache.
        added = [
            row if row.outcome is AttemptOutcome.INVALID else replace(row, answer=None)
            for row in waiting
            if (row.run_id, row.sequence) not in known
        ]
        if added:
            tables.write_rows("ledger", repo, [*before, *added], LedgerRow)
        with self.together():
            self.connection.executemany(_SQL["put_into_table"], [(row.sequence,) for row in waiting])
            self.connection.execute(
                "DELETE FROM llm_attempts WHERE is_in_table = 1 AND started_at < ?",
                (iso_moment(self.now() - timedelta(days=KEEP_DAYS)),),
            )
        return len(added)

    def moment(self) -> str:
        """Now, as ISO 8601 in UTC to the millisecond."""
        return iso_moment(self.now())


@contextmanager
def open_ledger(
    state: Path, *, run_id: str, now: Callable[[], datetime], record: RepositoryRecord = FOLDER_RECORD
) -> Iterator[Ledger]:
    """The ledger of the repository whose lease is in `state`, for its holder, who has its record."""
    with explain_refused_writes(state):
        state.parent.mkdir(parents=True, exist_ok=True)
        # The thread that writes may be another one.
        connection = sqlite3.connect(state, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    with closing(connection):
        with explain_refused_writes(state):
            connection.execute("PRAGMA journal_mode = WAL")
            # On disk when a transaction ends: what is paid must outlive a power cut, too.
            connection.execute("PRAGMA synchronous = FULL")
            connection.executescript(_SQL["create"].format(kept_text=COLUMNS))
            known = {name for _, name, *_ in connection.execute("PRAGMA table_info(llm_attempts)")}
            for column in _SQL["newer"].keys() - known:
                connection.execute(f"ALTER TABLE llm_attempts ADD COLUMN {column} {_SQL['newer'][column]}")
        ledger = Ledger(connection, state, run_id=run_id, now=now, journal=record.journal)
        if record.journal:
            with one_transaction(connection, state):
                _replay(connection, record.journal.take_left())
        try:
            yield ledger
        finally:
            record.note_spending(day=now().date(), usd=ledger.spent_today())


def erase_ledger(state: Path) -> None:
    """Delete a repository's attempts, and the texts that wait for the cache; its lease must be held."""
    if state.exists():
        with (
            explain_refused_writes(state),
            closing(sqlite3.connect(state, timeout=BUSY_TIMEOUT_S)) as connection,
            connection,
        ):
            connection.executescript("DROP TABLE IF EXISTS llm_attempts; DROP TABLE IF EXISTS llm_outbox")


def select_rows(connection: sqlite3.Connection, which: str, *values: object) -> list[LedgerRow]:
    """Attempts in order. One without an answer so far counts with the most that it can cost."""
    rows = _dicts(connection, ATTEMPTS, f"{which} ORDER BY sequence", values)
    for row in rows:
        if row["outcome"] is None:
            row |= {"outcome": AttemptOutcome.INTERRUPTED, "failure": NO_ANSWER_YET, "is_estimated": True}
            row["cost_usd"] = row["reserved_usd"]
    return convert(rows, list[LedgerRow], strict=False)


def _dicts(
    connection: sqlite3.Connection, table: str, which: str, values: Sequence[object] = ()
) -> list[dict[str, Any]]:
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    return [dict(row) for row in cursor.execute(f"SELECT * FROM {table} WHERE {which}", values)]


def _journal_entry(connection: sqlite3.Connection, sequences: Collection[int]) -> Entry:
    """The present rows of these attempts, and every text that waits for the cache."""
    attempts = _dicts(connection, ATTEMPTS, f"sequence IN ({', '.join(map(str, sorted(sequences)))})")
    return {ATTEMPTS: attempts, _OUTBOX: _dicts(connection, _OUTBOX, "TRUE")}


def _replay(connection: sqlite3.Connection, entries: Iterable[Entry]) -> None:
    """Write into the ledger what a killed worker had written into its own and no commit has kept."""
    for entry in entries:
        for table in (ATTEMPTS, _OUTBOX):
            for entry_row in entry[table]:
                row = {**entry_row, "sequence": _number(connection, entry_row)} if table == ATTEMPTS else entry_row
                connection.execute(
                    f"INSERT OR REPLACE INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                    list(row.values()),
                )


def _number(connection: sqlite3.Connection, row: dict[str, Any]) -> int | None:
    """The attempt's own number; where two workers used one number, the second gets a new one."""
    values = [row[name] for name in ("run_id", "id", "request_hash", "attempt", "started_at")]
    known = connection.execute(_SQL["same"], values).fetchone()
    if known:
        return int(known[0])
    is_used = connection.execute(f"SELECT 1 FROM {ATTEMPTS} WHERE sequence = ?", (row["sequence"],)).fetchone()
    return None if is_used else int(row["sequence"])


def midnight_of(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
