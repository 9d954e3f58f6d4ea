"""One Parquet file per table and repository: `warehouse/<table>/repo=<key>/part-0.parquet`.

Writers of different repositories never meet, and a reader sees the old file or the new one. Rows are sorted by the
table's key, so that equal rows give equal bytes. A file's footer holds a hash of each column's values, so what a table,
or a part of it, says can be compared without reading it. Of a large table the parts that stay the same are taken over
into the new file as they are.
"""

import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct
from msgspec.json import decode

from codesum_pipeline.foundation.data_model.bounded_batches import bounded_batches
from codesum_pipeline.foundation.data_model.errors import BrokenStore, DamagedTable, MissingTable, SchemaMismatch
from codesum_pipeline.foundation.store.atomic import FileState
from codesum_pipeline.foundation.store.layout import WHOLE_FOLDER, HomeLayout, LocalFiles
from codesum_pipeline.foundation.store.rows import (
    NO_FIELDS,
    Fields,
    OrderedRows,
    RowReader,
    column_names,
    from_table,
    rows_having,
    to_table,
    with_newer_columns,
)
from codesum_pipeline.foundation.store.schemas import SCHEMA_VERSION, TABLES, TableSpec
from codesum_pipeline.foundation.store.table_by_parts import TableByParts, read_groups, undamaged
from codesum_pipeline.foundation.store.table_files import (
    COLUMNS_KEY,
    NOTE_KEY,
    VERSION_KEY,
    PlacedPart,
    TableWrite,
    content_hash_of,
    group_rows,
    parts_in,
    write_parts,
    write_whole,
)
from codesum_pipeline.foundation.store.table_parts import (
    PartList,
    ReplacedParts,
    are_large_enough,
    find_replacements,
    is_cut,
    keys_of,
    list_parts,
    paths_of_rows,
    rows_of_files,
)

