"""Everything one build of one repository works with; and DuckDB over the Parquet files: in memory, one view per table.

No DuckDB file is held open for writing. The serving file for other clients is built aside and swapped in.
"""

import glob
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct, field, to_builtins

from codesum_pipeline.foundation.data_model.hashing import canonical_json, hash_of, sha1_hex
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.atomic import (
    FileState,
    explain_refused_writes,
    temporary_beside,
    write_text_atomically,
)
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.repository_record import FOLDER_RECORD, RepositoryRecord
from codesum_pipeline.foundation.store.schemas import BOOKS, SCHEMA_VERSION, TABLES
from codesum_pipeline.foundation.store.tables import TableStore

if TYPE_CHECKING:
    import duckdb

    from codesum_pipeline.foundation.settings.home_settings import Settings


def connect_in_memory() -> "duckdb.DuckDBPyConnection":
    """An in-memory connection that neither downloads nor loads extensions."""
    import duckdb

    connection = duckdb.connect(":memory:")
    connection.execute("SET autoinstall_known_extensions = false; SET autoload_known_extensions = false")
    return connection


def create_views(
    connection: "duckdb.DuckDBPyConnection",
    store: TableStore,
    *,
    repo: str | None = None,
    tables: Sequence[str] = tuple(TABLES),
    is_stored: bool = False,
) -> None:
    """One view per table of `tables`: of one repository, or of all with a column `repo`.

    Views that are not `is_stored` belong to the connection alone. Stored ones are in the catalogue of the database,
    which all its connections share: two threads that create the same one there conflict.
    """
    kind = "VIEW" if is_stored else "TEMPORARY VIEW"
    for name, source in _sources(store, repo, tables).items():
        connection.execute(f'CREATE OR REPLACE {kind} "{name}" AS {source}')


def _sources(store: TableStore, repo: str | None, tables: Sequence[str]) -> dict[str, str]:
    """What each view selects; which rows there are is not part of it."""
    sources = {}
    for name in tables:
        spec = TABLES[name]
        paths = [store.readable_path(name, key) for key in ([repo] if repo else store.repositories(name))]
        files = [str(path) for path in paths if path]
        if not files:
            columns = [f'NULL::{_sql_type(field.type)} AS "{field.name}"' for field in spec.schema]
            columns += [] if repo else ["NULL::VARCHAR AS repo"]
            sources[name] = f"SELECT {', '.join(columns)} WHERE false"
        elif repo:
            sources[name] = f"SELECT * FROM read_parquet({_quoted(files[0])}, hive_partitioning = false)"
        else:
            pattern = str(Path(glob.escape(str(store.root))) / name / "repo=*" / "part-0.parquet")
            # Books are not written anew, so some may lack a newer column.
            union = ", union_by_name = true" if name in BOOKS else ""
            options = f"hive_partitioning = true, hive_types_autocast = false{union}"
            sources[name] = f"SELECT * FROM read_parquet({_quoted(pattern)}, {options})"
    return sources


def write_serving_file(store: TableStore, path: Path) -> None:
    """Build the DuckDB file of views beside `path`, then swap it in; one that has these views stays.

    A note beside it says which views are in which file.
    """
    note = path.with_suffix(".views.json")
    views = hash_of([SCHEMA_VERSION, metadata.version("duckdb"), _sources(store, None, tuple(TABLES))])
    with suppress(OSError, ValueError):
        if (there := FileState.of(path)) and json.loads(note.read_text(encoding="utf-8")) == [views, [*there]]:
            return
    import duckdb

    with explain_refused_writes(path):
        aside = temporary_beside(path)
        try:
            with duckdb.connect(str(aside)) as connection:
                create_views(connection, store, is_stored=True)
            state = FileState.of(aside)
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)
    write_text_atomically(note, json.dumps([views, state]))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind):
        return "STRUCT(" + ", ".join(f'"{field.name}" {_sql_type(field.type)}' for field in kind) + ")"
    if pa.types.is_list(kind):
        return f"{_sql_type(kind.value_type)}[]"
    return {"string": "VARCHAR", "int64": "BIGINT", "double": "DOUBLE", "float": "FLOAT", "bool": "BOOLEAN"}[str(kind)]


