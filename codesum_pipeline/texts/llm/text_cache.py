"""Texts of models, kept for every repository and every later build.

An answer is found under its exact key, which holds the document's id, or by its
body key, which does not: a moved file, a fork and a vendored copy cost no call.
Both keys hold the prompt's version, the model and the parameters, so versions
live side by side and going back is free. Several processes may read and write
at once (SQLite with a write-ahead log, which needs a local file system).

Citations are in canonical lines, so that a text fits every document with the same body. The ledger holds paid texts in
the same shape until the cache has them. Each worker of a bucket keeps all texts in its own cache: what a worker adds is
one object, and the first look fetches what others added since.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from msgspec import Struct, json
from msgspec.structs import asdict

from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.document import CompactionRecord, TextContext, WrittenText
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.hashing import canonical_json
from codesum_pipeline.foundation.store.atomic import explain_refused_writes
from codesum_pipeline.foundation.store.object_storage.objects import Objects
from codesum_pipeline.foundation.store.sqlite_tables import column_definitions, one_transaction, read_row, row_values


class KeptText(Struct, frozen=True):
    """One text. `exact_key` holds the document's id, `body_key` does not; `cost_usd` is of all calls for it."""

    exact_key: str
    body_key: str | None
    text: WrittenText
    context: TextContext | None
    model: str
    prompt_version: str
    cost_usd: float
    created_at: str

    def row(self) -> list[Any]:
        """What its columns hold: the text and its context as JSON."""
        return [json.encode(value).decode() if name in _AS_JSON else value for name, value in asdict(self).items()]

    @classmethod
    def of(cls, row: Sequence[Any]) -> Self:
        """The inverse of `row`."""
        return read_row(cls, row)


_AS_JSON = ("text", "context")
COLUMNS = column_definitions(KeptText, exact_key="PRIMARY KEY", context="NOT NULL")
NAMES = ", ".join(KeptText.__struct_fields__)

# Where a bucket has the texts of all its workers, in the batches in which they added them.
_ANSWERS = "answers/"
FILE = "answers.sqlite"
BUSY_TIMEOUT_S = 60.0
_SQL = packaged_table(__package__, "text_cache")


class CacheStats(Struct, frozen=True):
    """What is kept of one prompt version and model; days are ISO dates."""

    prompt_version: str
    model: str
    texts: int
    text_bytes: int
    cost_usd: float
    first_created: str
    last_used: str


