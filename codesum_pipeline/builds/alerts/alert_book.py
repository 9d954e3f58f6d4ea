"""The failing conditions, since when they fail, and what was reported about them, in one file of the home.

A condition either holds or fails: a check of a repository, its builds, its remote, a part of the daemon. The process
that reports a change records the report and its message in one transaction. Only then the message goes into the outbox,
under an id that the outbox recognises. So neither a restart nor a second process repeats it. Each change is reported
once; many changes at one time are one message:

```text
a change ── lasts settle_minutes, doubled by each alert of a day ──► is reported
many with one cause (a host)   ──► the cause is reported, and its end
more than digest_above at once ──► one message with a line for each kind
```
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.store.sqlite_tables import SqliteFile, column_definitions

ALERTS_FILE = "alerts.sqlite"
# A condition that has changed since people were notified.
UNTOLD = "is_bad <> is_told_bad"


class ConditionKind(StrEnum):
    """The subjects of conditions."""

    CHECK = "check"
    BUILDS = "builds"
    REMOTE = "remote"
    DAEMON = "daemon"


class ConditionState(Struct, frozen=True):
    """How a condition is now. `name` is the check's; `cause` is what it may share with others, as a host."""

    kind: ConditionKind
    subject: str
    is_bad: bool
    detail: str = ""
    name: str = ""
    cause: str = ""


class Condition(Struct, frozen=True):
    """The state of a condition, since when, and what people were notified of."""

    kind: ConditionKind
    name: str
    subject: str
    is_bad: bool
    since: str
    detail: str
    cause: str
    is_told_bad: bool
    told_at: str | None
    # Alerts about it so far, without those that were more than a day apart.
    tellings: int

    @property
    def title(self) -> str:
        """The condition in a few words."""
        what = {
            ConditionKind.CHECK: f": check {self.name}",
            ConditionKind.BUILDS: ": runs",
            ConditionKind.REMOTE: ": reading the repository",
        }
        return f"{self.subject}{what.get(self.kind, '')}"


class Message(Struct, frozen=True):
    """A message that is to be sent; its id never changes."""

    id: str
    subject: str
    text: str
    created_at: str


class Lateness(Struct, frozen=True):
    """Repositories whose index has become late, with since when it is behind, and those that are late no more."""

    late: dict[str, str]
    in_time: list[str]