# How an entry came into the registry, whether it is built at all, and where indexes are: they count by their content.
_NOT_OF_CONTENT = ("enabled", "organisation", "host_id", "retired", "scip", "scip_command")

_HASH_OF_SETTING = 8
# Where a repository or a server is: whoever has a guess could confirm it by a hash that travels with an index.
_PRIVATE_NAMES = ("location", "api_base")

Connect = Callable[[], "duckdb.DuckDBPyConnection"]


class Workspace(Struct, frozen=True):
    """One repository of one home, as one run sees it.

    `versions` names every algorithm whose change must rebuild something. `slug` is `owner/name` where the location has
    one, `named` are the locations of registered repositories by `host/path`. With `force`, every text is written again.
    `is_confirmed` lets a model rewrite more of the index than it otherwise may. `usd_left` is what a run may spend at
    most, besides its caps, if something else than the settings says so. `record` is that of the repository, whose lease
    the run holds. A scratch may have a `base`, whose last build it continues; location and ref of its entry, and what
    calls a model, may differ.
    """

    entry: RepositoryEntry
    layout: HomeLayout
    tables: TableStore
    settings: "Settings"
    versions: Mapping[str, str]
    run_id: str
    now: Callable[[], datetime]
    slug: str | None = None
    named: Mapping[str, str] = {}
    force: bool = False
    is_confirmed: bool = False
    usd_left: float | None = None
    new_connection: Connect = field(default=connect_in_memory)
    record: RepositoryRecord = FOLDER_RECORD
    base: "Workspace | None" = None

    @property
    def last_build(self) -> "Workspace | None":
        """The workspace of the build whose memos count for this one."""
        return None if self.force else self if not self.tables.is_scratch else self.base

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
        shared = shared_part(self.settings, self.versions)
        return fingerprint_of(self.entry, shared, commit=identify_input(commit, index_state))

    def memo_settings(self) -> str:
        """What a step depends on besides tables and files: also how much may be spent on what is left over."""
        is_by_model = self.settings.llm.enabled
        return hash_of(
            [self.fingerprint(""), self.settings.limits() if is_by_model else None, self.is_confirmed and is_by_model]
        )

    def timestamp(self) -> str:
        """Now, as ISO 8601 in UTC to the second."""
        return self.now().strftime("%Y-%m-%dT%H:%M:%SZ")


def identify_input(commit: str, index_state: str | None) -> str:
    """The input of a build: a commit, and compilers' indexes that are not part of it."""
    return f"{commit} {index_state}" if index_state else commit


def fingerprint_of(entry: RepositoryEntry, shared: str, *, commit: str) -> str:
    """The fingerprint of an entry; `shared` is `shared_part`, which is the same for all entries of a home."""
    return sha1_hex(f"[{canonical_json(commit)},{canonical_json(_content_of(entry))},{shared}]")


def _content_of(entry: RepositoryEntry) -> dict[str, Any]:
    return {name: value for name, value in to_builtins(entry).items() if name not in _NOT_OF_CONTENT}


def hashes_of_settings(settings: "Settings") -> dict[str, str]:
    """The beginning of a hash of each setting that a fingerprint is made of: they tell which of them changed."""
    return _shown_hashes(settings.shaping_by_key())


def hashes_of_entry(entry: RepositoryEntry) -> dict[str, str]:
    """The same of each field of the entry."""
    return {f"{name} of its entry": hash_ for name, hash_ in _shown_hashes(_content_of(entry)).items()}


def _shown_hashes(values: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: hash_of(value)[:_HASH_OF_SETTING] for name, value in values.items() if not name.endswith(_PRIVATE_NAMES)
    }


def shared_part(settings: "Settings", versions: Mapping[str, str]) -> str:
    """The part of a fingerprint that is the same for all entries, as canonical JSON."""
    return f"{canonical_json(settings.shaping())},{canonical_json(dict(versions))}"
