"""`digests.sqlite` as tables that `codesum sql` reads beside those of the warehouse."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from codesum_pipeline.foundation.store.sqlite_tables import open_for_reading

_TEXTS = pa.list_(pa.string())


def _field(name: str, kind: pa.DataType, description: str, *, may_be_null: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=may_be_null, metadata={"description": description})


_DIGESTS = pa.schema(
    [
        _field("id", pa.string(), "What names the digest, also in the outbox."),
        _field("kind", pa.string(), "`digest`: of changes; `rollup`: of earlier digests."),
        _field("intent_name", pa.string(), "The standing question that it answers."),
        _field("repositories", _TEXTS, "What it tells about."),
        _field("created_at", pa.string(), "When it was written, ISO 8601 in UTC."),
        _field("from_at", pa.string(), "When the first of what it tells was found, ISO 8601 in UTC."),
        _field("to_at", pa.string(), "When the last of it was found, ISO 8601 in UTC."),
        _field("language", pa.string(), "The language that it is written in."),
        _field("summary", pa.string(), "Its text, Markdown with `[N]`."),
        _field("written_by", pa.string(), "`model`, or `plain`: without one."),
        _field("model", pa.string(), "Which model wrote it.", may_be_null=True),
        _field("cost_usd", pa.float64(), "US dollars of its calls."),
        _field("state", pa.string(), "`written`, `queued` (in the outbox), `vetoed` (by a hook) or `unsent`."),
        _field("channels", _TEXTS, "Where it is sent."),
        _field("matches", pa.int64(), "How many changed documents it rests on."),
        _field("items", pa.int64(), "How many things it tells, near-duplicates being one."),
        _field("dropped_claims", pa.int64(), "Claims of the model that no source bore out, left out."),
    ]
)
_MATCHES = pa.schema(
    [
        _field("intent_name", pa.string(), "The standing question."),
        _field("repository", pa.string(), "The document's repository."),
        _field("document_id", pa.string(), "The document that changed."),
        _field("score", pa.float64(), "How well it fits the question, 0 to 1.", may_be_null=True),
        _field("matched_at", pa.string(), "When that was found first, ISO 8601 in UTC."),
        _field("digest_id", pa.string(), "The digest that reports it; null: it waits for one.", may_be_null=True),
    ]
)
_TICKS = pa.schema(
    [
        _field("id", pa.string(), "What names the attempt."),
        _field("intent_name", pa.string(), "The standing question."),
        _field("repository", pa.string(), "The repository that was built; null: all, by schedule.", may_be_null=True),
        _field("due_at", pa.string(), "The moment that a schedule asked for, ISO 8601 in UTC.", may_be_null=True),
        _field("started_at", pa.string(), "When it began, ISO 8601 in UTC."),
        _field("ended_at", pa.string(), "When it ended, ISO 8601 in UTC."),
        _field("outcome", pa.string(), "`queued`, `unsent`, `vetoed`, `empty` or `held` (tried again later)."),
        _field("failure", pa.string(), "Of what kind the trouble was that held it.", may_be_null=True),
        _field("reason", pa.string(), "The trouble in words, or empty."),
        _field("matches", pa.int64(), "How many changed documents waited."),
        _field("items", pa.int64(), "How many things the digest tells."),
        _field("digest_id", pa.string(), "The digest that was written.", may_be_null=True),
    ]
)

# By the name in a query: the schema, and the rows of the file. Matches that were undone before a digest had them are
# left out.
SQL_TABLES: Mapping[str, tuple[pa.Schema, str]] = {
    "digests": (_DIGESTS, "digests"),
    "intent_matches": (_MATCHES, "matches WHERE digest_id IS NOT NULL OR NOT is_undone"),
    "digest_ticks": (_TICKS, "ticks"),
}


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
