"""What the ledger of a repository, of questions or of digests holds, for readers without its lease."""

import json
from datetime import datetime
from pathlib import Path

from codesum_pipeline.foundation.data_model.model_call import LedgerRow
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.store.sqlite_tables import open_for_reading
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.texts.llm.ledger import ATTEMPTS, SPENT, midnight_of, select_rows


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
