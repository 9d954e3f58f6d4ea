"""One Parquet file per table and repository: `warehouse/<table>/repo=<key>/part-0.parquet`.

Writers of different repositories never meet, and a reader sees the old file or the new one. Rows are sorted by the
table's key, so that equal rows give equal bytes. A file's footer holds a hash of each column's values, so what a table,
or a part of it, says can be compared without reading it.
"""

import hashlib
import io
import json
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct
from msgspec.json import decode

from codesum_pipeline.foundation.data_model.errors import BrokenStore, MissingTable, SchemaMismatch
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.store.atomic import FileState, replace_durably
from codesum_pipeline.foundation.store.layout import WHOLE_FOLDER, HomeLayout, LocalFiles
from codesum_pipeline.foundation.store.rows import (
    OrderedRows,
    RowReader,
    column_names,
    from_table,
    make_nulls,
    to_table,
)
from codesum_pipeline.foundation.store.schemas import SCHEMA_VERSION, TABLES, TableSpec

T = TypeVar("T", bound=Struct)
_VERSION_KEY = b"codesum.schema_version"
_COLUMNS_KEY = b"codesum.columns"
_PARTS_KEY = b"codesum.parts"
_NOTE_KEY = b"codesum.note"
_VECTOR = pa.list_(pa.float32())
# Rows written and read at one time: bounds the memory. A vector is as long as many texts.
_GROUP_ROWS = 1 << 15
_GROUP_LONG_ROWS = 1 << 12
_GROUP_VECTORS = 1 << 13
_GROUP_SOURCES = 1 << 8
# With fewer rows, handing columns to threads takes longer than reading them.
_ROWS_FOR_THREADS = 1 << 13


class TableWrite(Struct, frozen=True):
    """How many rows a table has after a write, and the hash of the values of all columns."""

    rows: int
    table_hash: str


