"""The tables of matches, ticks and digests.

```text
match    pending ─► handled      by a digest that tells of it, or that a hook dropped
digest   written ─► queued        it is in the outbox, from where it is sent
         vetoed                   a hook did not allow it: it is sent nowhere
         unsent                   its intent has no channel
```

A digest becomes `written` in the transaction that makes its matches handled. What is `written` after the process that
wrote it has ended is brought into the outbox by the next one, under the same id.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from codesum_pipeline.digests.rows import DigestKind, DigestState, DigestWriter, TickFailure, TickOutcome
from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.store.sqlite_tables import one_of, open_tables

_TABLES = {
    "digests": f"id TEXT PRIMARY KEY, kind TEXT NOT NULL {one_of('kind', DigestKind)}, intent_name TEXT NOT NULL, "
    "repositories TEXT NOT NULL, created_at TEXT NOT NULL, from_at TEXT NOT NULL, to_at TEXT NOT NULL, "
    "language TEXT NOT NULL, result TEXT NOT NULL, "
    f"written_by TEXT NOT NULL {one_of('written_by', DigestWriter)}, "
    f"state TEXT NOT NULL {one_of('state', DigestState)}, channels TEXT NOT NULL, links TEXT NOT NULL, model TEXT, "
    "cost_usd REAL NOT NULL, matches INTEGER NOT NULL, items INTEGER NOT NULL, dropped_claims INTEGER NOT NULL, "
    "told_at TEXT",
    "matches": "id INTEGER PRIMARY KEY, intent_name TEXT NOT NULL, repository TEXT NOT NULL, "
    "document_id TEXT NOT NULL, change TEXT NOT NULL, is_undone INTEGER NOT NULL, score REAL, "
    "matched_at TEXT NOT NULL, "
    "digest_id TEXT REFERENCES digests (id) ON DELETE CASCADE",
    "ticks": "id TEXT PRIMARY KEY, intent_name TEXT NOT NULL, repository TEXT, due_at TEXT, "
    f"started_at TEXT NOT NULL, ended_at TEXT NOT NULL, outcome TEXT NOT NULL {one_of('outcome', TickOutcome)}, "
    f"failure TEXT {one_of('failure', TickFailure)}, reason TEXT NOT NULL, matches INTEGER NOT NULL, "
    "items INTEGER NOT NULL, digest_id TEXT REFERENCES digests (id) ON DELETE SET NULL, "
    "CHECK ((outcome = 'held') = (failure IS NOT NULL))",
    "compactions": "job_id TEXT PRIMARY KEY, attestation TEXT NOT NULL, signature TEXT NOT NULL, claim TEXT NOT NULL, "
    "request_hash TEXT NOT NULL, model_name_echoed TEXT NOT NULL, cost_usd REAL NOT NULL, compacted_at TEXT NOT NULL",
    "comparisons": "repository TEXT PRIMARY KEY, id TEXT NOT NULL",
    "schedules": "intent_name TEXT PRIMARY KEY, served_at TEXT NOT NULL",
}
_INDEXES = (
    "CREATE UNIQUE INDEX IF NOT EXISTS pending_matches ON matches (repository, document_id, intent_name) "
    "WHERE digest_id IS NULL",
    "CREATE INDEX IF NOT EXISTS pending_by_intent ON matches (intent_name, repository) WHERE digest_id IS NULL",
    "CREATE INDEX IF NOT EXISTS matches_of_digests ON matches (digest_id) WHERE digest_id IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS digests_by_intent ON digests (intent_name, created_at)",
    "CREATE INDEX IF NOT EXISTS open_digests ON digests (created_at) WHERE state = 'written' OR told_at IS NULL",
    "CREATE INDEX IF NOT EXISTS ticks_by_intent ON ticks (intent_name, started_at)",
)
# The ledger of what models wrote is in the same file, and may have been there first.
_LEDGER = {"llm_attempts", "llm_outbox"}


def open_file(path: Path, *, timeout_s: float) -> sqlite3.Connection:
    """Open the file, made or brought up to date. The connection is in no transaction.

    Raises `BrokenStore` for a database that something else made, which is left as it is.
    """
    if path.exists():
        with closing(sqlite3.connect(path, timeout=timeout_s)) as connection:
            found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if found - _LEDGER and not {"matches", "digests", "ticks"} <= found:
            raise BrokenStore(f"{path} is a database of another program: move it away to begin a new one")
    return open_tables(path, _TABLES, _INDEXES, timeout_s=timeout_s)
