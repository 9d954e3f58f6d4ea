"""The tables of the outbox.

```text
pending ─► sending ─► sent
   ▲          ├─────► failed ──► sending …      the channel took nothing: tried again later
   │          ├─────► unknown ─► sending …      it went out, and no answer came: tried again with the same id
 retry        └─────► given_up                  refused for good, or no tries left
```

A process that ends while it is sending leaves `sending`, which the next one turns into `unknown`.
"""

import sqlite3
from enum import StrEnum
from pathlib import Path

from codesum_pipeline.delivery.posts import PostKind
from codesum_pipeline.store.sqlite_tables import one_of, open_tables


class DeliveryState(StrEnum):
    """How far a post is on one channel."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"
    GIVEN_UP = "given_up"


# From which a delivery is tried (again).
WAITING = (DeliveryState.PENDING, DeliveryState.FAILED, DeliveryState.UNKNOWN)

_TABLES = {
    "posts": f"id TEXT PRIMARY KEY, kind TEXT NOT NULL {one_of('kind', PostKind)}, subject TEXT NOT NULL, "
    "content TEXT NOT NULL, created_at TEXT NOT NULL",
    "deliveries": "post_id TEXT NOT NULL REFERENCES posts (id), channel TEXT NOT NULL, "
    f"state TEXT NOT NULL {one_of('state', DeliveryState)}, tries INTEGER NOT NULL, tries_left INTEGER NOT NULL, "
    "due_at TEXT NOT NULL, holder TEXT, may_have_arrived INTEGER NOT NULL, detail TEXT NOT NULL, sent_at TEXT, "
    "PRIMARY KEY (post_id, channel), CHECK ((state = 'sending') = (holder IS NOT NULL)), "
    "CHECK ((state = 'sent') = (sent_at IS NOT NULL))",
    "attempts": "post_id TEXT NOT NULL, channel TEXT NOT NULL, number INTEGER NOT NULL, started_at TEXT NOT NULL, "
    f"ended_at TEXT, state TEXT NOT NULL {one_of('state', DeliveryState)}, detail TEXT NOT NULL, "
    "PRIMARY KEY (post_id, channel, number), FOREIGN KEY (post_id, channel) REFERENCES deliveries (post_id, channel)",
}
_INDEXES = (
    "CREATE INDEX IF NOT EXISTS open_deliveries ON deliveries (channel, due_at) "
    "WHERE state NOT IN ('sent', 'given_up')",
)


def open_file(path: Path, *, timeout_s: float) -> sqlite3.Connection:
    """Open the file, made or brought up to date. The connection is in no transaction."""
    return open_tables(path, _TABLES, _INDEXES, timeout_s=timeout_s)