class TableStore:
    """The tables below one root folder; where they lie in a bucket, `files` bring those that are read.

    With `base`, reads fall through to the store there and writes stay below `root`: a preview changes nothing.
    """

    def __init__(self, root: Path, *, base: "TableStore | None" = None, files: LocalFiles = WHOLE_FOLDER) -> None:
        self.root = root
        self.base = base
        self._files = files

    @property
    def is_scratch(self) -> bool:
        """Whether what is written is for one use, and no record of the repository."""
        return self.base is not None

    def without_base(self) -> "TableStore":
        """The tables below the root folder alone."""
        return TableStore(self.root, files=self._files)

    def unrecorded(self) -> "TableStore":
        """The same tables; nobody keeps account of what is read of these."""
        return TableStore(self.root, base=self.base, files=self._files)

    def path(self, table: str, repo: str) -> Path:
        """Where a table is written."""
        return self.root / TABLES[table].name / f"repo={repo}" / "part-0.parquet"

    def readable_path(self, table: str, repo: str) -> Path | None:
        """Where a table is read from, having been brought there; None if it was never written."""
        self._note_read(table, None)
        return self._find(table, repo)

    def _find(self, table: str, repo: str) -> Path | None:
        self._files.bring(repo, table)
        path = self.path(table, repo)
        if path.exists():
            return path
        return self.base._find(table, repo) if self.base else None

    def read(self, table: str, repo: str, *, columns: list[str] | None = None) -> pa.Table:
        """A repository's rows in key order; raises `MissingTable`, `SchemaMismatch`, or `BrokenStore` (damaged)."""
        self._note_read(table, columns)
        with _undamaged(table, repo):
            file = self._open(table, repo)
            is_large = file.metadata.num_rows >= _ROWS_FOR_THREADS
            found = file.read(columns=columns, use_threads=is_large).replace_schema_metadata(None)
        return with_newer_columns(found, TABLES[table].schema, columns)

    def read_parts(
        self, table: str, repo: str, *, columns: list[str], having: tuple[str, str] | None = None
    ) -> Iterator[pa.Table]:
        """The rows as `read` gives them, some at a time, so that all of them need not be held; none if the table
        was never written.

        `having` is a column of `columns` and its value in the rows that are wanted: parts without it are not read.
        """
        self._note_read(table, columns)
        if self._find(table, repo) is not None:
            file = self._open(table, repo)
            for group in range(file.num_row_groups):
                if having is None or _may_have(file.metadata.row_group(group), *having):
                    part = file.read_row_group(group, columns=columns).replace_schema_metadata(None)
                    part = with_newer_columns(part, TABLES[table].schema, columns)
                    yield rows_having(part, having)

    def read_at(self, table: str, repo: str, rows: npt.NDArray[np.int64], *, columns: list[str]) -> pa.Table:
        """The rows with these ascending numbers; only the row groups that contain them are read."""
        return self.reader(table, repo, columns=columns).at(rows)

    def reader(self, table: str, repo: str, *, columns: list[str], kept: int = 1) -> RowReader:
        """As `read_at`, for several times; the last `kept` groups that were read are not read again."""
        self._note_read(table, columns)
        return RowReader(self._open(table, repo), TABLES[table].schema.empty_table().select(columns), kept)

    def read_or_empty(self, table: str, repo: str, *, columns: list[str] | None = None) -> pa.Table:
        """As `read`; no rows where the table was never written."""
        try:
            return self.read(table, repo, columns=columns)
        except MissingTable:
            empty = TABLES[table].schema.empty_table()
            return empty.select(columns) if columns else empty

    def read_rows(self, table: str, repo: str, row_type: type[T]) -> list[T]:
        """The rows as values; `row_type` may have fewer fields than the table columns, and only those are read."""
        return from_table(self.read(table, repo, columns=column_names(row_type)), row_type)

    def read_rows_or_empty(self, table: str, repo: str, row_type: type[T]) -> list[T]:
        """The rows as values; none if the table was never written."""
        return from_table(self.read_or_empty(table, repo, columns=column_names(row_type)), row_type)

    def write(self, table: str, repo: str, rows: pa.Table, *, note: str = "") -> TableWrite:
        """Replace one repository's rows. `note` says what they belong with; no hash covers it."""
        spec = TABLES[table]
        ordered = OrderedRows.by(rows.cast(spec.schema), spec.sort_by)
        spans = ordered.spans(spec.sort_by[0]) if spec.in_parts else {}
        hashes, of_parts = _hashes(ordered, spec, spans)
        footer = {_VERSION_KEY: str(SCHEMA_VERSION), _COLUMNS_KEY: json.dumps(hashes)}
        footer |= {_PARTS_KEY: json.dumps(of_parts)} if spec.in_parts else {}
        footer |= {_NOTE_KEY: note} if note else {}
        schema = spec.schema.with_metadata({key: value.encode() for key, value in footer.items()})
        length = _GROUP_LONG_ROWS if spec.is_long else _GROUP_SOURCES if spec.has_sources else _GROUP_ROWS
        length = _GROUP_VECTORS if _VECTOR in spec.schema.types else length
        with (
            replace_durably(self.path(table, repo)) as file,
            pq.ParquetWriter(file, schema, **_encoding(spec.schema)) as writer,
        ):
            for some in ordered.slices(length, within=spans.values()):
                writer.write_table(some.replace_schema_metadata(schema.metadata))
        return TableWrite(rows=rows.num_rows, table_hash=_content_hash(hashes, spec.schema.names))

    def keep(self, table: str, repo: str) -> TableWrite:
        """Leave one repository's rows unchanged, since a step would write the same again."""
        rows: int = self._open(table, repo).metadata.num_rows
        return TableWrite(rows=rows, table_hash=self.content_hash(table, repo) or "")

    def write_rows(self, table: str, repo: str, rows: Sequence[T], row_type: type[T]) -> TableWrite:
        """Replace one repository's rows by values."""
        return self.write(table, repo, to_table(rows, row_type))

    def content_hash(self, table: str, repo: str, *, columns: Sequence[str] | None = None) -> str | None:
        """The hash of the values of these columns, or of all, in key order; only the footer is read.

        None if there is no table that this package wrote whole.
        """
        hashes = decode(self._footer(table, repo).get(_COLUMNS_KEY, b"{}"))
        wanted = TABLES[table].schema.names if columns is None else columns
        return _content_hash(hashes, wanted) if set(wanted) <= hashes.keys() else None

    def hash_read(self, table: str, repo: str, *, columns: Sequence[str]) -> str | None:
        """As `content_hash`, for what is known of these columns by their hash: they count as read."""
        self._note_read(table, columns)
        return self.content_hash(table, repo, columns=columns)

    def part_hash(self, table: str, repo: str, part: str, *, columns: Sequence[str]) -> str | None:
        """As `content_hash`, of the rows of one part; None too where there is no such part."""
        self._note_read(table, columns)
        hashes = decode(self._footer(table, repo).get(_PARTS_KEY, b"{}")).get(part)
        return _content_hash(hashes, columns) if hashes else None

    def note(self, table: str, repo: str) -> str:
        """The note that the rows were written with."""
        return self._footer(table, repo).get(_NOTE_KEY, b"").decode()

    def _note_read(self, table: str, columns: Sequence[str] | None) -> None:
        """Columns of a table, or all of them, are read: a store may keep account of it."""

    def _footer(self, table: str, repo: str) -> Mapping[bytes, bytes]:
        """What this package wrote into a file's footer; nothing if it wrote none."""
        path = self._find(table, repo)
        try:
            found = (_metadata(path, FileState.of(path)).metadata or {}) if path else {}
        except (pa.ArrowInvalid, OSError):
            return {}
        return found if found.get(_VERSION_KEY) == str(SCHEMA_VERSION).encode() else {}

    def repositories(self, table: str) -> list[str]:
        """The keys of the repositories that have a table."""
        folder = self.root / table
        names = (path.name for path in folder.iterdir()) if folder.is_dir() else ()
        return sorted(name.removeprefix("repo=") for name in names if name.startswith("repo="))

    def drop(self, repo: str, *, keeping: Collection[str] = ()) -> None:
        """Delete every table of a repository, but those of `keeping` that this package can read."""
        for table in TABLES:
            if table in keeping and self._footer(table, repo):
                continue
            shutil.rmtree(self.root / table / f"repo={repo}", ignore_errors=True)

    def _open(self, table: str, repo: str) -> pq.ParquetFile:
        path = self._find(table, repo)
        if path is None:
            raise MissingTable(f"repository {repo!r} has no table {table!r} yet: run `codesum index {repo}`")
        with _undamaged(table, repo):
            state = FileState.of(path)
            file = pq.ParquetFile(path, metadata=_metadata(path, state))
            if FileState.of(path) != state:
                file = pq.ParquetFile(path)
        found = (file.metadata.metadata or {}).get(_VERSION_KEY, b"none").decode()
        if found != str(SCHEMA_VERSION):
            raise SchemaMismatch(
                f"table {table!r} of repository {repo!r} has schema version {found}, this package writes "
                f"{SCHEMA_VERSION}: rebuild it with `codesum index {repo} --rebuild`"
            )
        return file


