"""What is to be sent, and what became of it, for all repositories, in one file of the home.

Each post and channel is one delivery. A process claims it before it sends, in
one transaction, and holds a lock of the kernel while it does: nobody else sends
it meanwhile, however long that takes, and what a process left that ended is
found by its lock alone, without a clock.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

from msgspec import Struct

from codesum_pipeline.delivery.posts import Post, read_post
from codesum_pipeline.delivery.schema import WAITING, DeliveryState, open_file
from codesum_pipeline.model.digests import PostId
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.moments import iso_moment
from codesum_pipeline.store.locks import is_free, take_own
from codesum_pipeline.store.refusals import writing
from codesum_pipeline.store.sqlite_tables import one_transaction

OUTBOX_FILE = "outbox.sqlite"
_HOLDERS = "outbox.holders"
BUSY_TIMEOUT_S = 30.0
# A minute, four minutes, … six hours: eight tries reach over a night without a mail server.
FIRST_DELAY = timedelta(minutes=1)
_GROWTH = 4
LONGEST_DELAY = timedelta(hours=6)
# What a server asks for beyond it is not kept to.
_LONGEST_RETRY_AFTER = timedelta(days=1)
ENDED_WHILE_SENDING = "the process that was sending it ended; whether it arrived is not known"
_DELIVERY = "post_id, channel, state, tries, tries_left, due_at, may_have_arrived, detail, sent_at"
_WAITING = ", ".join(repr(state.value) for state in WAITING)


class Delivery(Struct, frozen=True):
    """One post on one channel, as it is now. `detail` is what the channel said last, or why nothing was sent."""

    post_id: PostId
    channel: str
    state: DeliveryState
    tries: int
    tries_left: int
    due_at: str
    may_have_arrived: bool
    detail: str
    sent_at: str | None


class DeliveryAttempt(Struct, frozen=True):
    """One try to send a post on a channel."""

    number: int
    started_at: str
    ended_at: str | None
    state: DeliveryState
    detail: str


class Outbox:
    """The open file. Methods raise `CannotWrite` where the system refuses, else `sqlite3.Error`."""

    def __init__(self, connection: sqlite3.Connection, path: Path, now: Callable[[], datetime]) -> None:
        self._connection = connection
        self._path = path
        self._now = now

    def add(self, post: Post, channels: Iterable[str], *, tries: int) -> bool:
        """Have a post sent on these channels; whether it is new.

        Of a post that is there the first content stays, and what was sent is not sent again.
        """
        with self._together():
            is_new = self._connection.execute(
                "INSERT INTO posts VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (post.id, post.kind, post.subject, post.content(), post.created_at),
            ).rowcount
            self._connection.executemany(
                "INSERT INTO deliveries VALUES (?, ?, 'pending', 0, ?, ?, NULL, 0, '', NULL) ON CONFLICT DO NOTHING",
                [(post.id, channel, tries, self._moment()) for channel in channels],
            )
        return bool(is_new)

    def due_channels(self) -> list[str]:
        """The channels on which something can be sent now."""
        found = self._connection.execute(
            f"SELECT DISTINCT channel FROM deliveries WHERE state IN ({_WAITING}) AND due_at <= ? ORDER BY channel",
            (self._moment(),),
        )
        return [channel for (channel,) in found]

    def claim(self, channel: str, holder: str) -> tuple[Post, Delivery] | None:
        """The oldest post that is due on a channel, from now on in the hands of `holder`; None where none is."""
        with self._together():
            found = self._connection.execute(
                "SELECT post_id FROM deliveries JOIN posts ON id = post_id "
                f"WHERE channel = ? AND state IN ({_WAITING}) AND due_at <= ? ORDER BY created_at, post_id LIMIT 1",
                (channel, self._moment()),
            ).fetchone()
            if found is None:
                return None
            self._connection.execute(
                "UPDATE deliveries SET state = 'sending', holder = ?, tries = tries + 1, tries_left = tries_left - 1 "
                "WHERE post_id = ? AND channel = ?",
                (holder, found[0], channel),
            )
            self._connection.execute(
                "INSERT INTO attempts SELECT post_id, channel, tries, ?, NULL, 'sending', '' FROM deliveries "
                "WHERE post_id = ? AND channel = ?",
                (self._moment(), found[0], channel),
            )
            return self.post(found[0]), self.deliveries(post=found[0], channel=channel)[0]

    def mark_sent(self, claimed: Delivery, detail: str) -> None:
        """The channel took it."""
        self._end(claimed, DeliveryState.SENT, detail)

    def mark_refused(self, claimed: Delivery, detail: str) -> None:
        """The channel will never take it."""
        self._end(claimed, DeliveryState.GIVEN_UP, detail)

    def mark_failed(
        self, claimed: Delivery, detail: str, *, may_have_arrived: bool, retry_after_s: float | None = None
    ) -> None:
        """The channel did not take it, or did not say that it had. It is tried again while there are tries left.

        Where the channel said when, everything waits for that which is to be sent there.
        """
        delay = min(FIRST_DELAY * _GROWTH ** min(claimed.tries - 1, 10), LONGEST_DELAY)
        asked = min(timedelta(seconds=retry_after_s or 0), _LONGEST_RETRY_AFTER)
        due = iso_moment(self._now() + max(delay, asked))
        state = DeliveryState.UNKNOWN if may_have_arrived else DeliveryState.FAILED
        with self._together():
            self._end(claimed, state, detail, due_at=due)
            if asked:
                self._connection.execute(
                    f"UPDATE deliveries SET due_at = max(due_at, ?) WHERE channel = ? AND state IN ({_WAITING})",
                    (iso_moment(self._now() + asked), claimed.channel),
                )

    def say_why_it_waits(self, channel: str, detail: str) -> None:
        """Note why nothing can be sent on a channel; no try is spent."""
        with self._together():
            self._connection.execute(
                f"UPDATE deliveries SET detail = ? WHERE channel = ? AND state IN ({_WAITING})", (detail, channel)
            )

    def recover(self) -> list[Delivery]:
        """Take back what processes held that ended; what became of it is not known."""
        rows = self._connection.execute("SELECT DISTINCT holder FROM deliveries WHERE state = 'sending'").fetchall()
        gone = [holder for (holder,) in rows if self._has_ended(holder)]
        left: list[Delivery] = []
        with self._together():
            for holder in gone:
                for post, channel in self._connection.execute(
                    "SELECT post_id, channel FROM deliveries WHERE state = 'sending' AND holder = ?", (holder,)
                ).fetchall():
                    left += self.deliveries(post=post, channel=channel)
            for claimed in left:
                self._end(claimed, DeliveryState.UNKNOWN, ENDED_WHILE_SENDING, due_at=self._moment())
        for holder in gone:
            self._lock(holder).unlink(missing_ok=True)
        return left

    def retry(self, post: PostId, *, channel: str | None = None, tries: int) -> list[Delivery]:
        """Try what was given up again, as if it were new; raises `ConfigurationError` where nothing was."""
        self.post(post)
        with self._together():
            given_up = [each for each in self.deliveries(post=post, channel=channel) if each.state == "given_up"]
            for each in given_up:
                self._connection.execute(
                    "UPDATE deliveries SET state = 'pending', tries_left = ?, due_at = ? "
                    "WHERE post_id = ? AND channel = ?",
                    (tries, self._moment(), post, each.channel),
                )
        if not given_up:
            where = f"on channel {channel!r}" if channel else "on any channel"
            raise ConfigurationError(f"post {post!r} was not given up {where}: there is nothing to try again")
        return given_up

    def post(self, id_: str) -> Post:
        """A post; raises `ConfigurationError` for an id that none has."""
        row = self._connection.execute(
            "SELECT id, kind, created_at, content FROM posts WHERE id = ?", (id_,)
        ).fetchone()
        if row is None:
            raise ConfigurationError(f"the outbox has no post {id_!r}: `codesum digest outbox` lists them")
        return read_post(*row)

    def deliveries(
        self, *, post: str | None = None, channel: str | None = None, states: Sequence[DeliveryState] = ()
    ) -> list[Delivery]:
        """Deliveries, the newest posts first."""
        marks = ", ".join("?" * len(states))
        conditions = ["(? IS NULL OR post_id = ?)", "(? IS NULL OR channel = ?)"]
        conditions += [f"state IN ({marks})"] if states else []
        rows = self._connection.execute(
            f"SELECT {_DELIVERY} FROM deliveries JOIN posts ON id = post_id WHERE {' AND '.join(conditions)} "
            "ORDER BY created_at DESC, post_id, channel",
            (post, post, channel, channel, *states),
        )
        return [
            Delivery(PostId(id_), name, DeliveryState(state), tries, left, due, bool(may), detail, sent)
            for id_, name, state, tries, left, due, may, detail, sent in rows
        ]

    def attempts(self, post: PostId, channel: str) -> list[DeliveryAttempt]:
        """Every try to send a post on a channel, the first one first."""
        rows = self._connection.execute(
            "SELECT number, started_at, ended_at, state, detail FROM attempts WHERE post_id = ? AND channel = ? "
            "ORDER BY number",
            (post, channel),
        )
        return [
            DeliveryAttempt(number, begun, ended, DeliveryState(state), said)
            for number, begun, ended, state, said in rows
        ]

    @contextmanager
    def holding(self) -> Iterator[str]:
        """A holder that counts as alive until the block or this process ends."""
        holder = uuid4().hex
        lock = self._lock(holder)
        with writing(lock):
            lock.parent.mkdir(parents=True, exist_ok=True)
            handle = take_own(lock)
        if handle is None:
            raise ConfigurationError(f"{lock.parent} is on a disk without locks: keep the home on one that has them")
        try:
            yield holder
        finally:
            lock.unlink(missing_ok=True)
            os.close(handle)

    def _end(self, claimed: Delivery, state: DeliveryState, detail: str, *, due_at: str = "") -> None:
        """Out of `sending`. What has no tries left is given up, and what may once have arrived stays so."""
        moment, key = self._moment(), (claimed.post_id, claimed.channel)
        ends = DeliveryState.GIVEN_UP if state in WAITING and claimed.tries_left <= 0 else state
        may_have_arrived = claimed.may_have_arrived or state is DeliveryState.UNKNOWN
        with self._together():
            self._connection.execute(
                "UPDATE deliveries SET state = ?, holder = NULL, may_have_arrived = ?, detail = ?, "
                "due_at = max(due_at, ?), sent_at = ? WHERE post_id = ? AND channel = ? AND state = 'sending'",
                (ends, may_have_arrived, detail, due_at, moment if ends is DeliveryState.SENT else None, *key),
            )
            self._connection.execute(
                "UPDATE attempts SET ended_at = ?, state = ?, detail = ? WHERE post_id = ? AND channel = ? "
                "AND ended_at IS NULL",
                (moment, state, detail, *key),
            )

    def _has_ended(self, holder: str) -> bool:
        lock = self._lock(holder)
        return is_free(lock) or not lock.exists()

    def _lock(self, holder: str) -> Path:
        return self._path.with_name(_HOLDERS) / holder

    def _together(self) -> AbstractContextManager[None]:
        return one_transaction(self._connection, self._path)

    def _moment(self) -> str:
        return iso_moment(self._now())


@contextmanager
def open_outbox(home: Path, *, now: Callable[[], datetime]) -> Iterator[Outbox]:
    """The outbox of a home, which is made where there is none."""
    path = home / OUTBOX_FILE
    with writing(path):
        home.mkdir(parents=True, exist_ok=True)
        connection = open_file(path, timeout_s=BUSY_TIMEOUT_S)
    with closing(connection):
        yield Outbox(connection, path, now)