T = TypeVar("T", bound=Struct)
# With fewer rows, handing columns to threads takes longer than reading them.
_ROWS_FOR_THREADS = 1 << 13


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
        with undamaged(table, repo):
            file = self._open(table, repo)
            is_large = file.metadata.num_rows >= _ROWS_FOR_THREADS
            found = file.read(columns=columns, use_threads=is_large).replace_schema_metadata(None)
        return with_newer_columns(found, TABLES[table].schema, columns)

    def read_parts(
        self,
        table: str,
        repo: str,
        *,
        columns: list[str],
        having: tuple[str, str] | None = None,
        paths: Collection[str] | None = None,
    ) -> Iterator[pa.Table]:
        """The rows as `read` or `read_files` gives them, some at a time, so that all of them need not be held; none if
        the table was never written.

        `having` is a column of `columns` and its value in the rows that are wanted: parts without it are not read.
        """
        self._note_read(table, columns)
        if self._find(table, repo) is None:
            return
        file, spec = self._open(table, repo), TABLES[table]
        groups = map(file.metadata.row_group, range(file.num_row_groups))
        sizes = {n: group.num_rows for n, group in enumerate(groups) if having is None or _may_have(group, *having)}
        names = columns if paths is None else [*dict.fromkeys([*columns, spec.cut_by])]
        wanted = _groups_of(file, paths)
        wanted = [*sizes] if wanted is None else [group for group in wanted if group in sizes]
        for some in bounded_batches(wanted, sizes.__getitem__, most=group_rows(spec)):
            with undamaged(table, repo):
                # One after the other: several at once are put together more slowly than here.
                read = [file.read_row_group(group, columns=names).replace_schema_metadata(None) for group in some]
            part = pa.concat_tables(read)
            # Vectors are long, and who reads them takes them chunk by chunk.
            part = part if "vector" in columns else part.combine_chunks()
            part = rows_having(with_newer_columns(part, spec.schema, names), having)
            yield part if paths is None else rows_of_files(part, spec, paths).select(columns)

    def read_at(
        self, table: str, repo: str, rows: npt.NDArray[np.int64], *, columns: list[str], fields: Fields = NO_FIELDS
    ) -> pa.Table:
        """The rows with these ascending numbers; only the row groups that contain them are read."""
        return self.reader(table, repo, columns=columns).having(fields).at(rows)

    def reader(self, table: str, repo: str, *, columns: list[str], kept: int = 1) -> RowReader:
        """As `read_at`, for several times; the last `kept` groups that were read are not read again."""
        self._note_read(table, columns)
        empty = TABLES[table].schema.empty_table().select(columns)
        return RowReader(self._open(table, repo), empty, kept, guard=partial(undamaged, table, repo))

    def by_parts(self, table: str, repo: str, *, columns: Sequence[str]) -> TableByParts:
        """A table as the parts that can be read by themselves; without any where it was never written."""
        self._note_read(table, columns)
        content_hash = self.content_hash(table, repo, columns=columns)
        file = self._open(table, repo) if self._find(table, repo) else None
        return TableByParts(TABLES[table], repo, file, [*columns], content_hash)

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

    def read_files(self, table: str, repo: str, paths: Collection[str] | None, *, columns: list[str]) -> pa.Table:
        """The rows of some files, in key order, or of all; none if the table was never written. Only their parts are
        read."""
        if paths is None:
            return self.read_or_empty(table, repo, columns=columns)
        self._note_read(table, columns)
        if self._find(table, repo) is None:
            return TABLES[table].schema.empty_table().select(columns)
        file = self._open(table, repo)
        names = list(dict.fromkeys([*columns, TABLES[table].cut_by]))
        found = read_groups(TABLES[table], repo, file, _groups_of(file, paths), names)
        return rows_of_files(found, TABLES[table], paths).select(columns)

    def write(self, table: str, repo: str, rows: pa.Table, *, note: str = "") -> TableWrite:
        """Replace one repository's rows. `note` says what they belong with; no hash covers it."""
        spec = TABLES[table]
        ordered = OrderedRows.by(rows.cast(spec.schema), spec.sort_by)
        parts = list_parts(ordered, spec) if is_cut(spec, len(rows)) else []
        if not parts:
            return write_whole(self.path(table, repo), spec, ordered, note)
        pieces = [PlacedPart(part, (ordered, span)) for part, span in parts]
        # Of a damaged table nothing is taken over.
        with suppress(BrokenStore):
            return self._write_parts(table, repo, pieces, note, source=self._find(table, repo))
        return self._write_parts(table, repo, pieces, note, source=None)

    def replace_files(
        self, table: str, repo: str, rows: pa.Table, paths: Collection[str] | None, *, note: str = ""
    ) -> TableWrite:
        """Replace the rows of some files, or all, by `rows`, which are of no other files: as if all were written, but
        of a large table only the parts with these files are read and written."""
        if paths is None:
            return self.write(table, repo, rows, note=note)
        spec, source = TABLES[table], self._find(table, repo)
        # One open file: another build of the base of a preview may replace the table meanwhile.
        file = self._open(table, repo) if source else None
        old = _usable_parts(file, spec)
        touched, rows = old.with_rows_of(paths), rows.cast(spec.schema)
        found: list[ReplacedParts] | set[int] = set()
        while old.parts and not isinstance(found, list):
            touched |= found
            kept = read_groups(TABLES[table], repo, file, old.row_groups_of(touched), spec.schema.names)
            kept = rows_of_files(kept, spec, paths, are_wanted=False)
            ordered = OrderedRows.by(pa.concat_tables([kept, rows]), spec.sort_by)
            found = find_replacements(old, touched, keys_of(ordered, spec).to_pylist())
        if isinstance(found, list) and is_cut(spec, count := old.rows_besides(touched) + len(ordered.order)):
            pieces = [PlacedPart(part) for part in old.parts]
            for one in reversed(found):
                new = list_parts(ordered, spec, slice(one.start, one.stop))
                pieces[one.parts.start : one.parts.stop] = [PlacedPart(part, (ordered, span)) for part, span in new]
            if are_large_enough(len(pieces), count):
                return self._write_parts(table, repo, pieces, note, source=source)
        kept = read_groups(TABLES[table], repo, file, None, spec.schema.names)
        kept = rows_of_files(kept, spec, paths, are_wanted=False)
        return self.write(table, repo, pa.concat_tables([kept, rows]), note=note)

    def append(self, table: str, repo: str, rows: pa.Table) -> TableWrite:
        """Add rows behind all others of a table whose key is a number."""
        paths = set(paths_of_rows(rows, TABLES[table]).to_pylist())
        around = self.read_files(table, repo, paths, columns=rows.column_names)
        return self.replace_files(table, repo, pa.concat_tables([around, rows]), paths)

    def _write_parts(
        self, table: str, repo: str, pieces: Sequence[PlacedPart], note: str, *, source: Path | None
    ) -> TableWrite:
        with undamaged(table, repo):
            return write_parts(self.path(table, repo), TABLES[table], pieces, note, source=source)

    def keep(self, table: str, repo: str) -> TableWrite:
        """Leave one repository's rows unchanged, since a step would write the same again."""
        return TableWrite(rows=self.count(table, repo), table_hash=self.content_hash(table, repo) or "")

    def count(self, table: str, repo: str) -> int:
        """The number of one repository's rows."""
        return int(self._open(table, repo).metadata.num_rows)

    def write_rows(self, table: str, repo: str, rows: Sequence[T], row_type: type[T]) -> TableWrite:
        """Replace one repository's rows by values."""
        return self.write(table, repo, to_table(rows, row_type))

    def content_hash(self, table: str, repo: str, *, columns: Sequence[str] | None = None) -> str | None:
        """The hash of the values of these columns, or of all, in key order; only the footer is read.

        None if there is no table that this package wrote whole.
        """
        with undamaged(table, repo):
            hashes = decode(self._footer(table, repo).get(COLUMNS_KEY, b"{}"))
        wanted = TABLES[table].schema.names if columns is None else columns
        return content_hash_of(hashes, wanted) if set(wanted) <= hashes.keys() else None

    def hash_read(self, table: str, repo: str, *, columns: Sequence[str]) -> str | None:
        """As `content_hash`, for what is known of these columns by their hash: they count as read."""
        self._note_read(table, columns)
        return self.content_hash(table, repo, columns=columns)

    def part_hash(self, table: str, repo: str, part: str, *, columns: Sequence[str]) -> str | None:
        """As `content_hash`, of the rows of one part; None too where there is no such part."""
        self._note_read(table, columns)
        parts = parts_in(self._footer(table, repo))
        if part not in {each.group for each in parts.parts}:
            return None
        return content_hash_of(parts.column_hashes(columns, group=part), columns)

    def note(self, table: str, repo: str) -> str:
        """The note that the rows were written with."""
        return self._footer(table, repo).get(NOTE_KEY, b"").decode()

    def _note_read(self, table: str, columns: Sequence[str] | None) -> None:
        """Columns of a table, or all of them, are read: a store may keep account of it."""

    def _footer(self, table: str, repo: str) -> Mapping[bytes, bytes]:
        """What this package wrote into a file's footer; nothing if it wrote none."""
        path = self._find(table, repo)
        try:
            found = (_metadata(path, FileState.of(path)).metadata or {}) if path else {}
        except (pa.ArrowInvalid, OSError):
            return {}
        return found if found.get(VERSION_KEY) == str(SCHEMA_VERSION).encode() else {}

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

    def mend(self, table: str, repo: str) -> int:
        """Drop a damaged table, which the next build makes anew; returns how many of its rows are kept.

        Kept are those that can be read, of a table of which each row says what it was made from."""
        kept: list[pa.Table] = []
        if TABLES[table].is_salvaged:
            with suppress(BrokenStore):
                file = self._open(table, repo)
                for group in range(file.num_row_groups):
                    with suppress(DamagedTable), undamaged(table, repo):
                        rows = read_groups(TABLES[table], repo, file, [group], TABLES[table].schema.names)
                        rows.validate(full=True)
                        kept.append(rows)
        if kept:
            return self.write(table, repo, pa.concat_tables(kept)).rows
        self.path(table, repo).unlink(missing_ok=True)
        return 0

    def _open(self, table: str, repo: str) -> pq.ParquetFile:
        path = self._find(table, repo)
        if path is None:
            raise MissingTable(f"repository {repo!r} has no table {table!r} yet: run `codesum index {repo}`")
        with undamaged(table, repo):
            state = FileState.of(path)
            file = pq.ParquetFile(path, metadata=_metadata(path, state), page_checksum_verification=True)
            if FileState.of(path) != state:
                file = pq.ParquetFile(path, page_checksum_verification=True)
        found = (file.metadata.metadata or {}).get(VERSION_KEY, b"none").decode()
        if found != str(SCHEMA_VERSION):
            is_newer = found.isdecimal() and int(found) > SCHEMA_VERSION
            way_out = "upgrade codesum on this machine" if is_newer else f"`codesum index {repo} --rebuild` rebuilds it"
            raise SchemaMismatch(
                f"table {table!r} of repository {repo!r} has schema version {found}, this package writes "
                f"{SCHEMA_VERSION}: {way_out}"
            )
        return file


