"""One Parquet file per table and repository: `warehouse/<table>/repo=<key>/part-0.parquet`.

Writers of different repositories never meet, and a reader sees the old file or
the new one. Rows are sorted by the table's key, so that equal rows give equal
bytes: the hash of a table is the hash of its file.
"""

import io
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from codesum_pipeline.model.errors import MissingTable, SchemaMismatch
from codesum_pipeline.model.hashing import sha256_hex
from codesum_pipeline.store.atomic import write_bytes_atomically
from codesum_pipeline.store.rows import column_names, from_table, to_table
from codesum_pipeline.store.schemas import SCHEMA_VERSION, TABLES

T = TypeVar("T")
_VERSION_KEY = b"codesum.schema_version"


@dataclass(frozen=True, slots=True)
class Written:
    """What a write left behind; `table_hash` is the sha256 of the file."""

    rows: int
    table_hash: str


@dataclass(frozen=True, slots=True)
class TableStore:
    """The tables below one root folder.

    With `base`, reads fall through to the store there and writes stay below
    `root`: a preview changes nothing.
    """

    root: Path
    base: Path | None = None

    def path(self, table: str, repo: str) -> Path:
        """Where a table is written."""
        return self.root / TABLES[table].name / f"repo={repo}" / "part-0.parquet"

    def readable_path(self, table: str, repo: str) -> Path | None:
        """Where a table is read from; None where it was never written."""
        for root in (self.root, self.base):
            path = root and root / table / f"repo={repo}" / "part-0.parquet"
            if path and path.exists():
                return path
        return None

    def read(self, table: str, repo: str, *, columns: list[str] | None = None) -> pa.Table:
        """The rows of one repository in key order; raises `MissingTable` or `SchemaMismatch`."""
        path = self.readable_path(table, repo)
        if path is None:
            raise MissingTable(f"repository {repo!r} has no table {table!r} yet: run `codesum index {repo}`")
        file = pq.ParquetFile(path)
        self._check(file, table, repo)
        return file.read(columns=columns).replace_schema_metadata(None)

    def read_or_empty(self, table: str, repo: str, *, columns: list[str] | None = None) -> pa.Table:
        """As `read`; no rows where the table was never written."""
        if self.readable_path(table, repo) is None:
            empty = TABLES[table].schema.empty_table()
            return empty.select(columns) if columns else empty
        return self.read(table, repo, columns=columns)

    def read_rows(self, table: str, repo: str, row_type: type[T]) -> list[T]:
        """The rows as values; `row_type` may have fewer fields than the table columns, and only those are read."""
        return from_table(self.read(table, repo, columns=column_names(row_type)), row_type)

    def read_rows_or_empty(self, table: str, repo: str, row_type: type[T]) -> list[T]:
        """The rows as values; none where the table was never written."""
        return from_table(self.read_or_empty(table, repo, columns=column_names(row_type)), row_type)

    def write(self, table: str, repo: str, rows: pa.Table) -> Written:
        """Replace one repository's rows."""
        spec = TABLES[table]
        ordered = rows.cast(spec.schema).combine_chunks()
        ordered = ordered.sort_by([(column, "ascending") for column in spec.sort_by]).combine_chunks()
        ordered = ordered.replace_schema_metadata({_VERSION_KEY: str(SCHEMA_VERSION).encode()})
        buffer = io.BytesIO()
        pq.write_table(ordered, buffer, compression="zstd")
        data = buffer.getvalue()
        write_bytes_atomically(self.path(table, repo), data)
        return Written(rows=ordered.num_rows, table_hash=sha256_hex(data))

    def write_rows(self, table: str, repo: str, rows: Sequence[T], row_type: type[T]) -> Written:
        """Replace one repository's rows by values."""
        return self.write(table, repo, to_table(rows, row_type))

    def repositories(self, table: str) -> list[str]:
        """The keys of the repositories that have a table."""
        return sorted(folder.name.removeprefix("repo=") for folder in (self.root / table).glob("repo=*"))

    def drop(self, repo: str) -> None:
        """Delete every table of a repository."""
        for table in TABLES:
            shutil.rmtree(self.root / table / f"repo={repo}", ignore_errors=True)

    def _check(self, file: pq.ParquetFile, table: str, repo: str) -> None:
        found = (file.schema_arrow.metadata or {}).get(_VERSION_KEY, b"none").decode()
        if found != str(SCHEMA_VERSION):
            raise SchemaMismatch(
                f"table {table!r} of repository {repo!r} has schema version {found}, this package writes "
                f"{SCHEMA_VERSION}: rebuild it with `codesum index {repo} --rebuild`"
            )
