"""Everything one build of one repository works with."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.model.options import Options
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.store.views import connect, create_views

if TYPE_CHECKING:
    import duckdb

Connect = Callable[[], "duckdb.DuckDBPyConnection"]


@dataclass(frozen=True, slots=True)
class Workspace:
    """One repository of one home, as one run sees it.

    `versions` names every algorithm whose change must rebuild something.
    `slug` is `owner/name` where the location has one. With `force`, every text
    is written again.
    """

    entry: RepositoryEntry
    layout: HomeLayout
    tables: TableStore
    options: Options
    versions: Mapping[str, str]
    run_id: str
    now: Callable[[], datetime]
    slug: str | None = None
    force: bool = False
    new_connection: Connect = field(default=connect)

    @property
    def key(self) -> str:
        return self.entry.key

    def connect(self, *tables: str) -> "duckdb.DuckDBPyConnection":
        """An in-memory DuckDB connection with one view per table of this repository: of `tables`, or of all."""
        connection = self.new_connection()
        create_views(connection, self.tables, repo=self.key, tables=tables or tuple(TABLES))
        return connection

    def fingerprint(self, commit: str) -> str:
        """What a build of `commit` depends on: the commit, the entry, the options, the algorithms."""
        return fingerprint(self.entry, self.options, self.versions, commit=commit)

    def timestamp(self) -> str:
        """Now, as ISO 8601 in UTC to the second."""
        return self.now().strftime("%Y-%m-%dT%H:%M:%SZ")


def fingerprint(entry: RepositoryEntry, options: Options, versions: Mapping[str, str], *, commit: str) -> str:
    """sha1 over commit, entry, options that shape content, and versions."""
    shaping = asdict(options)
    del shaping["scan"]["git_timeout_s"]
    del shaping["index"]["keep_versions"]
    # It measures what was built.
    del shaping["evaluation"]
    part = asdict(entry)
    del part["enabled"]
    return hash_of([commit, part, shaping, dict(versions)])