class AnswerCache:
    """The cache of one folder, and of its bucket (`shared`). The file is made by the first write, and reading without
    one finds nothing."""

    def __init__(self, folder: Path, *, now: Callable[[], datetime], shared: Objects | None = None) -> None:
        self.path = folder / FILE
        self._now = now
        self._shared = shared
        self._is_fetched = shared is None

    def find_many(self, keys: Iterable[tuple[str, str | None]]) -> dict[str, tuple[KeptText, ...]]:
        """By exact key, the texts that fit each pair of exact and body key: the document's own first, then one per
        context that the same body was written with, oldest first. Pairs without any are left out."""
        wanted = dict(keys)
        self._fetch()
        with self._open() as connection:
            own = {text.exact_key: text for text in _select(connection, "exact_key", wanted)}
            bodies: dict[str, list[KeptText]] = {}
            for text in _select(connection, "body_key", {body for body in wanted.values() if body}):
                bodies.setdefault(text.body_key or "", []).append(text)
        found: dict[str, tuple[KeptText, ...]] = {}
        for exact, body in wanted.items():
            by_context: dict[TextContext | None, KeptText] = {}
            for text in filter(None, [own.get(exact), *bodies.get(body or "", [])]):
                by_context.setdefault(text.context, text)
            if by_context:
                found[exact] = tuple(by_context.values())
        return found

    def touch(self, texts: Sequence[KeptText]) -> None:
        """Note that these texts are in use."""
        today = self._now().date().isoformat()
        with self._writing() as connection:
            connection.executemany(_SQL["touch"], [(today, text.exact_key) for text in texts])

    def put_many(self, texts: Sequence[KeptText]) -> None:
        """Keep these, in one transaction; to repeat that changes nothing. They are shared with other workers first, for
        which it raises `BucketUnavailable`."""
        batch = ""
        if self._shared and texts:
            batch = f"{_ANSWERS}{self._now():%Y-%m-%d}/{uuid4().hex}"
            self._shared.put(batch, json.encode([text.row() for text in texts]))
        self._keep({batch: texts})

    def _fetch(self) -> None:
        """Keep what other workers added, once for each opened cache."""
        if self._shared is None or self._is_fetched:
            return
        with self._open() as connection:
            known = {name for (name,) in connection.execute("SELECT name FROM batches")}
        names = [info.name for info in self._shared.infos(_ANSWERS) if info.name not in known]
        found = {name: batch for name in names if (batch := self._shared.get(name))}
        if found:
            self._keep({name: [KeptText.of(row) for row in json.decode(batch.data)] for name, batch in found.items()})
        self._is_fetched = True

    def _keep(self, batches: Mapping[str, Sequence[KeptText]]) -> None:
        """Texts by the shared batch that they are of."""
        today = self._now().date().isoformat()
        with self._writing() as connection:
            rows = [(*text.row(), today) for texts in batches.values() for text in texts]
            connection.executemany(_SQL["put"].format(names=NAMES), rows)
            connection.executemany("INSERT OR IGNORE INTO batches VALUES (?)", [(name,) for name in batches if name])

    def texts_of(self, prompt_version: str) -> list[KeptText]:
        """The texts of one prompt version, oldest first."""
        with self._open() as connection:
            return _select(connection, "prompt_version", [prompt_version])

    def compactions(self) -> list[CompactionRecord]:
        """The compactions that replaced texts, oldest first."""
        with self._open() as connection:
            return _compactions(connection)

    def compact(
        self,
        record: CompactionRecord,
        prompt_version: str,
        leaving: Callable[[list[KeptText], list[CompactionRecord]], Sequence[str]],
    ) -> None:
        """Replace some texts of a version by a compaction, in one transaction: those whose exact keys `leaving` returns
        are deleted. `leaving` is given the version's texts and the earlier compactions; what it raises ends the
        transaction."""
        with self._writing() as connection:
            keys = leaving(_select(connection, "prompt_version", [prompt_version]), _compactions(connection))
            connection.execute("INSERT INTO compactions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row_values(record))
            connection.executemany("DELETE FROM answers WHERE exact_key = ?", [(key,) for key in keys])

    def stats(self) -> list[CacheStats]:
        """What is kept, by prompt version and model, most texts first."""
        with self._open() as connection:
            return [CacheStats(*row) for row in connection.execute(_SQL["stats"])]

    def prune(self, *, unused_for: timedelta | None = None, keep_prompt_versions: Collection[str] | None = None) -> int:
        """Delete texts that no build took for so long, and those of prompt versions that are not named; how many."""
        before = (self._now() - unused_for).date().isoformat() if unused_for is not None else ""
        versions = None if keep_prompt_versions is None else canonical_json(sorted(keep_prompt_versions))
        with self._writing() as connection:
            count = connection.execute(_SQL["prune"], (before, versions)).rowcount
        with self._open() as open_again:
            # As a script: a single statement is stepped once, which frees one page.
            open_again.executescript("PRAGMA incremental_vacuum")
        return count

    def unused(self, *, unused_for: timedelta) -> tuple[int, int]:
        """How many texts no build took for so long, and about how many bytes they are."""
        before = (self._now() - unused_for).date().isoformat()
        with self._open() as connection:
            counted, size = connection.execute(_SQL["unused"], (before,)).fetchone()
            return int(counted), int(size)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with explain_refused_writes(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch()
            with self._open() as connection, one_transaction(connection, self.path):
                yield connection

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection to the file, or to an empty database where there is none."""
        place = self.path if self.path.exists() else ":memory:"
        try:
            with closing(sqlite3.connect(place, timeout=BUSY_TIMEOUT_S, isolation_level=None)) as connection:
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(
                    _SQL["create"].format(
                        texts=COLUMNS, compactions=column_definitions(CompactionRecord, job_id="PRIMARY KEY")
                    )
                )
                yield connection
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise
            raise BrokenStore(
                f"the cache of models' texts {self.path} cannot be read ({error}): restore it, or delete the file "
                "and its -wal and -shm, and pay for its texts again when they are needed"
            ) from error


def _select(connection: sqlite3.Connection, column: str, values: Iterable[str]) -> list[KeptText]:
    """The texts with one of these values in a column, oldest first."""
    rows = connection.execute(_SQL["select"].format(names=NAMES, column=column), (canonical_json(sorted(values)),))
    return [KeptText.of(row) for row in rows]


def _compactions(connection: sqlite3.Connection) -> list[CompactionRecord]:
    rows = connection.execute("SELECT * FROM compactions ORDER BY compacted_at, job_id")
    return [read_row(CompactionRecord, row) for row in rows]
