"""A ledger's rows in the journal of a bucket, where the next worker finds what a killed worker paid for."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codesum_pipeline.store.bucket_record import Entry

_ATTEMPTS = "llm_attempts"
_OUTBOX = "llm_outbox"


def journal_entry(connection: sqlite3.Connection, sequences: Collection[int]) -> "Entry":
    """The present rows of these attempts, and every text that waits for the cache."""
    query = f"SELECT * FROM {_ATTEMPTS} WHERE sequence IN ({_marks(len(sequences))})"
    attempts = _rows(connection, query, sorted(sequences))
    return {_ATTEMPTS: attempts, _OUTBOX: _rows(connection, f"SELECT * FROM {_OUTBOX}", [])}


def replay(connection: sqlite3.Connection, entries: Iterable["Entry"]) -> None:
    """Write into the ledger what a killed worker had written into its own and no commit has kept."""
    for entry in entries:
        for row in entry[_ATTEMPTS]:
            _insert(connection, _ATTEMPTS, {**row, "sequence": _number(connection, row)})
        for row in entry[_OUTBOX]:
            _insert(connection, _OUTBOX, row)


def _number(connection: sqlite3.Connection, row: dict[str, Any]) -> int | None:
    """The attempt's own number; where two workers used one number, the second gets a new one."""
    known = connection.execute(
        f"SELECT sequence FROM {_ATTEMPTS} WHERE run_id = ? AND id = ? AND request_hash = ? AND attempt = ? "
        "AND started_at = ?",
        [row[name] for name in ("run_id", "id", "request_hash", "attempt", "started_at")],
    ).fetchone()
    if known:
        return int(known[0])
    is_used = connection.execute(f"SELECT 1 FROM {_ATTEMPTS} WHERE sequence = ?", (row["sequence"],)).fetchone()
    return None if is_used else int(row["sequence"])


def _insert(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    connection.execute(
        f"INSERT OR REPLACE INTO {table} ({', '.join(row)}) VALUES ({_marks(len(row))})", list(row.values())
    )


def _rows(connection: sqlite3.Connection, query: str, values: Sequence[object]) -> list[dict[str, Any]]:
    found = connection.execute(query, values)
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found]


def _marks(count: int) -> str:
    return ", ".join("?" * count)
