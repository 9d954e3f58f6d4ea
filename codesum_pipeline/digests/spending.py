"""What digests cost: the calls in the books of `digests.sqlite`, and the repositories that each is about."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from codesum_pipeline.llm.ledger import reading, rows_of_unfinished_builds
from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.model.ledger import LedgerRow

# By a digest's id.
Repositories = dict[str, tuple[str, ...]]


def calls_of_digests(books: Path, *, since: str) -> tuple[Sequence[LedgerRow], Repositories]:
    """The calls that were begun since a moment (ISO 8601; "": all), in their order, and what each digest is about.

    A call's `run_id` is its digest's id, its `id` the intent's name. A digest that was not written is about nothing.
    Raises `BrokenStore`.
    """
    try:
        rows = [row for row in rows_of_unfinished_builds(books) if row.started_at >= since]
        return rows, _repositories(books) if rows else {}
    except sqlite3.Error as error:
        raise BrokenStore(f"{books} cannot be read ({error}): move it away to begin a new one") from error


def _repositories(books: Path) -> Repositories:
    with reading(books) as file:
        is_there = file and file.execute("SELECT 1 FROM sqlite_master WHERE name = 'digests'").fetchone()
        found = file.execute("SELECT id, repositories FROM digests").fetchall() if file and is_there else []
    return {id_: tuple(json.loads(repositories)) for id_, repositories in found}
