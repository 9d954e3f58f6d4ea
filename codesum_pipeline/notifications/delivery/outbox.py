"""The messages to be sent and their outcome, for all repositories, in one file of the home.

Each post and channel is one delivery. A process claims it before it sends, in one transaction, and holds a lock of the
kernel while it does: nobody else sends it meanwhile, however long that takes, and what a process left that ended is
found by its lock alone, without a clock.

```text
pending ─► sending ─► sent
   ▲          ├─────► failed ──► sending …      the channel took nothing: tried again later
   │          ├─────► unknown ─► sending …      it went out, and no answer came: tried again with the same id
 retry        └─────► given_up                  refused for good, or no tries left
```

A process that ends while it is sending leaves `sending`, which the next one turns into `unknown`.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

from msgspec import Struct

from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.digest_record import PostId
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.store.atomic import explain_refused_writes
from codesum_pipeline.foundation.store.locks import is_free, take_own
from codesum_pipeline.foundation.store.sqlite_tables import SqliteFile, column_definitions, constrain_to
from codesum_pipeline.notifications.delivery.posts import Post, PostKind

OUTBOX_FILE = "outbox.sqlite"
_HOLDERS = "outbox.holders"
# A minute, four minutes, … six hours: eight tries reach over a night without a mail server.
FIRST_DELAY = timedelta(minutes=1)
_GROWTH = 4
LONGEST_DELAY = timedelta(hours=6)
# What a server asks for beyond it is not kept to.
_LONGEST_RETRY_AFTER = timedelta(days=1)
ENDED_WHILE_SENDING = "the process that was sending it ended; whether it arrived is not known"


class DeliveryState(StrEnum):
    """The state of a post on one channel."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"
    GIVEN_UP = "given_up"


# From which a delivery is tried (again).
_WAITING = "state IN ('pending', 'failed', 'unknown')"


class Delivery(Struct, frozen=True):
    """One post on one channel, as it is now. `detail` is what the channel said last, or why nothing was sent."""

    post_id: PostId
    channel: str
    state: DeliveryState
    tries: int
    tries_left: int
    due_at: str
    may_have_arrived: bool = False
    detail: str = ""
    sent_at: str | None = None


class DeliveryAttempt(Struct, frozen=True):
    """One try to send a post on a channel."""

    number: int
    started_at: str
    ended_at: str | None
    state: DeliveryState
    detail: str


