"""Everything one build of one repository works with."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct, field, to_builtins

from codesum_pipeline.model.hashing import canonical_json, hash_of, sha1_hex
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.store.views import connect, create_views

if TYPE_CHECKING:
    import duckdb

    from codesum_pipeline.settings.models import Settings

# How an entry came into the registry, whether it is built at all, and where indexes are: they count by their content.
_NOT_OF_CONTENT = ("enabled", "organisation", "host_id", "retired", "scip", "scip_command")

Connect = Callable[[], "duckdb.DuckDBPyConnection"]


class Workspace(Struct, frozen=True, dict=True):
    """One repository of one home, as one run sees it.

    `versions` names every algorithm whose change must rebuild something. `slug` is `owner/name` where the location has
    one. With `force`, every text is written again. `is_confirmed` lets a model rewrite more of the index than it
    otherwise may. `usd_left` is what a run may spend at most, besides its caps, if something else than the settings
    says so.
    """

    entry: RepositoryEntry
    layout: HomeLayout
    tables: TableStore
    settings: "Settings"
    versions: Mapping[str, str]
    run_id: str
    now: Callable[[], datetime]
    slug: str | None = None
    force: bool = False
    is_confirmed: bool = False
    usd_left: float | None = None
    new_connection: Connect = field(default=connect)

    @property
    def key(self) -> str:
        return self.entry.key

    def connect(self, *tables: str) -> "duckdb.DuckDBPyConnection":
        """An in-memory DuckDB connection with one view per table of this repository: of `tables`, or of all."""
        connection = self.new_connection()
        create_views(connection, self.tables, repo=self.key, tables=tables or tuple(TABLES))
        return connection

    def fingerprint(self, commit: str, index_state: str | None = None) -> str:
        """What a build of `commit` depends on: this, other indexes than its own, the entry, settings and algorithms."""
        return fingerprint_of(self.entry, self._shared_part, commit=state_of(commit, index_state))

    @cached_property
    def _shared_part(self) -> str:
        return shared_part(self.settings, self.versions)

    def memo_settings(self) -> str:
        """What a step depends on besides tables and files: also how much may be spent on what is left over."""
        is_by_model = self.settings.llm.enabled
        return hash_of(
            [self.fingerprint(""), self.settings.limits() if is_by_model else None, self.is_confirmed and is_by_model]
        )

    def timestamp(self) -> str:
        """Now, as ISO 8601 in UTC to the second."""
        return self.now().strftime("%Y-%m-%dT%H:%M:%SZ")


def state_of(commit: str, index_state: str | None) -> str:
    """What a build starts from: a commit, and compilers' indexes that are not of it."""
    return f"{commit} {index_state}" if index_state else commit


def fingerprint_of(entry: RepositoryEntry, shared: str, *, commit: str) -> str:
    """The fingerprint of an entry; `shared` is `shared_part`, which is the same for all entries of a home."""
    part = to_builtins(entry)
    for name in _NOT_OF_CONTENT:
        del part[name]
    return sha1_hex(f"[{canonical_json(commit)},{canonical_json(part)},{shared}]")


def shared_part(settings: "Settings", versions: Mapping[str, str]) -> str:
    """Of what a fingerprint covers, all that is no entry's own, as canonical JSON."""
    return f"{canonical_json(settings.shaping())},{canonical_json(dict(versions))}"
