"""`digests.sqlite` as tables that `codesum sql` reads beside those of the warehouse."""

import json
import sqlite3
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

import pyarrow as pa

from codesum_pipeline.foundation.store.sqlite_tables import open_for_reading

_TEXTS = pa.list_(pa.string())
_TYPES = {"text": pa.string(), "texts": _TEXTS, "number": pa.float64(), "count": pa.int64()}


def _schema(columns: Mapping[str, tuple[str, str]]) -> pa.Schema:
    fields = [
        pa.field(name, _TYPES[kind.rstrip("?")], nullable=kind.endswith("?"), metadata={"description": description})
        for name, (kind, description) in columns.items()
    ]
    return pa.schema(fields)


# By the name in a query: the schema (`sql_tables.toml`), and the rows of the file. Matches that were undone before a
# digest had them are left out.
_ROWS = {
    "digests": "digests",
    "intent_matches": "matches WHERE digest_id IS NOT NULL OR NOT is_undone",
    "digest_ticks": "ticks",
}
_TABLE = tomllib.loads(resources.files(__package__).joinpath("sql_tables.toml").read_text(encoding="utf-8"))
SQL_TABLES: Mapping[str, tuple[pa.Schema, str]] = {name: (_schema(_TABLE[name]), rows) for name, rows in _ROWS.items()}


def read_sql_tables(path: Path, *, query: str) -> dict[str, pa.Table]:
    """Each table by its name, in the order in which its rows came; empty if nothing was ever matched.

    The file is read for a query that names one of them. Raises `BrokenStore`.
    """
    tables = {name: schema.empty_table() for name, (schema, _) in SQL_TABLES.items()}
    if any(name in query.lower() for name in SQL_TABLES):
        with open_for_reading(path, "digests") as file:
            if file:
                tables = {name: _read(file, schema, source) for name, (schema, source) in SQL_TABLES.items()}
    return tables


def _read(file: sqlite3.Connection, schema: pa.Schema, source: str) -> pa.Table:
    columns = [f"result ->> 'summary' AS {name}" if name == "summary" else name for name in schema.names]
    rows = file.execute(f"SELECT {', '.join(columns)} FROM {source} ORDER BY rowid").fetchall()
    values = {name: [row[place] for row in rows] for place, name in enumerate(schema.names)}
    packed = {field.name: [json.loads(each) for each in values[field.name]] for field in schema if field.type == _TEXTS}
    return pa.table(values | packed, schema=schema)