class Outbox(SqliteFile):
    """The open file."""

    tables: ClassVar = {
        "posts": f"id TEXT PRIMARY KEY, kind TEXT NOT NULL {constrain_to('kind', PostKind)}, subject TEXT NOT NULL, "
        "content TEXT NOT NULL, created_at TEXT NOT NULL",
        "deliveries": column_definitions(Delivery, post_id="NOT NULL REFERENCES posts (id)")
        + ", holder TEXT, PRIMARY KEY (post_id, channel), CHECK ((state = 'sending') = (holder IS NOT NULL)), "
        "CHECK ((state = 'sent') = (sent_at IS NOT NULL))",
        "attempts": "post_id TEXT NOT NULL, channel TEXT NOT NULL, "
        + column_definitions(DeliveryAttempt)
        + ", PRIMARY KEY (post_id, channel, number), "
        "FOREIGN KEY (post_id, channel) REFERENCES deliveries (post_id, channel)",
    }
    indexes = (
        "CREATE INDEX IF NOT EXISTS open_deliveries ON deliveries (channel, due_at) "
        "WHERE state NOT IN ('sent', 'given_up')",
    )

    def add(self, post: Post, channels: Iterable[str], *, tries: int) -> bool:
        """Have a post sent on these channels; whether it is new.

        Of a post that is there the first content stays, and what was sent is not sent again.
        """
        with self.together():
            is_new = self.connection.execute(
                "INSERT INTO posts VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (post.id, post.kind, post.subject, post.content(), post.created_at),
            ).rowcount
            new = (Delivery(post.id, channel, DeliveryState.PENDING, 0, tries, self.moment()) for channel in channels)
            self.insert("deliveries", *new, or_else="OR IGNORE")
        return bool(is_new)

    def due_channels(self) -> list[str]:
        """The channels on which something can be sent now."""
        found = self.connection.execute(
            f"SELECT DISTINCT channel FROM deliveries WHERE {_WAITING} AND due_at <= ? ORDER BY channel",
            (self.moment(),),
        )
        return [channel for (channel,) in found]

    def claim(self, channel: str, holder: str) -> tuple[Post, Delivery] | None:
        """Claim the oldest post that is due on a channel for `holder`; None if none is due."""
        with self.together():
            found = self.connection.execute(
                "SELECT post_id FROM deliveries JOIN posts ON id = post_id "
                f"WHERE channel = ? AND {_WAITING} AND due_at <= ? ORDER BY created_at, post_id LIMIT 1",
                (channel, self.moment()),
            ).fetchone()
            if found is None:
                return None
            self.connection.execute(
                "UPDATE deliveries SET state = 'sending', holder = ?, tries = tries + 1, tries_left = tries_left - 1 "
                "WHERE post_id = ? AND channel = ?",
                (holder, found[0], channel),
            )
            self.connection.execute(
                "INSERT INTO attempts (post_id, channel, number, started_at, state, detail) "
                "SELECT post_id, channel, tries, ?, state, '' FROM deliveries WHERE post_id = ? AND channel = ?",
                (self.moment(), found[0], channel),
            )
            return self.post(found[0]), self.deliveries(post=found[0], channel=channel)[0]

    def mark_failed(
        self, claimed: Delivery, detail: str, *, may_have_arrived: bool, retry_after_s: float | None = None
    ) -> None:
        """The channel did not take it, or did not say that it had. It is tried again while there are tries left.

        Where the channel said when, everything waits for that which is to be sent there.
        """
        delay = min(FIRST_DELAY * _GROWTH ** min(claimed.tries - 1, 10), LONGEST_DELAY)
        channel_delay = min(timedelta(seconds=retry_after_s or 0), _LONGEST_RETRY_AFTER)
        due = iso_moment(self.now() + max(delay, channel_delay))
        state = DeliveryState.UNKNOWN if may_have_arrived else DeliveryState.FAILED
        with self.together():
            self.end_try(claimed, state, detail, due_at=due)
            if channel_delay:
                self.connection.execute(
                    f"UPDATE deliveries SET due_at = max(due_at, ?) WHERE channel = ? AND {_WAITING}",
                    (iso_moment(self.now() + channel_delay), claimed.channel),
                )

    def say_why_it_waits(self, channel: str, detail: str) -> None:
        """Note why nothing can be sent on a channel; no try is spent."""
        with self.together():
            self.connection.execute(
                f"UPDATE deliveries SET detail = ? WHERE channel = ? AND {_WAITING}", (detail, channel)
            )

    def recover(self) -> list[Delivery]:
        """Mark what ended processes were sending as `unknown`; returns these deliveries."""
        rows = self.connection.execute("SELECT DISTINCT holder FROM deliveries WHERE state = 'sending'").fetchall()
        dead_holders = [holder for (holder,) in rows if is_free(self._lock(holder)) or not self._lock(holder).exists()]
        with self.together():
            condition = f"FROM deliveries WHERE state = 'sending' AND holder IN ({', '.join('?' * len(dead_holders))})"
            abandoned = self.select(Delivery, condition, dead_holders)
            for claimed in abandoned:
                self.end_try(claimed, DeliveryState.UNKNOWN, ENDED_WHILE_SENDING, due_at=self.moment())
        for holder in dead_holders:
            self._lock(holder).unlink(missing_ok=True)
        return abandoned

    def retry(self, post: PostId, *, channel: str | None = None, tries: int) -> list[Delivery]:
        """Try again what was given up, as if it were new; raises `ConfigurationError` if nothing was given up."""
        self.post(post)
        with self.together():
            given_up = [each for each in self.deliveries(post=post, channel=channel) if each.state == "given_up"]
            for each in given_up:
                self.connection.execute(
                    "UPDATE deliveries SET state = 'pending', tries_left = ?, due_at = ? "
                    "WHERE post_id = ? AND channel = ?",
                    (tries, self.moment(), post, each.channel),
                )
        if not given_up:
            where = f"on channel {channel!r}" if channel else "on any channel"
            raise ConfigurationError(f"post {post!r} was not given up {where}: there is nothing to try again")
        return given_up

    def post(self, id_: str) -> Post:
        """A post by its id; raises `ConfigurationError` for an unknown id."""
        found = self.connection.execute("SELECT kind, created_at, content FROM posts WHERE id = ?", (id_,)).fetchone()
        if found is None:
            raise ConfigurationError(f"the outbox has no post {id_!r}: `codesum digest outbox` lists them")
        kind, created_at, content = found
        return convert({**json.loads(content), "id": id_, "kind": kind, "created_at": created_at}, Post)

    def deliveries(
        self, *, post: str | None = None, channel: str | None = None, states: Sequence[DeliveryState] = ()
    ) -> list[Delivery]:
        """Deliveries, the newest posts first."""
        is_in = f"AND state IN ({', '.join('?' * len(states))})" if states else ""
        return self.select(
            Delivery,
            "FROM deliveries JOIN posts ON id = post_id WHERE coalesce(?1, post_id) = post_id "
            f"AND coalesce(?2, channel) = channel {is_in} ORDER BY created_at DESC, post_id, channel",
            (post, channel, *states),
        )

    def attempts(self, post: PostId, channel: str) -> list[DeliveryAttempt]:
        """Every try to send a post on a channel, the first one first."""
        of_delivery = "FROM attempts WHERE post_id = ? AND channel = ? ORDER BY number"
        return self.select(DeliveryAttempt, of_delivery, (post, channel))

    @contextmanager
    def holding(self) -> Iterator[str]:
        """A holder that counts as alive until the block or this process ends."""
        holder = uuid4().hex
        lock = self._lock(holder)
        with explain_refused_writes(lock):
            lock.parent.mkdir(parents=True, exist_ok=True)
            handle = take_own(lock)
        if handle is None:
            raise ConfigurationError(f"{lock.parent} is on a disk without locks: keep the home on one that has them")
        try:
            yield holder
        finally:
            lock.unlink(missing_ok=True)
            os.close(handle)

    def end_try(self, claimed: Delivery, state: DeliveryState, detail: str, *, due_at: str = "") -> None:
        """Record what became of a try. What has no tries left is given up, and what may once have arrived stays so."""
        moment, key = self.moment(), (claimed.post_id, claimed.channel)
        ends = DeliveryState.GIVEN_UP if state is not DeliveryState.SENT and claimed.tries_left <= 0 else state
        may_have_arrived = claimed.may_have_arrived or state is DeliveryState.UNKNOWN
        with self.together():
            self.connection.execute(
                "UPDATE deliveries SET state = ?, holder = NULL, may_have_arrived = ?, detail = ?, "
                "due_at = max(due_at, ?), sent_at = ? WHERE post_id = ? AND channel = ? AND state = 'sending'",
                (ends, may_have_arrived, detail, due_at, moment if ends is DeliveryState.SENT else None, *key),
            )
            self.connection.execute(
                "UPDATE attempts SET ended_at = ?, state = ?, detail = ? WHERE post_id = ? AND channel = ? "
                "AND ended_at IS NULL",
                (moment, state, detail, *key),
            )

    def _lock(self, holder: str) -> Path:
        return self.path.with_name(_HOLDERS) / holder


def open_outbox(home: Path, *, now: Callable[[], datetime]) -> AbstractContextManager[Outbox]:
    """The outbox of a home, as `SqliteFile.opened`."""
    return Outbox.opened(home / OUTBOX_FILE, now=now)
