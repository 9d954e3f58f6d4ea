"""The states of all conditions, in one file of the home.

A process that tells of a change writes down in one transaction that it is told,
and the message; only then the message goes into the outbox, under an id by which
the outbox knows it. So neither a restart nor a second process says it again.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import fields

from codesum_pipeline.alerts.conditions import Condition, ConditionKind, ConditionState
from codesum_pipeline.model.moments import iso_moment
from codesum_pipeline.store.refusals import writing
from codesum_pipeline.store.sqlite_tables import one_of, one_transaction, open_tables

ALERTS_FILE = "alerts.sqlite"
BUSY_TIMEOUT_S = 30.0
_TABLES = {
    "conditions": f"kind TEXT NOT NULL {one_of('kind', ConditionKind)}, name TEXT NOT NULL, subject TEXT NOT NULL, "
    "is_bad INTEGER NOT NULL, since TEXT NOT NULL, detail TEXT NOT NULL, cause TEXT NOT NULL, "
    "is_told_bad INTEGER NOT NULL, told_at TEXT, tellings INTEGER NOT NULL, PRIMARY KEY (kind, name, subject)",
    # Causes that are told of instead of what they cause.
    "causes": "cause TEXT PRIMARY KEY, told_at TEXT NOT NULL",
    "messages": "id TEXT PRIMARY KEY, subject TEXT NOT NULL, text TEXT NOT NULL, created_at TEXT NOT NULL",
    "behind": "repository TEXT PRIMARY KEY, since TEXT NOT NULL, is_late INTEGER NOT NULL",
    "failed_builds": "subject TEXT PRIMARY KEY, count INTEGER NOT NULL",
    "runs_seen": "run_id TEXT PRIMARY KEY, seen_at TEXT NOT NULL",
    "marks": "name TEXT PRIMARY KEY, value TEXT NOT NULL",
}
_INDEXES = ("CREATE INDEX IF NOT EXISTS untold ON conditions (kind) WHERE is_bad <> is_told_bad",)
# Where repositories are noted, as table, column and condition.
_OF_REPOSITORIES = (
    ("conditions", "subject", f"kind IN ('{ConditionKind.CHECK.value}', '{ConditionKind.REMOTE.value}')"),
    ("behind", "repository", "TRUE"),
)
_COLUMNS = ", ".join(field.name for field in fields(Condition))


class Message(Struct, frozen=True):
    """What is to be said, under an id that stays its own."""

    id: str
    subject: str
    text: str
    created_at: str


class Lateness(Struct, frozen=True):
    """Repositories whose index has become late, with since when it is behind, and those that are late no more."""

    late: dict[str, str]
    in_time: list[str]


class AlertBook:
    """The open file. Methods raise `CannotWrite` where the system refuses, else `sqlite3.Error`."""

    def __init__(self, connection: sqlite3.Connection, path: Path, now: Callable[[], datetime]) -> None:
        self._connection = connection
        self._path = path
        self.now = now

    def together(self) -> AbstractContextManager[None]:
        """One transaction for all that is written in the block."""
        return one_transaction(self._connection, self._path)

    def note(self, observed: Iterable[ConditionState]) -> None:
        """Write down what changed. What was never wrong and is right leaves no row."""
        seen = list(observed)
        bad = [each for each in seen if each.is_bad]
        good = [each for each in seen if not each.is_bad]
        moment = self.moment()
        with self.together():
            self._connection.executemany(
                "UPDATE conditions SET is_bad = 0, since = ?, detail = ? "
                "WHERE kind = ? AND name = ? AND subject = ? AND is_bad",
                [(moment, each.detail, each.kind, each.name, each.subject) for each in good],
            )
            self._connection.executemany(
                f"INSERT INTO conditions ({_COLUMNS}) VALUES (?, ?, ?, 1, ?, ?, ?, 0, NULL, 0) "
                "ON CONFLICT DO UPDATE SET is_bad = 1, since = excluded.since, detail = excluded.detail, "
                "cause = excluded.cause WHERE NOT is_bad",
                [(each.kind, each.name, each.subject, moment, each.detail, each.cause) for each in bad],
            )

    def untold(self) -> list[Condition]:
        """Conditions of which people believe what is not so any more."""
        return self._conditions("is_bad <> is_told_bad")

    def bad(self) -> list[Condition]:
        """What is wrong now."""
        return self._conditions("is_bad")

    def mark_told(self, conditions: Sequence[Condition], *, counted: bool = True) -> None:
        """People believe it now. `counted` where it was said about this very condition."""
        moment = self.moment()
        day_before = iso_moment(self.now() - timedelta(days=1))
        self._connection.executemany(
            "UPDATE conditions SET is_told_bad = is_bad, told_at = ?, "
            "tellings = CASE WHEN told_at >= ? THEN tellings ELSE 0 END + ? "
            "WHERE kind = ? AND name = ? AND subject = ?",
            [(moment, day_before, counted, each.kind, each.name, each.subject) for each in conditions],
        )

    def told_causes(self) -> set[str]:
        """The causes that people know of."""
        return {cause for (cause,) in self._connection.execute("SELECT cause FROM causes")}

    def mark_cause(self, cause: str, *, is_bad: bool) -> None:
        """People know of it now, or that it is over."""
        if is_bad:
            self._connection.execute("INSERT OR IGNORE INTO causes VALUES (?, ?)", (cause, self.moment()))
        else:
            self._connection.execute("DELETE FROM causes WHERE cause = ?", (cause,))

    def keep_message(self, message: Message) -> None:
        """Have it said."""
        self._connection.execute(
            "INSERT OR IGNORE INTO messages VALUES (?, ?, ?, ?)",
            (message.id, message.subject, message.text, message.created_at),
        )

    def messages(self) -> list[Message]:
        """What is to be said, the oldest first."""
        return [Message(*row) for row in self._connection.execute("SELECT * FROM messages ORDER BY created_at, id")]

    def drop_message(self, id_: str) -> None:
        """It is in the outbox."""
        with self.together():
            self._connection.execute("DELETE FROM messages WHERE id = ?", (id_,))

    def note_behind(self, behind: Iterable[str], at_head: Iterable[str], *, late_after: timedelta) -> Lateness:
        """Remember since when each repository is behind; who has become late by that, and who is so no more.

        Of repositories in neither list nothing is known, and their time goes on.
        """
        moment, limit = self.moment(), iso_moment(self.now() - late_after)
        with self.together():
            known: dict[str, tuple[str, bool]] = {
                key: (since, bool(is_late)) for key, since, is_late in self._connection.execute("SELECT * FROM behind")
            }
            in_time = [key for key in at_head if key in known]
            new = [(key, moment) for key in behind if key not in known]
            late = {key: since for key, (since, is_late) in known.items() if not is_late and since <= limit}
            late = {key: since for key, since in late.items() if key not in set(in_time)}
            self._connection.executemany("DELETE FROM behind WHERE repository = ?", [(key,) for key in in_time])
            self._connection.executemany("INSERT INTO behind VALUES (?, ?, 0)", new)
            self._connection.executemany("UPDATE behind SET is_late = 1 WHERE repository = ?", [(key,) for key in late])
        return Lateness(late, [key for key in in_time if known[key][1]])

    def behind_since(self, repository: str) -> str | None:
        """Since when an index is behind; None where it is not, as far as is known."""
        row = self._connection.execute("SELECT since FROM behind WHERE repository = ?", (repository,)).fetchone()
        return row[0] if row else None

    def has_seen(self, run_id: str) -> bool:
        """Whether a run is counted."""
        return self._connection.execute("SELECT 1 FROM runs_seen WHERE run_id = ?", (run_id,)).fetchone() is not None

    def note_run(self, run_id: str, subject: str, *, failed: bool) -> int | None:
        """How many runs of a subject failed in a row with this one; None for a run that is counted already."""
        with self.together():
            new = self._connection.execute(
                "INSERT INTO runs_seen VALUES (?, ?) ON CONFLICT DO NOTHING", (run_id, self.moment())
            )
            if not new.rowcount:
                return None
            if not failed:
                self._connection.execute("DELETE FROM failed_builds WHERE subject = ?", (subject,))
                return 0
            self._connection.execute(
                "INSERT INTO failed_builds VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1", (subject,)
            )
            found = self._connection.execute("SELECT count FROM failed_builds WHERE subject = ?", (subject,))
            return int(found.fetchone()[0])

    def keep_only(self, repositories: set[str] | None) -> None:
        """Forget all that was noted of other repositories; None: nothing."""
        if repositories is None:
            return
        with self.together():
            for table, column, kinds in _OF_REPOSITORIES:
                rows = self._connection.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {kinds}").fetchall()
                gone = [(subject,) for (subject,) in rows if subject not in repositories]
                self._connection.executemany(f"DELETE FROM {table} WHERE {column} = ? AND {kinds}", gone)

    def forget_runs(self, before: datetime) -> None:
        """Those that cannot be met again."""
        with self.together():
            self._connection.execute("DELETE FROM runs_seen WHERE seen_at < ?", (iso_moment(before),))

    def marks(self, prefix: str = "") -> dict[str, str]:
        """Named moments and places where a look goes on."""
        found = self._connection.execute(
            "SELECT name, value FROM marks WHERE substr(name, 1, ?) = ?", (len(prefix), prefix)
        )
        return dict(found.fetchall())

    def set_marks(self, marks: dict[str, str]) -> None:
        """Replace some of them."""
        with self.together():
            self._connection.executemany("INSERT OR REPLACE INTO marks VALUES (?, ?)", marks.items())

    def moment(self) -> str:
        """Now, as it is written down."""
        return iso_moment(self.now())

    def _conditions(self, which: str) -> list[Condition]:
        rows = self._connection.execute(f"SELECT {_COLUMNS} FROM conditions WHERE {which} ORDER BY kind, name, subject")
        return [
            Condition(
                ConditionKind(kind), name, subject, bool(bad), since, detail, cause, bool(told), told_at, tellings
            )
            for kind, name, subject, bad, since, detail, cause, told, told_at, tellings in rows
        ]


@contextmanager
def open_book(home: Path, *, now: Callable[[], datetime]) -> Iterator[AlertBook]:
    """The book of a home, which is made where there is none."""
    path = home / ALERTS_FILE
    with writing(path):
        home.mkdir(parents=True, exist_ok=True)
        connection = open_tables(path, _TABLES, _INDEXES, timeout_s=BUSY_TIMEOUT_S)
    with closing(connection):
        yield AlertBook(connection, path, now)
