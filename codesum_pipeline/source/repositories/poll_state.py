"""What was last seen of repositories' heads: one small SQLite file of the home.

Nothing here decides what is built. A lost file costs one more look at every repository; a row whose time lies in the
future, as after the clock was set back, is as good as none.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.sqlite_tables import SqliteFile, column_definitions, open_for_reading

# What is derived in one go, and lost if the process ends meanwhile.
_PORTION = 500
# Until Dagster has made a run of a request, another asker does not see it.
_REQUEST_S = 30.0


class Poll(Struct, frozen=True):
    """The last look at a repository.

    `source` says which place and ref was looked at, `trace` what a local repository's refs looked like from outside.
    `head` is the last commit that was seen, also where the last look failed with `complaint`; `failures` counts looks
    that failed in a row.
    """

    key: str
    source: str
    polled_at: float
    due_at: float
    failures: int = 0
    head: str | None = None
    complaint: str = ""
    trace: str = ""


class HostRest(Struct, frozen=True):
    """A host that asked for fewer requests, and until when nothing is asked of it."""

    host: str
    failures: int
    noted_at: float
    rests_until: float

    @property
    def lasts_s(self) -> float:
        """How long it rests from the moment when that was noted."""
        return self.rests_until - self.noted_at


class PollState(SqliteFile):
    """The open file."""

    tables: ClassVar = {
        "polls": column_definitions(Poll, key="PRIMARY KEY"),
        "hosts": column_definitions(HostRest, host="PRIMARY KEY"),
        # A number is never used twice: who has seen to a mark deletes that one, and not a later one of the same key.
        "marks": "number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE",
        "told": "key TEXT PRIMARY KEY, text TEXT NOT NULL",
        "requests": "key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, asker TEXT NOT NULL, at REAL NOT NULL",
        "notes": "kind TEXT NOT NULL, key TEXT NOT NULL, seen TEXT NOT NULL, value TEXT, PRIMARY KEY (kind, key)",
    }

    def mark_due(self, keys: Iterable[str]) -> None:
        """Have repositories looked at within seconds, whenever they would be due."""
        with self.together():
            self.connection.executemany("INSERT OR REPLACE INTO marks (key) VALUES (?)", [(key,) for key in keys])

    def marks(self) -> dict[str, int]:
        """The number of each marked key."""
        return dict(self.connection.execute("SELECT key, number FROM marks"))

    def drop_marks(self, numbers: Iterable[int]) -> None:
        """Forget marks that were seen to; one of the same key that came meanwhile stays."""
        with self.together():
            self.connection.executemany("DELETE FROM marks WHERE number = ?", [(number,) for number in numbers])

    def polls(self) -> dict[str, Poll]:
        """The last look at each repository."""
        return {poll.key: poll for poll in self.select(Poll, "FROM polls")}

    def keep_polls(self, polls: Iterable[Poll]) -> None:
        """Remember looks, each in the place of the one before."""
        self.insert("polls", *polls, or_else="OR REPLACE")

    def hosts(self) -> dict[str, HostRest]:
        """The hosts that asked for fewer requests."""
        return {rest.host: rest for rest in self.select(HostRest, "FROM hosts")}

    def keep_hosts(self, hosts: Iterable[HostRest]) -> None:
        """Remember rests; one without failures is forgotten."""
        found = list(hosts)
        self.insert("hosts", *(each for each in found if each.failures), or_else="OR REPLACE")
        self._delete("hosts", "host", [each.host for each in found if not each.failures])

    def reported_problems(self) -> dict[str, str]:
        """What was last said of repositories that something is wrong with."""
        return dict(self.connection.execute("SELECT key, text FROM told"))

    def keep_reported_problems(self, problems: Mapping[str, str]) -> None:
        """Remember what was said; an empty text is forgotten."""
        with self.together():
            rows = [(key, text) for key, text in problems.items() if text]
            self.connection.executemany("INSERT OR REPLACE INTO told (key, text) VALUES (?, ?)", rows)
        self._delete("told", "key", [key for key, text in problems.items() if not text])

    def derived(
        self,
        kind: str,
        seen: Mapping[str, str],
        derive: Callable[[Sequence[str]], Mapping[str, str | None]],
        *,
        give_up_at: float,
    ) -> dict[str, str | None]:
        """What follows from something whose identity is cheap to see, by key.

        `seen` are the identities. `derive` is asked for the keys whose identity is another than the last time, as far
        as that can be begun until `give_up_at` (`time.monotonic`); the others are left out.
        """
        rows = self.connection.execute("SELECT key, seen, value FROM notes WHERE kind = ?", (kind,))
        found = {key: value for key, noted, value in rows if seen.get(key) == noted}
        missing = [key for key in seen if key not in found]
        for start in range(0, len(missing), _PORTION):
            if time.monotonic() > give_up_at:
                break
            portion = missing[start : start + _PORTION]
            values = derive(portion)
            notes = [(kind, key, seen[key], values.get(key)) for key in portion]
            with self.together():
                self.connection.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)", notes)
            found.update((key, values.get(key)) for key in portion)
        return found

    def claim(self, requests: Mapping[str, str], asker: str, *, now: float) -> set[str]:
        """The keys of those builds (fingerprint by key) that no other asker asks for at this moment."""
        with self.together():
            rows = self.connection.execute(
                "SELECT key, fingerprint FROM requests WHERE asker != ? AND at > ? AND at <= ?",
                (asker, now - _REQUEST_S, now),
            )
            taken = {key for key, fingerprint in rows if requests.get(key) == fingerprint}
            own = [(key, fingerprint, asker, now) for key, fingerprint in requests.items() if key not in taken]
            self.connection.execute("DELETE FROM requests WHERE at <= ? OR at > ?", (now - _REQUEST_S, now))
            self.connection.executemany("INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?)", own)
        return set(requests) - taken

    def forget_others(self, keys: Iterable[str]) -> None:
        """Forget repositories that are registered no more."""
        known = set(keys)
        for table in ("polls", "marks", "told", "notes"):
            kept = [key for (key,) in self.connection.execute(f"SELECT DISTINCT key FROM {table}")]
            self._delete(table, "key", [key for key in kept if key not in known])

    def _delete(self, table: str, column: str, names: list[str]) -> None:
        if names:
            with self.together():
                self.connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(name,) for name in names])


@contextmanager
def open_poll_state(layout: HomeLayout) -> Iterator[PollState]:
    """The home's poll state, made where it is missing, and made anew where it is broken."""
    path = layout.polls
    with ExitStack() as stack:
        try:
            state = stack.enter_context(PollState.opened(path, now=utc_now))
        except BrokenStore:
            for suffix in ("", "-wal", "-shm"):
                path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
            state = stack.enter_context(PollState.opened(path, now=utc_now))
        yield state


def mark_due(layout: HomeLayout, keys: Iterable[str]) -> None:
    """Have repositories polled within seconds, as after a reported push."""
    with open_poll_state(layout) as state:
        state.mark_due(keys)


def marked_keys(layout: HomeLayout) -> list[str]:
    """The keys that are marked as due, without writing anything: for whoever looks every few seconds."""
    try:
        with open_for_reading(layout.polls, "marks") as file:
            return [key for (key,) in file.execute("SELECT key FROM marks ORDER BY number")] if file else []
    except BrokenStore:
        # The next full look makes the file anew.
        return []
