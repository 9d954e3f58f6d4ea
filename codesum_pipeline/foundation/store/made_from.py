"""What the rows of a table were made from, kept beside the memos of the steps: a file, or a folder, whose rows would be
made from the same again is carried over, and nothing of it is computed.

What is made from is told by hashes: of what other tables say of each file, part by part, so that of a part which
stayed the same nothing is read. Such hashes follow from the part alone. What a table was made from is used only while
it is what it was when both were written, under the same settings and versions.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.store.kept_rows import part_by_part, read_kept, rows_of_parts, write_kept
from codesum_pipeline.foundation.store.last_reading import LastReading
from codesum_pipeline.foundation.store.rows import join_by_row
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.table_parts import paths_of_rows
from codesum_pipeline.foundation.store.workspace import Workspace

_TEXT = pa.string()
_SCHEMA = pa.schema([("id", _TEXT), ("hash", _TEXT)])
_OF_PATHS = pa.schema([("path", _TEXT), ("hash", _TEXT)])
# Strings that are Python objects at one time: bounds the memory.
_AT_ONCE = 1 << 12


class MadeFrom(Struct, frozen=True):
    """The path of each file or folder, and the hash of what its rows were made from; null where that must not be relied
    on."""

    rows: pa.Table

    @classmethod
    def of_columns(cls, ids: pa.Array | pa.ChunkedArray, *columns: pa.Array | pa.ChunkedArray) -> Self:
        """From strings, one column for each thing that rows are made from; all count, and none may be null."""
        return cls(pa.table([ids, _sha1_of(_one_text(columns))], schema=_SCHEMA))

    @classmethod
    def of_hashes(cls, ids: pa.Array | pa.ChunkedArray, *hashes: pa.Array | pa.ChunkedArray) -> Self:
        """As `of_columns`, from columns of hashes, which are short: they are joined."""
        return cls(pa.table([ids, pc.binary_join_element_wise(*hashes, "\n")], schema=_SCHEMA))

    @classmethod
    def of_last_build(cls, ws: Workspace, table: str) -> Self:
        """Of the rows that a table has; none where nothing is known of them."""
        last = ws.last_build
        return cls(read_kept(_path(last, table), _SCHEMA, _state(last, table)) if last else _SCHEMA.empty_table())

    def at(self, paths: pa.ChunkedArray) -> pa.ChunkedArray:
        """The hash of each of some paths; empty of one that has none."""
        places = pc.index_in(paths, value_set=self.rows["id"].combine_chunks())
        return pc.fill_null(self.rows["hash"].take(places), "")

    def changed_since(self, last: Self) -> set[str]:
        """The paths whose rows may be others than before, or are gone."""
        before = last.rows["hash"].take(pc.index_in(self.rows["id"], value_set=last.rows["id"]))
        is_same = pc.fill_null(pc.equal(self.rows["hash"], before), False)
        is_there = pc.is_in(last.rows["id"], value_set=self.rows["id"].combine_chunks())
        parts = (self.rows["id"].filter(pc.invert(is_same)), last.rows["id"].filter(pc.invert(is_there)))
        return {path for part in parts for path in part.to_pylist()}

    def besides(self, paths: pa.ChunkedArray) -> Self:
        """The same, where what is known of these paths, gone ones too, must not be relied on."""
        unknown = pc.unique(paths)
        known = self.rows.filter(pc.invert(pc.is_in(self.rows["id"], value_set=unknown)))
        return type(self)(pa.concat_tables([known, pa.table([unknown, pa.nulls(len(unknown), _TEXT)], schema=_SCHEMA)]))

    def keep(self, ws: Workspace, table: str) -> None:
        """Keep it, once the table is in place."""
        if not ws.tables.is_scratch:
            write_kept(_path(ws, table), self.rows, _state(ws, table))


def changed_paths(ws: Workspace, table: str, now: Callable[[], MadeFrom]) -> set[str] | None:
    """The paths whose rows of a table may be others than in the last build, or are gone; None for all."""
    last = MadeFrom.of_last_build(ws, table)
    return now().changed_since(last) if len(last.rows) else None


# By table: most steps of a build ask for the same ones.
_LAST_HASHES = defaultdict[str, LastReading[MadeFrom]](LastReading)


def hash_files(ws: Workspace, table: str, columns: Sequence[str]) -> MadeFrom:
    """For each path the hash of what a table says of it in these columns, which identify a row and are of strings,
    truth values, or lists of strings."""
    tables, home = ws.tables.unrecorded(), ws.base or ws
    by_parts = tables.by_parts(table, ws.key, columns=columns)
    made_from = (str(home.layout.memos(ws.key)), str(tables.is_scratch), by_parts.content_hash)
    if hashed := _LAST_HASHES[table].find(made_from):
        return hashed
    found = rows_of_parts(ws, by_parts, f"{table}.files", part_by_part(partial(_hash_part, table=table)))
    # A path may have rows in two parts.
    found = found.sort_by([("path", "ascending"), ("part", "ascending")])
    paths = pc.unique(found["path"])
    hashes = join_by_row(pc.index_in(found["path"], value_set=paths), found["hash"], len(paths), " ")
    hashed = MadeFrom(pa.table([paths, hashes.cast(_TEXT)], schema=_SCHEMA))
    _LAST_HASHES[table].keep(made_from, hashed, rows=len(paths))
    return hashed


def _hash_part(rows: pa.Table, table: str) -> pa.Table:
    of_rows = paths_of_rows(rows, TABLES[table])
    paths = pc.unique(of_rows)
    texts = join_by_row(pc.index_in(of_rows, value_set=paths), _one_text(rows.columns), len(paths), "\n")
    return pa.table([paths, _sha1_of(texts)], schema=_OF_PATHS)


def _one_text(columns: Sequence[pa.Array | pa.ChunkedArray]) -> pa.Array | pa.ChunkedArray:
    """All columns of each row: lengths tell where one ends and the next begins, and what is null."""
    lengths, texts = [], []
    for column in columns:
        is_list = pa.types.is_list(column.type)
        # Of items that may not be null there is no kernel.
        text = pc.binary_join(column.cast(pa.list_(_TEXT)), "\0") if is_list else column.cast(pa.large_string())
        counted = [pc.binary_length(text), *([pc.list_value_length(column)] if is_list else [])]
        lengths += [pc.fill_null(count.cast(_TEXT), "null").cast(pa.large_string()) for count in counted]
        texts.append(pc.fill_null(text.cast(pa.large_string()), ""))
    return pc.binary_join_element_wise(*lengths, *texts, pa.scalar(" ", pa.large_string()))


def _sha1_of(texts: pa.Array | pa.ChunkedArray) -> pa.Array:
    parts = (texts.slice(start, _AT_ONCE).to_pylist() for start in range(0, len(texts), _AT_ONCE))
    hashes = [hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest() for part in parts for text in part]
    return pa.array(hashes, _TEXT)


def _state(ws: Workspace, table: str) -> bytes:
    return hash_of([ws.memo_settings(), ws.tables.content_hash(table, ws.key)]).encode()


def _path(ws: Workspace, table: str) -> Path:
    return ws.layout.memos(ws.key) / f"{table}.made_from.arrow"
