"""What is known of repositories' heads between two looks: one small SQLite file of the home.

Nothing here decides what is built. A lost file costs one more look at every
repository; a row whose time lies in the future, as after the clock was set
back, is as good as none.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import astuple, fields

from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.refusals import writing
from codesum_pipeline.store.sqlite_tables import one_transaction, open_tables

BUSY_TIMEOUT_S = 30.0
# What is derived in one go, and lost if the process ends meanwhile.
_PORTION = 500
# Until Dagster has made a run of a request, another asker does not see it.
_REQUEST_S = 30.0

_TABLES = {
    "polls": "key TEXT PRIMARY KEY, source TEXT NOT NULL, polled_at REAL NOT NULL, due_at REAL NOT NULL, "
    "failures INTEGER NOT NULL, head TEXT, complaint TEXT NOT NULL, trace TEXT NOT NULL",
    "hosts": "host TEXT PRIMARY KEY, failures INTEGER NOT NULL, noted_at REAL NOT NULL, rests_until REAL NOT NULL",
    # A number is never used twice: who has seen to a mark deletes that one, and not a later one of the same key.
    "marks": "number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE",
    "told": "key TEXT PRIMARY KEY, text TEXT NOT NULL",
    "requests": "key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, asker TEXT NOT NULL, at REAL NOT NULL",
    "notes": "kind TEXT NOT NULL, key TEXT NOT NULL, seen TEXT NOT NULL, value TEXT, PRIMARY KEY (kind, key)",
}


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


class PollState:
    """The open file. Methods raise `sqlite3.Error`, or `CannotWrite` where the system refuses."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def mark_due(self, keys: Iterable[str]) -> None:
        """Have repositories looked at within seconds, whenever they would be due."""
        with one_transaction(self._connection, self._path):
            self._connection.executemany("INSERT OR REPLACE INTO marks (key) VALUES (?)", [(key,) for key in keys])

    def marks(self) -> dict[str, int]:
        """The number of each marked key."""
        return dict(self._connection.execute("SELECT key, number FROM marks"))

    def drop_marks(self, numbers: Iterable[int]) -> None:
        """Forget marks that were seen to; one of the same key that came meanwhile stays."""
        with one_transaction(self._connection, self._path):
            self._connection.executemany("DELETE FROM marks WHERE number = ?", [(number,) for number in numbers])

    def polls(self) -> dict[str, Poll]:
        """The last look at each repository."""
        rows = self._connection.execute(f"SELECT {_columns(Poll)} FROM polls")
        return {row[0]: Poll(*row) for row in rows}

    def keep_polls(self, polls: Iterable[Poll]) -> None:
        """Remember looks, each in the place of the one before."""
        self._keep("polls", polls)

    def hosts(self) -> dict[str, HostRest]:
        """The hosts that asked for fewer requests."""
        rows = self._connection.execute(f"SELECT {_columns(HostRest)} FROM hosts")
        return {row[0]: HostRest(*row) for row in rows}

    def keep_hosts(self, hosts: Iterable[HostRest]) -> None:
        """Remember rests; one without failures is forgotten."""
        found = list(hosts)
        self._keep("hosts", [each for each in found if each.failures])
        self._delete("hosts", "host", [each.host for each in found if not each.failures])

    def told(self) -> dict[str, str]:
        """What was last said of repositories that something is wrong with."""
        return dict(self._connection.execute("SELECT key, text FROM told"))

    def keep_told(self, told: Mapping[str, str]) -> None:
        """Remember what was said; an empty text is forgotten."""
        with one_transaction(self._connection, self._path):
            said = [(key, text) for key, text in told.items() if text]
            self._connection.executemany("INSERT OR REPLACE INTO told (key, text) VALUES (?, ?)", said)
        self._delete("told", "key", [key for key, text in told.items() if not text])

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
        rows = self._connection.execute("SELECT key, seen, value FROM notes WHERE kind = ?", (kind,))
        found = {key: value for key, noted, value in rows if seen.get(key) == noted}
        missing = [key for key in seen if key not in found]
        for start in range(0, len(missing), _PORTION):
            if time.monotonic() > give_up_at:
                break
            portion = missing[start : start + _PORTION]
            values = derive(portion)
            notes = [(kind, key, seen[key], values.get(key)) for key in portion]
            with one_transaction(self._connection, self._path):
                self._connection.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)", notes)
            found.update((key, values.get(key)) for key in portion)
        return found

    def claim(self, requests: Mapping[str, str], asker: str, *, now: float) -> set[str]:
        """The keys of those builds (fingerprint by key) that no other asker asks for at this moment."""
        with one_transaction(self._connection, self._path):
            rows = self._connection.execute(
                "SELECT key, fingerprint FROM requests WHERE asker != ? AND at > ? AND at <= ?",
                (asker, now - _REQUEST_S, now),
            )
            taken = {key for key, fingerprint in rows if requests.get(key) == fingerprint}
            own = [(key, fingerprint, asker, now) for key, fingerprint in requests.items() if key not in taken]
            self._connection.execute("DELETE FROM requests WHERE at <= ? OR at > ?", (now - _REQUEST_S, now))
            self._connection.executemany("INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?)", own)
        return set(requests) - taken

    def forget_others(self, keys: Iterable[str]) -> None:
        """Forget repositories that are registered no more."""
        known = set(keys)
        for table in ("polls", "marks", "told", "notes"):
            kept = [key for (key,) in self._connection.execute(f"SELECT DISTINCT key FROM {table}")]
            self._delete(table, "key", [key for key in kept if key not in known])

    def _keep(self, table: str, rows: Iterable[Poll] | Iterable[HostRest]) -> None:
        values = [astuple(row) for row in rows]
        if values:
            holes = ", ".join("?" * len(values[0]))
            with one_transaction(self._connection, self._path):
                self._connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({holes})", values)

    def _delete(self, table: str, column: str, names: list[str]) -> None:
        if names:
            with one_transaction(self._connection, self._path):
                self._connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(name,) for name in names])


@contextmanager
def open_poll_state(layout: HomeLayout) -> Iterator[PollState]:
    """The home's poll state, made where it is missing, and made anew where it is broken."""
    path = layout.polls
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path.parent, called=f"the poll state {path}"):
        try:
            connection = open_tables(path, _TABLES, (), timeout_s=BUSY_TIMEOUT_S)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            for suffix in ("", "-wal", "-shm"):
                path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
            connection = open_tables(path, _TABLES, (), timeout_s=BUSY_TIMEOUT_S)
        with closing(connection):
            yield PollState(connection, path)


def mark_due(layout: HomeLayout, keys: Iterable[str]) -> None:
    """Have repositories looked at within seconds, as after a push that somebody told of."""
    with open_poll_state(layout) as state:
        state.mark_due(keys)


def marked_keys(layout: HomeLayout) -> list[str]:
    """The keys that are marked as due, without writing anything: for whoever looks every few seconds."""
    if not layout.polls.exists():
        return []
    try:
        with closing(sqlite3.connect(f"{layout.polls.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return [key for (key,) in connection.execute("SELECT key FROM marks ORDER BY number")]
    except sqlite3.DatabaseError:
        # The next full look makes the file anew.
        return []


def _columns(row: type[Poll] | type[HostRest]) -> str:
    return ", ".join(field.name for field in fields(row))