class AlertBook(SqliteFile):
    """The open file."""

    tables: ClassVar = {
        "conditions": f"{column_definitions(Condition)}, PRIMARY KEY (kind, name, subject)",
        # Causes that are reported instead of their effects.
        "causes": "cause TEXT PRIMARY KEY, told_at TEXT NOT NULL",
        "messages": column_definitions(Message, id="PRIMARY KEY"),
        "behind": "repository TEXT PRIMARY KEY, since TEXT NOT NULL, is_late INTEGER NOT NULL",
        "failed_builds": "subject TEXT PRIMARY KEY, count INTEGER NOT NULL",
        "runs_seen": "run_id TEXT PRIMARY KEY, seen_at TEXT NOT NULL",
        "marks": "name TEXT PRIMARY KEY, value TEXT NOT NULL",
    }
    indexes = ("CREATE INDEX IF NOT EXISTS untold ON conditions (kind) WHERE " + UNTOLD,)

    def note(self, observed: Iterable[ConditionState]) -> None:
        """Record what changed. A condition that was never bad has no row."""
        seen, moment = list(observed), self.moment()
        with self.together():
            self.connection.executemany(
                "UPDATE conditions SET is_bad = 0, since = ?, detail = ? "
                "WHERE kind = ? AND name = ? AND subject = ? AND is_bad",
                [(moment, each.detail, each.kind, each.name, each.subject) for each in seen if not each.is_bad],
            )
            self.connection.executemany(
                "INSERT INTO conditions VALUES (?, ?, ?, 1, ?, ?, ?, 0, NULL, 0) "
                "ON CONFLICT DO UPDATE SET is_bad = 1, since = excluded.since, detail = excluded.detail, "
                "cause = excluded.cause WHERE NOT is_bad",
                [(each.kind, each.name, each.subject, moment, each.detail, each.cause) for each in seen if each.is_bad],
            )

    def conditions(self, which: str) -> list[Condition]:
        """The conditions for which an expression of SQL holds: `is_bad` (now), or `UNTOLD`."""
        return self.select(Condition, f"FROM conditions WHERE {which} ORDER BY kind, name, subject")

    def mark_reported(self, conditions: Sequence[Condition], *, counted: bool = True) -> None:
        """Record that people were notified. `counted`: about this very condition, not about its cause."""
        moment = self.moment()
        day_before = iso_moment(self.now() - timedelta(days=1))
        self.connection.executemany(
            "UPDATE conditions SET is_told_bad = is_bad, told_at = ?, "
            "tellings = CASE WHEN told_at >= ? THEN tellings ELSE 0 END + ? "
            "WHERE kind = ? AND name = ? AND subject = ?",
            [(moment, day_before, counted, each.kind, each.name, each.subject) for each in conditions],
        )

    def reported_causes(self) -> set[str]:
        """The causes that people were notified of."""
        return {cause for (cause,) in self.connection.execute("SELECT cause FROM causes")}

    def mark_cause(self, cause: str, *, is_bad: bool) -> None:
        """Record that people were notified of a cause, or that it is over."""
        if is_bad:
            self.connection.execute("INSERT OR IGNORE INTO causes VALUES (?, ?)", (cause, self.moment()))
        else:
            self.connection.execute("DELETE FROM causes WHERE cause = ?", (cause,))

    def note_behind(
        self, behind: Iterable[str], at_head: Iterable[str], *, late_after: Mapping[str, timedelta]
    ) -> Lateness:
        """Remember since when each repository is behind; who has become late by that, and who is so no more.

        Of repositories in neither list nothing is known, and their time goes on. `late_after` says how long each may be
        behind; one without becomes late by nothing.
        """
        moment, now = self.moment(), self.now()
        with self.together():
            known: dict[str, tuple[str, bool]] = {
                key: (since, bool(is_late)) for key, since, is_late in self.connection.execute("SELECT * FROM behind")
            }
            in_time = [key for key in at_head if key in known]
            new = [(key, moment) for key in behind if key not in known]
            late = {key: since for key, (since, is_late) in known.items() if not is_late}
            late = {key: since for key, since in late.items() if key in late_after and key not in set(in_time)}
            late = {key: since for key, since in late.items() if since <= iso_moment(now - late_after[key])}
            self.connection.executemany("DELETE FROM behind WHERE repository = ?", [(key,) for key in in_time])
            self.connection.executemany("INSERT INTO behind VALUES (?, ?, 0)", new)
            self.connection.executemany("UPDATE behind SET is_late = 1 WHERE repository = ?", [(key,) for key in late])
        return Lateness(late, [key for key in in_time if known[key][1]])

    def behind_since(self, repository: str) -> str | None:
        """Since when an index is behind; None if it is not, as far as is known."""
        row = self.connection.execute("SELECT since FROM behind WHERE repository = ?", (repository,)).fetchone()
        return row[0] if row else None

    def all_behind(self) -> dict[str, str]:
        """Since when each index is behind."""
        return dict(self.connection.execute("SELECT repository, since FROM behind"))

    def has_seen(self, run_id: str) -> bool:
        """Whether a run was counted."""
        return self.connection.execute("SELECT 1 FROM runs_seen WHERE run_id = ?", (run_id,)).fetchone() is not None

    def note_run(self, run_id: str, subject: str, *, failed: bool) -> int | None:
        """How many runs of a subject failed in a row with this one; None for a run that is counted already."""
        with self.together():
            new = self.connection.execute(
                "INSERT INTO runs_seen VALUES (?, ?) ON CONFLICT DO NOTHING", (run_id, self.moment())
            )
            if not new.rowcount:
                return None
            if not failed:
                self.connection.execute("DELETE FROM failed_builds WHERE subject = ?", (subject,))
                return 0
            self.connection.execute(
                "INSERT INTO failed_builds VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1", (subject,)
            )
            found = self.connection.execute("SELECT count FROM failed_builds WHERE subject = ?", (subject,))
            return int(found.fetchone()[0])

    def keep_only(self, repositories: set[str] | None) -> None:
        """Forget all other repositories; with None, forget nothing."""
        if repositories is None:
            return
        with self.together():
            for table, column, which in (
                ("conditions", "subject", "kind IN ('check', 'remote')"),
                ("behind", "repository", "TRUE"),
            ):
                rows = self.connection.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {which}").fetchall()
                gone = [(subject,) for (subject,) in rows if subject not in repositories]
                self.connection.executemany(f"DELETE FROM {table} WHERE {column} = ? AND {which}", gone)

    def forget_runs(self, before: datetime) -> None:
        """Forget the runs that were seen before a moment."""
        with self.together():
            self.connection.execute("DELETE FROM runs_seen WHERE seen_at < ?", (iso_moment(before),))

    def marks(self, prefix: str = "") -> dict[str, str]:
        """Named values: moments, and places where the next look goes on."""
        found = self.connection.execute(
            "SELECT name, value FROM marks WHERE substr(name, 1, ?) = ?", (len(prefix), prefix)
        )
        return dict(found.fetchall())

    def set_marks(self, marks: dict[str, str]) -> None:
        """Set some of the named values."""
        with self.together():
            self.connection.executemany("INSERT OR REPLACE INTO marks VALUES (?, ?)", marks.items())


def open_book(home: Path, *, now: Callable[[], datetime]) -> AbstractContextManager[AlertBook]:
    """The book of a home, as `SqliteFile.opened`."""
    return AlertBook.opened(home / ALERTS_FILE, now=now)
