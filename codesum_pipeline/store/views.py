"""DuckDB over the Parquet files: in memory, one view per table.

No DuckDB file is held open for writing. The serving file for other clients is built aside and swapped in.
"""

import glob
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.store.atomic import FileState, temporary_beside, write_text_atomically
from codesum_pipeline.store.refusals import writing
from codesum_pipeline.store.schemas import BOOKS, SCHEMA_VERSION, TABLES
from codesum_pipeline.store.tables import TableStore

if TYPE_CHECKING:
    import duckdb


def connect() -> "duckdb.DuckDBPyConnection":
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
) -> None:
    """One view per table of `tables`: of one repository, or of all with a column `repo`."""
    for name, source in _sources(store, repo, tables).items():
        connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS {source}')


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

    with writing(path):
        aside = temporary_beside(path)
        try:
            with duckdb.connect(str(aside)) as connection:
                create_views(connection, store)
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