def tables_of(layout: HomeLayout) -> TableStore:
    """The tables of a home."""
    return TableStore(layout.warehouse, files=layout.files)


@lru_cache(maxsize=128)
def _metadata(path: Path, _state: FileState | None) -> pq.FileMetaData:
    """The footer: each step reads some columns of many tables, and compares what they were made from."""
    return pq.read_metadata(path)


@contextmanager
def _undamaged(table: str, repo: str) -> Iterator[None]:
    """Arrow says of a file that was cut off or overwritten only what it met there."""
    try:
        yield
    except (pa.ArrowInvalid, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise BrokenStore(
            f"table {table!r} of repository {repo!r} is damaged ({one_line(str(error))}): rebuild it with "
            f"`codesum index {repo} --rebuild`"
        ) from error


def rows_to_read(rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], pa.Array]:
    """The row numbers to pass to `TableStore.read_at`, and the place of each given row among them; null for row -1."""
    is_one = rows >= 0
    wanted, places = np.unique(rows[is_one], return_inverse=True)
    at = np.zeros(len(rows), dtype=np.int64)
    at[is_one] = places
    return wanted, pa.array(at, mask=~is_one)


def with_newer_columns(found: pa.Table, schema: pa.Schema, columns: Sequence[str] | None) -> pa.Table:
    """Add columns, and fields of structs, that the table is too old to have: they are null, where null is allowed."""
    for place, name in enumerate(schema.names if columns is None else columns):
        field = schema.field(name)
        if field.nullable and name not in found.column_names:
            found = found.add_column(place, field, make_nulls(found.num_rows, field.type))
        elif pa.types.is_struct(field.type) and found.schema.field(name).type != field.type:
            found = found.set_column(found.schema.get_field_index(name), field, found.column(name).cast(field.type))
    return found


def rows_having(rows: pa.Table, having: tuple[str, str] | None) -> pa.Table:
    """The rows with a value in a column; all if nothing is asked for."""
    if having is None:
        return rows
    is_wanted = pc.equal(rows.column(having[0]), having[1])
    return rows if pc.all(is_wanted, min_count=0).as_py() else rows.filter(is_wanted)


