"""What the rows of a table were made from, kept beside the memos of the steps: a row that would be made from the same
again is carried over, and nothing of it is computed.

Such a file is used only while the table is what it was when both were written, under the same settings and versions. It
ends with the hash of its content: Arrow does not check what it reads, and damage would end the process.
"""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.store.atomic import replace_durably
from codesum_pipeline.foundation.store.workspace import Workspace

_SCHEMA = pa.schema([("id", pa.string()), ("hash", pa.binary(20))])
_STATE = b"codesum.state"
# Strings that are Python objects at one time: bounds the memory.
_AT_ONCE = 1 << 12
_CHECK_BYTES = hashlib.sha256().digest_size


class MadeFrom(Struct, frozen=True):
    """The id of each row, and the hash of what it was made from; null where that must not be relied on."""

    rows: pa.Table

    @classmethod
    def of_columns(cls, ids: pa.Array | pa.ChunkedArray, *columns: pa.Array | pa.ChunkedArray) -> Self:
        """From strings, one column for each thing that a row is made from; all count, and none may be null."""
        # Lengths tell where one ends and the next begins.
        lengths = [pc.binary_length(column).cast(pa.string()) for column in columns]
        wide = [column.cast(pa.large_string()) for column in (*lengths, *columns)]
        joined = pc.binary_join_element_wise(*wide, pa.scalar(" ", pa.large_string()))
        parts = (joined.slice(start, _AT_ONCE).to_pylist() for start in range(0, len(joined), _AT_ONCE))
        hashes = [hashlib.sha1(text.encode(), usedforsecurity=False).digest() for part in parts for text in part]
        return cls(pa.table([ids, pa.array(hashes, pa.binary(20))], schema=_SCHEMA))

    @classmethod
    def of_last_build(cls, ws: Workspace, table: str) -> Self:
        """Of the rows that a table has; none where nothing is known of them."""
        if last := ws.last_build:
            with suppress(OSError):
                content = memoryview(_path(last, table).read_bytes())
                rows, check = content[:-_CHECK_BYTES], content[-_CHECK_BYTES:]
                if hashlib.sha256(rows).digest() == check:
                    with pa.ipc.open_file(pa.py_buffer(rows)) as file:
                        if (file.schema.metadata or {}).get(_STATE) == _state(last, table):
                            return cls(file.read_all().replace_schema_metadata(None))
        return cls(_SCHEMA.empty_table())

    def is_same_in(self, last: Self) -> pa.Array:
        """For each row, whether it was made from the same before."""
        before = last.rows["hash"].take(pc.index_in(self.rows["id"], value_set=last.rows["id"]))
        return pc.fill_null(pc.equal(self.rows["hash"], before), False).combine_chunks()

    def keep(self, ws: Workspace, table: str) -> None:
        """Keep it, once the table is in place."""
        if not ws.tables.is_scratch:
            schema = _SCHEMA.with_metadata({_STATE: _state(ws, table)})
            content = pa.BufferOutputStream()
            with pa.ipc.new_file(content, schema) as written:
                written.write_table(self.rows.replace_schema_metadata(schema.metadata))
            with replace_durably(_path(ws, table)) as file:
                file.writelines([content.getvalue(), hashlib.sha256(content.getvalue()).digest()])


def _state(ws: Workspace, table: str) -> bytes:
    return hash_of([ws.memo_settings(), ws.tables.content_hash(table, ws.key)]).encode()


def _path(ws: Workspace, table: str) -> Path:
    return ws.layout.memos(ws.key) / f"{table}.made_from.arrow"
