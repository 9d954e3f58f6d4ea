"""Matches that wait for their digest, ticks and digests, of all repositories, in one file of the home.

Of a document there is one pending match for each intent, however often it changed:
from what it was before the first of these changes to what it is after the last.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import astuple, fields, replace

from codesum_pipeline.digests.rows import (
    DigestKind,
    DigestRow,
    KeptMatch,
    TickRow,
    change_as_json,
    digest_values,
    is_undone,
    read_change,
    read_digest,
    read_tick,
    storable,
)
from codesum_pipeline.digests.schema import open_file
from codesum_pipeline.model.documents import CompactionRecord
from codesum_pipeline.model.errors import BrokenStore, CannotWrite, ConfigurationError
from codesum_pipeline.model.intents import DocumentChange, IntentMatch
from codesum_pipeline.model.moments import iso_moment
from codesum_pipeline.store.refusals import writing
from codesum_pipeline.store.sqlite_tables import one_transaction

BUSY_TIMEOUT_S = 30.0
# A digest has the citations of its matches for ever; what they held besides, and ticks, are for finding faults.
DETAILS_KEPT = timedelta(days=90)
_DIGEST = ", ".join(field.name for field in fields(DigestRow))
_ABOUT = "EXISTS (SELECT 1 FROM json_each(digests.repositories) WHERE value = ?1)"
_TICK = ", ".join(field.name for field in fields(TickRow))
_COMPACTION = ", ".join(field.name for field in fields(CompactionRecord))
_MARKS = {row: ", ".join("?" * len(fields(row))) for row in (DigestRow, TickRow, CompactionRecord)}


class PurgeCounts(Struct, frozen=True):
    """How much of a repository was deleted."""

    matches: int
    digests: int


class DigestStore:
    """The open file. Methods raise `CannotWrite` where the system refuses, else `sqlite3.Error`."""

    def __init__(self, connection: sqlite3.Connection, path: Path, now: Callable[[], datetime]) -> None:
        self._connection = connection
        self.path = path
        self._now = now

    def add_matches(
        self,
        matches: Iterable[IntentMatch],
        *,
        changes: Iterable[DocumentChange] = (),
        repository: str | None = None,
        comparison: str | None = None,
    ) -> None:
        """Keep matches until the digests of their intents.

        `changes` are all those that were compared: what is pending follows its document, also where the newest change
        of it matches no more. What was kept of a `repository` under the same `comparison` last is not kept twice.
        """
        with self.together():
            if comparison is not None and not self._is_new(repository or "", comparison):
                return
            scored = {(each.change.repository, each.change.document_id, each.intent_name): each for each in matches}
            for change in changes:
                for intent in self._waiting_for(change):
                    key = (change.repository, change.document_id, intent)
                    scored.setdefault(key, IntentMatch(intent, change, score=None))
            for match in scored.values():
                self._keep(match)

    def pending(self, intent_name: str, repository: str | None = None) -> list[KeptMatch]:
        """What waits for the next digest of an intent, of one repository or of all, in the order of repository and
        document."""
        rows = self._connection.execute(
            "SELECT id, intent_name, change, score, matched_at FROM matches WHERE digest_id IS NULL AND NOT is_undone "
            "AND intent_name = ?1 AND coalesce(?2, repository) = repository ORDER BY repository, document_id",
            (intent_name, repository),
        )
        return [
            KeptMatch(id_, IntentMatch(intent, read_change(change), score), at)
            for id_, intent, change, score, at in rows
        ]

    def has_pending(self, intent_name: str, repository: str | None = None) -> bool:
        """Whether something waits for the next digest of an intent, of one repository or of any."""
        found = self._connection.execute(
            "SELECT 1 FROM matches WHERE digest_id IS NULL AND NOT is_undone AND intent_name = ?1 "
            "AND coalesce(?2, repository) = repository LIMIT 1",
            (intent_name, repository),
        )
        return found.fetchone() is not None

    def count_pending(self, repository: str | None = None) -> dict[str, int]:
        """How many matches wait for each intent that has some, by its name."""
        rows = self._connection.execute(
            "SELECT intent_name, count(*) FROM matches WHERE digest_id IS NULL AND NOT is_undone "
            "AND coalesce(?, repository) = repository GROUP BY intent_name ORDER BY intent_name",
            (repository,),
        )
        return dict(rows.fetchall())

    def forget(self, intent_name: str) -> int:
        """Delete what waits for an intent, how much that was; its digests and ticks stay."""
        with self.together():
            self._connection.execute("DELETE FROM schedules WHERE intent_name = ?", (intent_name,))
            return self._connection.execute(
                "DELETE FROM matches WHERE digest_id IS NULL AND intent_name = ?", (intent_name,)
            ).rowcount

    def purge(self, repository: str) -> PurgeCounts:
        """Delete all that is of a repository alone. A digest of several repositories stays."""
        with self.together():
            matches = self._connection.execute("DELETE FROM matches WHERE repository = ?", (repository,)).rowcount
            digests = self._connection.execute(
                "DELETE FROM digests WHERE repositories = ?", (json.dumps([repository]),)
            ).rowcount
            for table in ("ticks", "comparisons"):
                self._connection.execute(f"DELETE FROM {table} WHERE repository = ?", (repository,))
        return PurgeCounts(matches, digests)

    def record(
        self, tick: TickRow | None, digest: DigestRow | None = None, *, handled: Sequence[KeptMatch] = ()
    ) -> None:
        """Write down a tick, a digest and the matches that it handles, all or nothing.

        Of a document that changed since its match was read what is newer stays pending.
        """
        with self.together():
            if digest is not None:
                self._connection.execute(f"INSERT INTO digests VALUES ({_MARKS[DigestRow]})", digest_values(digest))
                for kept in handled:
                    self._handle(kept, digest.id)
            if tick is not None:
                values = [getattr(tick, field.name) for field in fields(TickRow)]
                self._connection.execute(
                    f"INSERT INTO ticks VALUES ({_MARKS[TickRow]})", [storable(value) for value in values]
                )
                if tick.due_at is not None:
                    self.mark_served(tick.intent_name, tick.due_at)
                self._sweep(tick.intent_name)

    def mark_queued(self, digest_id: str) -> None:
        """A digest that was written is in the outbox."""
        with self.together():
            self._connection.execute(
                "UPDATE digests SET state = 'queued' WHERE id = ? AND state = 'written'", (digest_id,)
            )

    def mark_told(self, digest_id: str) -> None:
        """The hooks that hear of a digest were called."""
        with self.together():
            self._connection.execute("UPDATE digests SET told_at = ? WHERE id = ?", (self._moment(), digest_id))

    def unfinished(self, intent_name: str | None = None) -> list[DigestRow]:
        """Digests that are not in the outbox yet, or of which the hooks have not heard, the oldest first."""
        return self._digests(
            "(state = 'written' OR told_at IS NULL) AND state <> 'vetoed' AND coalesce(?, intent_name) = intent_name",
            (intent_name,),
        )

    def digests(
        self,
        intent: str | None = None,
        since: str | None = None,
        until: str | None = None,
        *,
        kind: DigestKind | None = None,
    ) -> list[DigestRow]:
        """Digests, the oldest first, of one intent or all, made from `since` on and before `until` (ISO 8601, UTC)."""
        return self._digests(
            "coalesce(?1, intent_name) = intent_name AND created_at >= coalesce(?2, '') "
            "AND (?3 IS NULL OR created_at < ?3) AND coalesce(?4, kind) = kind",
            (intent, since, until, kind),
        )

    def digest(self, id_: str) -> DigestRow:
        """A digest; raises `ConfigurationError` for an id that none has."""
        found = self._digests("id = ?", (id_,))
        if not found:
            raise ConfigurationError(f"there is no digest {id_!r}: `codesum digest list` shows those that there are")
        return found[0]

    def newest(self, repository: str | None = None, *, limit: int) -> list[DigestRow]:
        """The last digests about a repository, or of all, newest first."""
        found = self._connection.execute(
            f"SELECT {_DIGEST} FROM digests WHERE ?1 IS NULL OR {_ABOUT} ORDER BY created_at DESC, rowid DESC LIMIT ?2",
            (repository, limit),
        )
        return [read_digest(values) for values in found]

    def count(self, repository: str | None = None) -> int:
        """How many digests there are, about a repository or at all."""
        found = self._connection.execute(f"SELECT count(*) FROM digests WHERE ?1 IS NULL OR {_ABOUT}", (repository,))
        return int(found.fetchone()[0])

    def served_at(self, intent_name: str) -> str | None:
        """The last moment of an intent's schedule that had its tick; of a new intent, since when it is known.

        None where it is not known at all.
        """
        found = self._connection.execute(
            "SELECT coalesce((SELECT served_at FROM schedules WHERE intent_name = ?1), "
            "(SELECT min(matched_at) FROM matches WHERE digest_id IS NULL AND intent_name = ?1))",
            (intent_name,),
        ).fetchone()
        return None if found[0] is None else str(found[0])

    def mark_served(self, intent_name: str, moment: str) -> None:
        """No moment of an intent's schedule up to this one has a tick any more."""
        with self.together():
            self._connection.execute(
                "INSERT INTO schedules VALUES (?, ?) ON CONFLICT DO UPDATE SET served_at = excluded.served_at",
                (intent_name, moment),
            )

    def matches_of(self, digest_id: str) -> list[IntentMatch]:
        """The matches that a digest handled, in the order of repository and document; none where they are forgotten."""
        rows = self._connection.execute(
            "SELECT intent_name, change, score FROM matches WHERE digest_id = ? ORDER BY repository, document_id",
            (digest_id,),
        )
        return [IntentMatch(intent, read_change(change), score) for intent, change, score in rows]

    def compactions(self) -> list[CompactionRecord]:
        """What stands in place of digests, oldest first."""
        rows = self._connection.execute(f"SELECT {_COMPACTION} FROM compactions ORDER BY compacted_at, job_id")
        return [CompactionRecord(*values) for values in rows]

    def compact(
        self,
        record: CompactionRecord,
        leaving: Callable[[list[DigestRow], list[CompactionRecord]], Sequence[str]],
    ) -> None:
        """Keep what stands in place of some digests, and delete those whose ids `leaving` returns, in one transaction.

        `leaving` is given the digests and the earlier compactions; what it raises ends the transaction.
        """
        with self.together():
            ids = leaving(self.digests(), self.compactions())
            self._connection.execute(f"INSERT INTO compactions VALUES ({_MARKS[CompactionRecord]})", astuple(record))
            self._connection.executemany("DELETE FROM digests WHERE id = ?", [(id_,) for id_ in ids])

    def ticks(self, intent_name: str | None = None, *, limit: int = -1) -> list[TickRow]:
        """Ticks of one intent or all, the newest first."""
        rows = self._connection.execute(
            f"SELECT {_TICK} FROM ticks WHERE coalesce(?, intent_name) = intent_name "
            "ORDER BY started_at DESC, rowid DESC LIMIT ?",
            (intent_name, limit),
        )
        return [read_tick(values) for values in rows]

    def together(self) -> AbstractContextManager[None]:
        """One transaction for all that is written in the block."""
        return one_transaction(self._connection, self.path)

    def _digests(self, condition: str, values: Sequence[object]) -> list[DigestRow]:
        rows = self._connection.execute(
            f"SELECT {_DIGEST} FROM digests WHERE {condition} ORDER BY created_at, rowid", values
        )
        return [read_digest(found) for found in rows]

    def _is_new(self, repository: str, comparison: str) -> bool:
        return bool(
            self._connection.execute(
                "INSERT INTO comparisons VALUES (?, ?) ON CONFLICT DO UPDATE SET id = excluded.id "
                "WHERE id <> excluded.id",
                (repository, comparison),
            ).rowcount
        )

    def _waiting_for(self, change: DocumentChange) -> list[str]:
        rows = self._connection.execute(
            "SELECT DISTINCT intent_name FROM matches WHERE digest_id IS NULL AND repository = ? "
            "AND document_id IN (?, ?)",
            (change.repository, storable(change.document_id), storable(change.renamed_from)),
        )
        return [name for (name,) in rows]

    def _keep(self, match: IntentMatch) -> None:
        """Keep one, joined with what waits of the same document, or of that which it was before it was renamed."""
        change, intent = match.change, match.intent_name
        found = self._waiting(change, change.document_id, intent)
        if change.renamed_from:
            earlier = self._waiting(change, change.renamed_from, intent)
            if found is not None and earlier is not None:
                self._connection.execute("DELETE FROM matches WHERE id = ?", (earlier[0],))
            found = found or earlier
        if found is None:
            self._connection.execute(
                "INSERT INTO matches (repository, document_id, intent_name, change, is_undone, score, matched_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    change.repository,
                    storable(change.document_id),
                    intent,
                    change_as_json(change),
                    is_undone(change),
                    match.score,
                    self._moment(),
                ),
            )
            return
        id_, before, score = found
        best = max((each for each in (match.score, score) if each is not None), default=None)
        self._rewrite(id_, _since(read_change(before), change), best)

    def _waiting(self, change: DocumentChange, document_id: str, intent: str) -> tuple[int, str, float | None] | None:
        """Id, change and score of what waits for an intent under this id."""
        found: tuple[int, str, float | None] | None = self._connection.execute(
            "SELECT id, change, score FROM matches WHERE digest_id IS NULL AND repository = ? AND document_id = ? "
            "AND intent_name = ?",
            (change.repository, storable(document_id), intent),
        ).fetchone()
        return found

    def _handle(self, kept: KeptMatch, digest_id: str) -> None:
        told = kept.match.change
        is_as_read = self._connection.execute(
            "UPDATE matches SET digest_id = ? WHERE id = ? AND change = ?", (digest_id, kept.id, change_as_json(told))
        ).rowcount
        if is_as_read:
            return
        found = self._connection.execute(
            "SELECT change, score FROM matches WHERE id = ? AND digest_id IS NULL", (kept.id,)
        ).fetchone()
        if found is not None:
            newer = read_change(found[0])
            was = told.document_id if told.document_id != newer.document_id else None
            self._rewrite(kept.id, replace(newer, before=told.after, renamed_from=was), found[1])

    def _rewrite(self, id_: int, change: DocumentChange, score: float | None) -> None:
        self._connection.execute(
            "UPDATE matches SET document_id = ?, change = ?, is_undone = ?, score = ? WHERE id = ?",
            (storable(change.document_id), change_as_json(change), is_undone(change), score, id_),
        )

    def _sweep(self, intent_name: str) -> None:
        """Delete what no digest will tell of: changes that were undone, and details of long ago."""
        before = iso_moment(self._now() - DETAILS_KEPT)
        self._connection.execute(
            "DELETE FROM matches WHERE digest_id IS NULL AND is_undone AND intent_name = ?", (intent_name,)
        )
        self._connection.execute(
            "DELETE FROM matches WHERE digest_id IN (SELECT id FROM digests WHERE created_at < ?)", (before,)
        )
        self._connection.execute("DELETE FROM ticks WHERE started_at < ?", (before,))

    def _moment(self) -> str:
        return iso_moment(self._now())


@contextmanager
def open_digests(path: Path, *, now: Callable[[], datetime]) -> Iterator[DigestStore]:
    """The store in this file, which is made where there is none.

    Raises `CannotWrite` for one that may not be written, `BrokenStore` for one that is damaged or no such store.
    """
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = open_file(path, timeout_s=BUSY_TIMEOUT_S)
        with closing(connection):
            yield DigestStore(connection, path, now)
    except PermissionError as error:
        raise CannotWrite(
            f"{path} cannot be written: {error.strerror}; give this user the right to write it"
        ) from error
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN:
            raise
        raise BrokenStore(f"{path} cannot be opened ({error}): move it away to begin a new one") from error
    except sqlite3.DatabaseError as error:
        raise BrokenStore(f"{path} is damaged ({error}): move it away to begin a new one") from error


def _since(earlier: DocumentChange, later: DocumentChange) -> DocumentChange:
    """Two changes of one document as one."""
    was = earlier.renamed_from or later.renamed_from
    return replace(later, before=earlier.before, renamed_from=was if was != later.document_id else None)