def _may_have(group: pq.RowGroupMetaData, column: str, value: str) -> bool:
    """Whether a row of a group may have this value, judging by the group's lowest and highest."""
    found = next(c for c in map(group.column, range(group.num_columns)) if c.path_in_schema == column).statistics
    return found is None or not found.has_min_max or bool(found.min <= value <= found.max)


def _encoding(schema: pa.Schema) -> dict[str, Any]:
    """Vectors are stored as they are: compressing them saves 7 % and makes writing three times as slow."""
    vectors = [field.name for field in schema if field.type == _VECTOR]
    if not vectors:
        return {"compression": "zstd"}
    others = [name for name in schema.names if name not in vectors]
    return {"compression": dict.fromkeys(others, "zstd"), "use_dictionary": others, "write_statistics": others}


def _hashes(
    ordered: OrderedRows, spec: TableSpec, spans: Mapping[str, slice]
) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """The hash of each column, and of each part's share of it; of a table in parts the first is made of these."""
    hashes, of_parts = {}, {part: dict[str, str]() for part in spans}
    for each in spec.schema:
        column = ordered.column(each.name)
        for part, span in spans.items():
            of_parts[part][each.name] = column_hash(column[span], each)
        found = [[part, known[each.name]] for part, known in of_parts.items()]
        hashes[each.name] = hash_of(found) if found else column_hash(column, each)
    return hashes, of_parts


def _content_hash(hashes: Mapping[str, str], columns: Sequence[str]) -> str:
    return hash_of([[name, hashes[name]] for name in sorted(columns)])


class _HashingFile(io.RawIOBase):
    """A file that keeps the hash of what is written to it."""

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        return len(data)


def column_hash(values: pa.Array, field: pa.Field) -> str:
    """The sha256 of a column in Arrow's stream format, which leaves out offsets, padding and unused bitmaps.

    The values are one array, since a stream shows where chunks end.
    """
    column = pa.table([values], schema=pa.schema([field]))
    digest = _HashingFile()
    with pa.ipc.new_stream(pa.PythonFile(digest, mode="w"), column.schema) as stream:
        stream.write_table(column)
    return digest.sha256.hexdigest()


class MemoryTables(TableStore):
    """The tables of one repository in memory, for a small build whose tables nobody asks for later.

    To write a dozen small files and to read each a few times takes longer than all else that a few source files need.
    Rows are not hashed: nothing is compared with an earlier build's.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._rows: dict[str, pa.Table] = {}
        self._notes: dict[str, str] = {}

    @property
    def is_scratch(self) -> bool:
        return True

    def readable_path(self, table: str, repo: str) -> Path | None:
        return None

    def read(self, table: str, repo: str, *, columns: list[str] | None = None) -> pa.Table:
        if table not in self._rows:
            raise MissingTable(f"repository {repo!r} has no table {table!r} yet")
        return self._rows[table].select(columns) if columns else self._rows[table]

    def read_parts(
        self, table: str, repo: str, *, columns: list[str], having: tuple[str, str] | None = None
    ) -> Iterator[pa.Table]:
        found = self._rows.get(table)
        if found is not None and len(found):
            yield rows_having(found.select(columns), having)

    def reader(self, table: str, repo: str, *, columns: list[str], kept: int = 1) -> RowReader:
        return _TableReader(None, self.read(table, repo, columns=columns), kept)

    def write(self, table: str, repo: str, rows: pa.Table, *, note: str = "") -> TableWrite:
        spec = TABLES[table]
        ordered = OrderedRows.by(rows.cast(spec.schema), spec.sort_by)
        (self._rows[table],) = ordered.slices(max(1, len(rows)))
        self._notes[table] = note
        return self.keep(table, repo)

    def keep(self, table: str, repo: str) -> TableWrite:
        return TableWrite(rows=len(self._rows[table]), table_hash=table)

    def content_hash(self, table: str, repo: str, *, columns: Sequence[str] | None = None) -> str | None:
        """The table's name serves as its hash, if it is a table of this build."""
        return table if table in self._rows and columns is None else None

    def part_hash(self, table: str, repo: str, part: str, *, columns: Sequence[str]) -> str | None:
        return None

    def note(self, table: str, repo: str) -> str:
        return self._notes.get(table, "")


class _TableReader(RowReader, eq=False):
    """Reads a table in memory; `empty` has the rows."""

    def at(self, rows: npt.NDArray[np.int64]) -> pa.Table:
        return self.empty.take(pa.array(rows))
