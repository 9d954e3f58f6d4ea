"""Looks for faults in tables by SQL, and passes over what was looked at before without one.

A fault is never kept, so what has one is looked at each time.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
from msgspec import MsgspecError, Struct, json
from msgspec.structs import replace

from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.hashing import hash_of, sha256_hex
from codesum_pipeline.foundation.store.atomic import write_bytes_atomically
from codesum_pipeline.foundation.store.workspace import Workspace

if TYPE_CHECKING:
    import duckdb

Faults = Mapping[str, list[str]]
FAULT_TABLE = packaged_table(__package__, "fault_checks")


# Rises where the code that looks at rows changes, or what it keeps of them.
_VERSION = 1


class LookedAt(Struct, frozen=True):
    """What one check need not look at again, as long as its `rules`, and all else that it depends on, are the same.

    `queries` has the hash of what a query read, by the fault that it did not find. `parts` has, by the hash of a part
    without a fault, an id and a word for each thing to remember of its rows. `names` are those of neighbours that may
    stand in a document's text, by its id, and `own` its own ones: each with the hash of what they were made from.
    """

    rules: str
    queries: dict[str, str] = {}
    parts: dict[str, list[tuple[str, str]]] = {}
    names: tuple[str, dict[str, list[str]]] = ("", {})
    own: dict[str, tuple[str, list[str]]] = {}

    @classmethod
    def of_last_build(cls, ws: Workspace, check: str, rules: Sequence[object]) -> Self:
        """Nothing where it is not known, or damaged."""
        nothing = cls(hash_of([_VERSION, metadata.version("duckdb"), ws.memo_settings(), *rules]))
        if (last := ws.last_build) is None:
            return nothing
        try:
            digest, _, content = _path(last, check).read_bytes().partition(b"\n")
            found = decode(content, cls) if digest.decode() == sha256_hex(content) else nothing
        except (OSError, UnicodeError, MsgspecError):
            return nothing
        return found if found.rules == nothing.rules else nothing

    def keep(self, ws: Workspace, check: str) -> None:
        """Keep it behind its hash for the next build, unless the tables are for one use."""
        if not ws.tables.is_scratch:
            content = json.encode(self)
            write_bytes_atomically(_path(ws, check), b"\n".join([sha256_hex(content).encode(), content]))


def _path(ws: Workspace, check: str) -> Path:
    return ws.layout.memos(ws.key) / f"{check}.looked_at.json"


class FaultQuery(Struct, frozen=True):
    """Selects the ids that have a fault, from whole tables of which it `reads` these columns, or else from `rows`,
    which are of some parts of one table."""

    sql: str
    reads: Mapping[str, str] = {}


class PartsOf(Struct, frozen=True):
    """How the parts of a table are looked at one by one: the columns of `rows`, which are `prepared`, and a query for
    the hash of a part, an id and a word for all that is remembered of them."""

    table: str
    columns: list[str]
    notes: str
    prepared: Callable[[pa.Table], pa.Table] = lambda rows: rows


class FaultFinder:
    """Finds the faults of one check, and passes over what was looked at in the last build without one."""

    def __init__(
        self, ws: Workspace, check: str, parts: PartsOf, queries: Mapping[str, FaultQuery], **values: object
    ) -> None:
        self._ws, self._check, self._parts, self._queries, self._values = ws, check, parts, queries, values
        rules = [parts.notes, *parts.columns, *(query.sql for query in queries.values()), values]
        self.last = self.now = LookedAt.of_last_build(ws, check, rules)
        # By part: an id and a word for each thing that is remembered of its rows.
        self.notes: dict[str, list[tuple[str, str]]] = {}

    def find(self) -> Faults:
        """The ids that each query selects, by the fault it looks for; faults that nothing has are left out."""
        queries = dict[str, str]()
        others = dict[str, FaultQuery]()
        for fault, query in self._queries.items():
            if query.reads:
                read = {
                    table: self._ws.tables.content_hash(table, self._ws.key, columns=columns.split())
                    for table, columns in query.reads.items()
                }
                queries[fault] = hash_of(read) if all(read.values()) else ""
                if not queries[fault] or self.last.queries.get(fault) != queries[fault]:
                    others[fault] = query
        in_parts, parts = self._look_at_parts()
        found = self._look_at_tables(others) | in_parts
        found = {fault: sorted(found[fault]) for fault in self._queries if found.get(fault)}
        clean = {fault: read for fault, read in queries.items() if read and fault not in found}
        self.now = replace(self.last, queries=clean, parts=parts)
        return found

    def keep(self) -> None:
        """Keep for the next build what need not be looked at again."""
        if self.now != self.last:
            self.now.keep(self._ws, self._check)

    def _look_at_tables(self, queries: Mapping[str, FaultQuery]) -> dict[str, list[str]]:
        """The ids with a fault in whole tables, of which the columns that several queries read are read once."""
        columns: dict[str, set[str]] = {}
        for query in queries.values():
            for table, names in query.reads.items():
                columns.setdefault(table, set()).update(names.split())
        with self._ws.new_connection() as connection:
            for table, wanted in columns.items():
                rows = self._ws.tables.read_or_empty(table, self._ws.key, columns=sorted(wanted))
                connection.register(table, rows)
            return {fault: self._select(connection, query) for fault, query in queries.items()}

    def _look_at_parts(self) -> tuple[dict[str, list[str]], dict[str, list[tuple[str, str]]]]:
        """The ids with a fault among the rows of parts that were not looked at before, and the parts without any."""
        tables, table, key = self._ws.tables, self._parts.table, self._ws.key
        queries = {fault: query for fault, query in self._queries.items() if not query.reads}
        by_parts = tables.by_parts(table, key, columns=self._parts.columns)
        hashes = {*by_parts.hashes()}
        known = {part: notes for part, notes in self.last.parts.items() if part in hashes}
        self.notes = known | {part or "": [] for part in hashes if part not in known}
        found: dict[str, list[str]] = {fault: [] for fault in queries}
        for rows in by_parts.read_others(known):
            with self._ws.new_connection() as connection:
                connection.register("rows", self._parts.prepared(rows))
                for fault, query in queries.items():
                    found[fault] += self._select(connection, query)
                for part, id_, word in sorted(rows_of_query(connection, self._parts.notes), key=lambda row: row[1:]):
                    self.notes[part or ""].append((id_, word))
        is_clean = not any(found.values()) and "" not in self.notes
        return found, self.notes if is_clean else known

    def _select(self, connection: "duckdb.DuckDBPyConnection", query: FaultQuery) -> list[str]:
        values = {name: value for name, value in self._values.items() if f"${name}" in query.sql}
        return [str(id_) for (id_,) in rows_of_query(connection, query.sql, values)]


def rows_of_query(connection: "duckdb.DuckDBPyConnection", query: str, values: object = None) -> list[Any]:
    """All rows."""
    return connection.execute(query, values).fetchall()
