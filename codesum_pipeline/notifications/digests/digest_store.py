"""Matches that wait for their digest, ticks and digests, of all repositories, in one file of the home.

Of a document there is one pending match for each intent, however often it changed: from what it was before the first of
these changes to what it is after the last.

A digest becomes `written` in the transaction that marks its matches as handled. If the process that wrote it ends then,
the next process puts it into the outbox, under the same id.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import CompactionRecord
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.model_call import LedgerRow
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, IntentMatch
from codesum_pipeline.foundation.store.sqlite_tables import SqliteFile, column_definitions, to_storable
from codesum_pipeline.notifications.digests.digest_rows import DigestKind, DigestRow, KeptMatch, TickRow, is_undone
from codesum_pipeline.texts.llm.ledger_readings import calls_about

# A digest has the citations of its matches for ever; what they held besides, and ticks, are for finding faults.
DETAILS_KEPT = timedelta(days=90)
_PENDING = "FROM matches WHERE digest_id IS NULL AND NOT is_undone AND coalesce(?1, repository) = repository"
_ABOUT = "FROM digests WHERE ?1 IS NULL OR EXISTS (SELECT 1 FROM json_each(digests.repositories) WHERE value = ?1)"


class PurgeCounts(Struct, frozen=True):
    """How much of a repository was deleted."""

    matches: int
    digests: int


class DigestStore(SqliteFile):
    """The open file."""

    tables: ClassVar = {
        "digests": column_definitions(DigestRow, id="PRIMARY KEY"),
        "matches": "id INTEGER PRIMARY KEY, intent_name TEXT NOT NULL, repository TEXT NOT NULL, "
        "document_id TEXT NOT NULL, change TEXT NOT NULL, is_undone INTEGER NOT NULL, score REAL, "
        "matched_at TEXT NOT NULL, digest_id TEXT REFERENCES digests (id) ON DELETE CASCADE",
        "ticks": column_definitions(TickRow, id="PRIMARY KEY", digest_id="REFERENCES digests (id) ON DELETE SET NULL")
        + ", CHECK ((outcome = 'held') = (failure IS NOT NULL))",
        "compactions": column_definitions(CompactionRecord, job_id="PRIMARY KEY"),
        "comparisons": "repository TEXT PRIMARY KEY, id TEXT NOT NULL",
        "schedules": "intent_name TEXT PRIMARY KEY, served_at TEXT NOT NULL",
    }
    indexes = (
        "CREATE UNIQUE INDEX IF NOT EXISTS pending_matches ON matches (repository, document_id, intent_name) "
        "WHERE digest_id IS NULL",
        "CREATE INDEX IF NOT EXISTS pending_by_intent ON matches (intent_name, repository) WHERE digest_id IS NULL",
        "CREATE INDEX IF NOT EXISTS matches_of_digests ON matches (digest_id) WHERE digest_id IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS digests_by_intent ON digests (intent_name, created_at)",
        "CREATE INDEX IF NOT EXISTS open_digests ON digests (created_at) WHERE state = 'written' OR told_at IS NULL",
        "CREATE INDEX IF NOT EXISTS ticks_by_intent ON ticks (intent_name, started_at)",
    )

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
            if (
                comparison is not None
                and not self.connection.execute(
                    "INSERT INTO comparisons VALUES (?, ?) ON CONFLICT DO UPDATE SET id = excluded.id "
                    "WHERE id <> excluded.id",
                    (repository or "", comparison),
                ).rowcount
            ):
                return
            scored = {(each.change.repository, each.change.document_id, each.intent_name): each for each in matches}
            for change in changes:
                waiting = self.connection.execute(
                    "SELECT DISTINCT intent_name FROM matches WHERE digest_id IS NULL AND repository = ? "
                    "AND document_id IN (?, ?)",
                    (change.repository, to_storable(change.document_id), to_storable(change.renamed_from)),
                )
                for (intent,) in waiting:
                    key = (change.repository, change.document_id, intent)
                    scored.setdefault(key, IntentMatch(intent, change, score=None))
            for match in scored.values():
                self._keep(match)

    def pending(self, intent_name: str, repository: str | None = None) -> list[KeptMatch]:
        """What waits for the next digest of an intent, of one repository or of all, in the order of repository and
        document."""
        order = "ORDER BY repository, document_id"
        return self.select(KeptMatch, f"{_PENDING} AND intent_name = ?2 {order}", (repository, intent_name))

    def count_pending(self, repository: str | None = None) -> dict[str, int]:
        """The number of matches that wait, by the name of their intent."""
        rows = self.connection.execute(
            f"SELECT intent_name, count(*) {_PENDING} GROUP BY intent_name ORDER BY intent_name", (repository,)
        )
        return dict(rows.fetchall())

    def forget_pending(self, intent_name: str) -> int:
        """Delete what waits for an intent, how much that was; its digests and ticks stay."""
        with self.together():
            self.connection.execute("DELETE FROM schedules WHERE intent_name = ?", (intent_name,))
            return self.connection.execute(
                "DELETE FROM matches WHERE digest_id IS NULL AND intent_name = ?", (intent_name,)
            ).rowcount

    def purge_repository(self, repository: str) -> PurgeCounts:
        """Delete all that is of a repository alone. A digest of several repositories stays."""
        with self.together():
            alone = to_storable((repository,))
            matches = self.connection.execute("DELETE FROM matches WHERE repository = ?", (repository,)).rowcount
            digests = self.connection.execute("DELETE FROM digests WHERE repositories = ?", (alone,)).rowcount
            for table in ("ticks", "comparisons"):
                self.connection.execute(f"DELETE FROM {table} WHERE repository = ?", (repository,))
        return PurgeCounts(matches, digests)

    def record(
        self, tick: TickRow | None, digest: DigestRow | None = None, *, handled: Sequence[KeptMatch] = ()
    ) -> None:
        """Write down a tick, a digest and the matches that it handles, all or nothing.

        Of a document that changed since its match was read what is newer stays pending.
        """
        with self.together():
            if digest is not None:
                self.insert("digests", digest)
                for kept in handled:
                    self._handle(kept, digest.id)
            if tick is not None:
                self.insert("ticks", tick)
                if tick.due_at is not None:
                    self.mark_served(tick.intent_name, tick.due_at)
                self._sweep(tick.intent_name)

    def mark_queued(self, digest_id: str) -> None:
        """A digest that was written is in the outbox."""
        with self.together():
            self.connection.execute(
                "UPDATE digests SET state = 'queued' WHERE id = ? AND state = 'written'", (digest_id,)
            )

    def mark_hooks_called(self, digest_id: str) -> None:
        """The hooks that hear of a digest were called."""
        with self.together():
            self.connection.execute("UPDATE digests SET told_at = ? WHERE id = ?", (self.moment(), digest_id))

    def unfinished(self, intent_name: str | None = None) -> list[DigestRow]:
        """Digests that are not in the outbox yet, or not yet passed to the hooks, the oldest first."""
        return self.select(
            DigestRow,
            "FROM digests WHERE (state = 'written' OR told_at IS NULL) AND state <> 'vetoed' "
            "AND coalesce(?, intent_name) = intent_name ORDER BY created_at, rowid",
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
        return self.select(
            DigestRow,
            "FROM digests WHERE coalesce(?1, intent_name) = intent_name AND created_at >= coalesce(?2, '') "
            "AND (?3 IS NULL OR created_at < ?3) AND coalesce(?4, kind) = kind ORDER BY created_at, rowid",
            (intent, since, until, kind),
        )

    def digest(self, id_: str) -> DigestRow:
        """A digest by its id; raises `ConfigurationError` for an unknown id."""
        found = self.select(DigestRow, "FROM digests WHERE id = ?", (id_,))
        if not found:
            raise ConfigurationError(f"there is no digest {id_!r}: `codesum digest list` shows those that there are")
        return found[0]

    def newest(self, repository: str | None = None, *, limit: int) -> list[DigestRow]:
        """The last digests about a repository, or of all, newest first."""
        return self.select(DigestRow, f"{_ABOUT} ORDER BY created_at DESC, rowid DESC LIMIT ?2", (repository, limit))

    def count(self, repository: str | None = None) -> int:
        """The number of digests, about a repository or in all."""
        return int(self.connection.execute(f"SELECT count(*) {_ABOUT}", (repository,)).fetchone()[0])

    def served_at(self, intent_name: str) -> str | None:
        """The last moment of an intent's schedule that had its tick; of a new intent, since when it is known.

        None if it is not known at all.
        """
        (found,) = self.connection.execute(
            "SELECT coalesce((SELECT served_at FROM schedules WHERE intent_name = ?1), "
            "(SELECT min(matched_at) FROM matches WHERE digest_id IS NULL AND intent_name = ?1))",
            (intent_name,),
        ).fetchone()
        return None if found is None else str(found)

    def mark_served(self, intent_name: str, moment: str) -> None:
        """Record that the intent's schedule is served up to this moment."""
        with self.together():
            self.connection.execute("INSERT OR REPLACE INTO schedules VALUES (?, ?)", (intent_name, moment))

    def matches_of(self, digest_id: str) -> list[IntentMatch]:
        """The matches that a digest handled, in the order of repository and document; none if they are forgotten."""
        of_digest = "FROM matches WHERE digest_id = ? ORDER BY repository, document_id"
        return self.select(IntentMatch, of_digest, (digest_id,))

    def compactions(self) -> list[CompactionRecord]:
        """The compactions that replaced digests, oldest first."""
        return self.select(CompactionRecord, "FROM compactions ORDER BY compacted_at, job_id")

    def compact(
        self, record: CompactionRecord, leaving: Callable[[list[DigestRow], list[CompactionRecord]], Sequence[str]]
    ) -> None:
        """Store a compaction of some digests, and delete those whose ids `leaving` returns, in one transaction.

        `leaving` is given the digests and the earlier compactions; what it raises ends the transaction.
        """
        with self.together():
            ids = leaving(self.digests(), self.compactions())
            self.insert("compactions", record)
            self.connection.executemany("DELETE FROM digests WHERE id = ?", [(id_,) for id_ in ids])

    def ticks(self, intent_name: str | None = None, *, limit: int = -1) -> list[TickRow]:
        """Ticks of one intent or all, the newest first."""
        return self.select(
            TickRow,
            "FROM ticks WHERE coalesce(?, intent_name) = intent_name ORDER BY started_at DESC, rowid DESC LIMIT ?",
            (intent_name, limit),
        )

    def _keep(self, match: IntentMatch) -> None:
        """Keep a match, joined with what waits for the same document, also under its old id."""
        change, id_ = match.change, to_storable(match.change.document_id)
        waiting = self.select(
            KeptMatch,
            "FROM matches WHERE digest_id IS NULL AND repository = ?1 AND document_id IN (?2, ?3) "
            "AND intent_name = ?4 ORDER BY document_id <> ?2",
            (change.repository, id_, to_storable(change.renamed_from), match.intent_name),
        )
        if not waiting:
            self.connection.execute(
                "INSERT INTO matches (repository, document_id, intent_name, change, is_undone, score, matched_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    change.repository,
                    id_,
                    match.intent_name,
                    to_storable(change),
                    is_undone(change),
                    match.score,
                    self.moment(),
                ),
            )
            return
        found, *others = waiting
        self.connection.executemany("DELETE FROM matches WHERE id = ?", [(each.id,) for each in others])
        best = max((each for each in (match.score, found.score) if each is not None), default=None)
        old_id = found.change.renamed_from or change.renamed_from
        old_id = old_id if old_id != change.document_id else None
        self._rewrite(found.id, replace(change, before=found.change.before, renamed_from=old_id), best)

    def _handle(self, kept: KeptMatch, digest_id: str) -> None:
        reported = kept.change
        is_as_read = self.connection.execute(
            "UPDATE matches SET digest_id = ? WHERE id = ? AND change = ?", (digest_id, kept.id, to_storable(reported))
        ).rowcount
        if is_as_read:
            return
        for found in self.select(KeptMatch, "FROM matches WHERE id = ? AND digest_id IS NULL", (kept.id,)):
            old_id = reported.document_id if reported.document_id != found.change.document_id else None
            self._rewrite(kept.id, replace(found.change, before=reported.after, renamed_from=old_id), found.score)

    def _rewrite(self, id_: int, change: DocumentChange, score: float | None) -> None:
        self.connection.execute(
            "UPDATE matches SET document_id = ?, change = ?, is_undone = ?, score = ? WHERE id = ?",
            (to_storable(change.document_id), to_storable(change), is_undone(change), score, id_),
        )

    def _sweep(self, intent_name: str) -> None:
        """Delete changes that were undone, and details that are too old."""
        before = iso_moment(self.now() - DETAILS_KEPT)
        self.connection.execute(
            "DELETE FROM matches WHERE digest_id IS NULL AND is_undone AND intent_name = ?", (intent_name,)
        )
        self.connection.execute(
            "DELETE FROM matches WHERE digest_id IN (SELECT id FROM digests WHERE created_at < ?)", (before,)
        )
        self.connection.execute("DELETE FROM ticks WHERE started_at < ?", (before,))


def open_digests(path: Path, *, now: Callable[[], datetime]) -> AbstractContextManager[DigestStore]:
    """The store in this file, as `SqliteFile.opened`."""
    return DigestStore.opened(path, now=now)


@contextmanager
def kept_digests(path: Path, *, now: Callable[[], datetime]) -> Iterator[DigestStore | None]:
    """As `open_digests`; None if there is no file, since nobody has asked for a digest yet."""
    if path.exists():
        with open_digests(path, now=now) as store:
            yield store
    else:
        yield None


def calls_of_digests(books: Path, *, since: str) -> list[tuple[tuple[str, ...], LedgerRow]]:
    """As `calls_about`. A call's `run_id` is its digest's id, its `id` the intent's name."""
    return calls_about(books, subjects="SELECT id, repositories FROM digests", table="digests", since=since)
