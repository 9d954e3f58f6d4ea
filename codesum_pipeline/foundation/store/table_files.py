"""How a table is written into its file: whole, or of a large one only what changed, with the other parts taken over.

The footer holds the version of the schema, the hash of each column, the parts with a hash of what is said of them, and
a note.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.hashing import hash_of, sha256_hex
from codesum_pipeline.foundation.store.atomic import replace_durably
from codesum_pipeline.foundation.store.row_groups import PartsWriter, WrittenParts
from codesum_pipeline.foundation.store.rows import OrderedRows
from codesum_pipeline.foundation.store.schemas import SCHEMA_VERSION, TableSpec
from codesum_pipeline.foundation.store.table_parts import PartList, TablePart, column_hash, list_parts

VERSION_KEY = b"codesum.schema_version"
COLUMNS_KEY = b"codesum.columns"
PARTS_KEY = b"codesum.table_parts"
NOTE_KEY = b"codesum.note"
_VECTOR = pa.list_(pa.float32())
# Rows written and read at one time: bounds the memory. A vector is as long as many texts.
_GROUP_ROWS = 1 << 15
_GROUP_LONG_ROWS = 1 << 12
_GROUP_VECTORS = 1 << 13
_GROUP_SOURCES = 1 << 8


class TableWrite(Struct, frozen=True):
    """How many rows a table has after a write, and the hash of the values of all columns."""

    rows: int
    table_hash: str


class PlacedPart(Struct, frozen=True):
    """A part of a table that is written: where its rows are, or None if it is taken over."""

    part: TablePart
    rows: tuple[OrderedRows, slice] | None = None


def content_hash_of(hashes: Mapping[str, str], columns: Sequence[str]) -> str:
    """The hash of some columns, from the hashes of each."""
    return hash_of([[name, hashes[name]] for name in sorted(columns)])


def hash_rows(spec: TableSpec, rows: pa.Table) -> str:
    """The hash of a table's rows, however many they are and in whichever parts a home has them."""
    ordered = OrderedRows.by(rows.cast(spec.schema), spec.sort_by)
    return content_hash_of(_hash_whole(spec, ordered)[0], spec.schema.names)


def _hash_whole(spec: TableSpec, ordered: OrderedRows) -> tuple[dict[str, str], PartList]:
    """The hash of each column of a table that no path cuts, and its lanes, of which the hash is made."""
    lanes = PartList(0, tuple(part for part, _ in list_parts(ordered, spec, by_path=False)) if spec.in_lanes else ())
    if lanes.parts:
        return {name: lanes.column_hash(name) for name in spec.schema.names}, lanes
    return {field.name: column_hash(ordered.column(field.name), field) for field in spec.schema}, lanes


def write_whole(path: Path, spec: TableSpec, ordered: OrderedRows, note: str) -> TableWrite:
    """Write a table that no path cuts."""
    hashes, lanes = _hash_whole(spec, ordered)
    schema = spec.schema.with_metadata(_metadata(hashes, lanes, note))
    spans = [slice(*span) for span in pairwise(accumulate((part.rows for part in lanes.parts), initial=0))]
    with replace_durably(path) as file, pq.ParquetWriter(file, schema, **_encoding(spec.schema)) as writer:
        for some in ordered.slices(group_rows(spec), within=spans):
            writer.write_table(some.replace_schema_metadata(schema.metadata))
    return TableWrite(rows=len(ordered.order), table_hash=content_hash_of(hashes, spec.schema.names))


def write_parts(
    path: Path, spec: TableSpec, pieces: Sequence[PlacedPart], note: str, *, source: Path | None
) -> TableWrite:
    """Write a table of parts; those that the file `source` has are taken over. Raises `BrokenStore` if it no longer has
    one that is given without rows."""
    done: list[TablePart] = []
    with replace_durably(path) as file, ExitStack() as opened:
        writer = PartsWriter(file, spec.schema, _encoding(spec.schema))
        # Read from the file whose bytes are taken, for another build may have replaced the one that was read before.
        old, known = _take_up(opened.enter_context(source.open("rb"))) if source else (PartList.cut_now(), None)
        places = {_identity(part): number for number, part in enumerate(old.parts)}
        for part, rows in ((piece.part, piece.rows) for piece in pieces):
            number = places.get(_identity(part))
            if known is not None and number is not None:
                length, groups = old.parts[number].length, writer.take_over(known, number, part.rows)
            elif rows is not None:
                length, groups = writer.add(rows[0].slices(group_rows(spec), within=[rows[1]]))
            else:
                raise BrokenStore(
                    f"table {spec.name!r} of repository {path.parent.name.removeprefix('repo=')!r} was replaced by "
                    "another build while this one read it: run the same command again"
                )
            done.append(replace(part, length=length, row_groups=groups))
        parts = PartList.cut_now(tuple(done))
        hashes = {name: parts.column_hash(name) for name in spec.schema.names}
        writer.finish(_metadata(hashes, parts, note))
    return TableWrite(sum(part.rows for part in done), content_hash_of(hashes, spec.schema.names))


def _take_up(file: BinaryIO) -> tuple[PartList, WrittenParts | None]:
    """The parts that can be taken over from an open file."""
    old = parts_in(pq.read_metadata(file).metadata or {})
    if not old.is_cut_now:
        return PartList.cut_now(), None
    return old, WrittenParts(file, [part.length for part in old.parts], [part.row_groups for part in old.parts])


def parts_in(footer: Mapping[bytes, bytes]) -> PartList:
    """The parts of a table as its footer has them; none where what it says of them is damaged."""
    return _read_parts(footer.get(PARTS_KEY, b""))


# Who reads a table part by part asks for them each time.
@lru_cache(maxsize=4)
def _read_parts(noted: bytes) -> PartList:
    check, _, said = noted.partition(b" ")
    return decode(said, PartList) if check == sha256_hex(said).encode() else PartList(0, ())


def _identity(part: TablePart) -> tuple[str, ...]:
    return tuple(part.hashes.values())


def _metadata(hashes: Mapping[str, str], parts: PartList, note: str) -> dict[bytes, bytes]:
    found = {VERSION_KEY: str(SCHEMA_VERSION).encode(), COLUMNS_KEY: json.dumps(hashes).encode()}
    said = encode(parts)
    found |= {PARTS_KEY: sha256_hex(said).encode() + b" " + said} if parts.parts else {}
    return found | ({NOTE_KEY: note.encode()} if note else {})


def group_rows(spec: TableSpec) -> int:
    """How many rows of a table are written, or read, at one time at most."""
    if _VECTOR in spec.schema.types:
        return _GROUP_VECTORS
    return _GROUP_LONG_ROWS if spec.is_long else _GROUP_SOURCES if spec.has_sources else _GROUP_ROWS


def _encoding(schema: pa.Schema) -> dict[str, Any]:
    """Vectors are stored as they are: compressing them saves 7 % and makes writing three times as slow."""
    vectors = [field.name for field in schema if field.type == _VECTOR]
    if not vectors:
        return {"compression": "zstd", "write_page_checksum": True}
    others = [name for name in schema.names if name not in vectors]
    compressed = dict.fromkeys(others, "zstd")
    return {
        "compression": compressed,
        "use_dictionary": others,
        "write_statistics": others,
        "write_page_checksum": True,
    }