def tables_of(layout: HomeLayout) -> TableStore:
    """The tables of a home."""
    return TableStore(layout.warehouse, files=layout.files)


def _usable_parts(file: pq.ParquetFile | None, spec: TableSpec) -> PartList:
    """The parts that can be taken over: none of a table with other columns, or that was cut by another number."""
    parts = parts_in(file.metadata.metadata or {}) if file else PartList.cut_now()
    is_usable = file and parts.is_cut_now and file.schema_arrow.equals(spec.schema)
    return parts if is_usable else PartList.cut_now()


def _groups_of(file: pq.ParquetFile, paths: Collection[str] | None) -> list[int] | None:
    """The row groups that may have rows of some files; None for all."""
    parts = parts_in(file.metadata.metadata or {})
    return parts.row_groups_of(parts.with_rows_of(paths)) if parts.modulus and paths is not None else None


@lru_cache(maxsize=128)
def _metadata(path: Path, _state: FileState | None) -> pq.FileMetaData:
    """The footer: each step reads some columns of many tables, and compares what they were made from."""
    return pq.read_metadata(path)


def _may_have(group: pq.RowGroupMetaData, column: str, value: str) -> bool:
    """Whether a row of a group may have this value, judging by the group's lowest and highest."""
    found = next(c for c in map(group.column, range(group.num_columns)) if c.path_in_schema == column).statistics
    return found is None or not found.has_min_max or bool(found.min <= value <= found.max)
