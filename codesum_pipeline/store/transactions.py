"""One transaction of SQLite for all that is written in a block."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codesum_pipeline.store.refusals import writing


@contextmanager
def one_transaction(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Within another such block, that one's transaction. Raises `CannotWrite` where the system refuses."""
    if connection.in_transaction:
        yield
        return
    with writing(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        finally:
            # Of some refusals to write SQLite has rolled back by itself.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
