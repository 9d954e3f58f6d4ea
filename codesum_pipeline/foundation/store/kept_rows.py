"""Rows that are kept beside the memos of the steps, so that they need not be made again from the same.

They are used only in the state that they were written in: that is all that they follow from besides themselves. Of each
part of a table rows may be kept by the hash of the part: after an edit those of the parts that changed are made. A file
ends with the hash of its content: Arrow does not check what it reads, and damage would end the process.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.foundation.store.atomic import replace_durably
from codesum_pipeline.foundation.store.table_by_parts import TableByParts
from codesum_pipeline.foundation.store.workspace import Workspace

# Of what follows from the content of a part alone.
OF_CONTENT = b"content"
_STATE = b"codesum.state"
_PART = pa.field("part", pa.string())
_CHECK_BYTES = hashlib.sha256().digest_size


def rows_of_parts(
    ws: Workspace,
    by_parts: TableByParts,
    kept_as: str,
    make: Callable[[pa.Table], pa.Table],
    *,
    state: bytes = OF_CONTENT,
) -> pa.Table:
    """What is made of each part of a table, in the order of the parts; of parts that are known it is not made again.

    `make` is given some parts at a time, whose hashes are the column `part`, the last one, and keeps it as its last. No
    value of the first column that it makes is null."""
    nothing = make(pa.schema([*map(by_parts.spec.schema.field, by_parts.columns), _PART]).empty_table())
    schema = pa.schema([field.with_nullable(True) for field in nothing.schema])
    place = (ws.base or ws).layout.memos(ws.key) / f"{kept_as}.arrow"
    last = schema.empty_table() if ws.force else read_kept(place, schema, state)
    known = {*pc.unique(last["part"]).to_pylist()}
    parts = by_parts.hashes()
    new = [make(rows).cast(schema) for rows in by_parts.read_others(known)]
    ordered = pa.array(parts, pa.string())
    bare = pa.array({*parts}.difference(known, *(pc.unique(rows["part"]).to_pylist() for rows in new)), pa.string())
    # A row without values stands for a part of which nothing is made.
    without = [pa.nulls(len(bare), field.type) for field in schema][:-1]
    found = pa.concat_tables(
        [
            last.filter(pc.is_in(last["part"], value_set=ordered)),
            *new,
            pa.Table.from_arrays([*without, bare], schema=schema),
        ]
    )
    if new:
        found = found.take(np.argsort(pc.index_in(found["part"], value_set=ordered).to_numpy(), kind="stable"))
    if (new or len(found) < len(last)) and None not in parts and not ws.tables.is_scratch:
        write_kept(place, found, state)
    return found.filter(found.column(0).is_valid())


def part_by_part(make: Callable[[pa.Table], pa.Table]) -> Callable[[pa.Table], pa.Table]:
    """For `rows_of_parts`: what is made of the rows of one part, without its hash."""

    def make_all(rows: pa.Table) -> pa.Table:
        parts = rows["part"].combine_chunks()
        starts = np.flatnonzero(np.diff(parts.dictionary_encode().indices.fill_null(-1).to_numpy())) + 1
        made = []
        for start, end in pairwise([0, *starts.tolist(), len(rows)]):
            one = make(rows.slice(start, end - start).drop_columns("part"))
            made.append(
                one.append_column(_PART, pa.array([*parts.slice(start, 1).to_pylist()] * len(one), pa.string()))
            )
        return pa.concat_tables(made)

    return make_all


def read_kept(path: Path, schema: pa.Schema, state: bytes) -> pa.Table:
    """The rows that were written with these columns in this state; none where they are of another, damaged or
    missing."""
    with suppress(OSError):
        content = memoryview(path.read_bytes())
        rows, check = content[:-_CHECK_BYTES], content[-_CHECK_BYTES:]
        if hashlib.sha256(rows).digest() == check:
            with pa.ipc.open_file(pa.py_buffer(rows)) as file:
                if file.schema.equals(schema.with_metadata({_STATE: state}), check_metadata=True):
                    return file.read_all().replace_schema_metadata(None)
    return schema.empty_table()


def write_kept(path: Path, rows: pa.Table, state: bytes) -> None:
    """Keep rows for `read_kept`."""
    content = pa.BufferOutputStream()
    with pa.ipc.new_file(content, rows.schema.with_metadata({_STATE: state})) as written:
        written.write_table(rows.replace_schema_metadata({_STATE: state}))
    with replace_durably(path) as file:
        file.writelines([content.getvalue(), hashlib.sha256(content.getvalue()).digest()])
