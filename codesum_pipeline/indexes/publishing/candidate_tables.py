"""What the files of a version are written from: the tables of one repository, in the order of the index.

Row k means the same document in every file: documents are ordered by level, then by id, and so are the vectors, which
leave the placeholders out.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.store.rows import rows_to_read
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.foundation.store.workspace import Connect, Workspace
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.file_formats.arrow_texts import in_index_order, index_order
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.indexes.lanes.dense import matrix_of, vector_length
from codesum_pipeline.indexes.publishing.last_version import LastVersion, Mask, RowOrigins

# The short columns of each document.
HEAD = ["id", "type", "file_path", "qualified_name", "parent_id", "is_placeholder", "is_test", "is_vendored"]
# What is read of the tables that lanes and documents are written from.
_LARGE = {
    "documents": TABLES["documents"].schema.names,
    "terms": ["id", "lane", "tokens"],
    "vectors": ["id", "lane", "vector"],
}
# Rows read at one time: bounds the memory.
_AT_ONCE = 1 << 13

Numbers = npt.NDArray[np.int64]


class FilePart(Struct, frozen=True):
    """Files that are written together. `made_from` has the hashes of what they are made from, None for an unknown one;
    `write` returns the sha256 without provenance of the files that hold provenance."""

    doing: str
    name: str
    made_from: Sequence[str | None]
    files: Sequence[str]
    write: Callable[[Path], Mapping[str, str] | None]


class CandidateTables(Struct, frozen=True):
    """The tables of an index. `heads` are the documents' short columns in index order, in which `order` puts the table
    of documents; row k of a dense lane is document `dense_rows[k]`. Large columns are read when they are written.
    `origins` say what of the last version may be taken over, `known` which rows of a table need not be read for it."""

    tables: TableStore
    key: str
    heads: pa.Table
    order: pa.Array
    dense_rows: npt.NDArray[np.int32]
    dimensions: int
    origins: RowOrigins
    known: Mapping[str, Mask]
    connect: Connect
    lane_rows: dict[tuple[str, Lane], Numbers] = field(default_factory=dict)
    lanes_of_rows: dict[str, pa.ChunkedArray] = field(default_factory=dict)

    @property
    def ids(self) -> pa.StringArray:
        return self.heads.column("id").chunk(0)

    @property
    def dense_ids(self) -> pa.StringArray:
        return self.ids.take(pa.array(self.dense_rows))

    def ids_before(self, level: Level) -> pa.StringArray:
        """The ids of the levels that come before a level."""
        return self.ids.slice(0, int(np.searchsorted(level_numbers(self.heads), LEVELS.index(level))))

    def content_hash(self, table: str, columns: Sequence[str]) -> str | None:
        """The hash of columns of a table, which are not read for it."""
        return self.tables.content_hash(table, self.key, columns=columns)

    def lane_hashes(self, table: str, lane: Lane, column: str) -> list[str | None]:
        """The hashes of all that decides a lane's content and order; the tables are not read for them."""
        of_lane = self.tables.part_hash(table, self.key, str(lane), columns=["id", "lane", column])
        return [self.content_hash("documents", HEAD), of_lane]

    def rows_of_lane(self, table: str, lane: Lane) -> Numbers:
        """The rows of a table in a lane, in index order. Raises `BrokenStore` if the lane is of others."""
        if (table, lane) not in self.lane_rows:
            ids = self.dense_ids if table == "vectors" else self.ids
            if table not in self.lanes_of_rows:
                self.lanes_of_rows[table] = self.tables.read(table, self.key, columns=["lane"]).column("lane")
            rows = np.flatnonzero(pc.equal(self.lanes_of_rows[table], str(lane)).to_numpy())
            found = self.tables.read_parts(table, self.key, columns=["id", "lane"], having=("lane", str(lane)))
            of_rows = pa.chunked_array([chunk for some in found for chunk in some.column("id").chunks], pa.string())
            places = pc.index_in(ids, value_set=of_rows.combine_chunks())
            known, stored, documents = len(places) - places.null_count, len(rows), len(ids)
            if not known == stored == documents:
                raise BrokenStore(
                    f"repository {self.key!r}: lane {lane.value!r} has {stored} rows for {documents} documents: "
                    f"run `codesum index {self.key}` again"
                )
            self.lane_rows[table, lane] = rows[places.to_numpy()]
        return self.lane_rows[table, lane]

    def hash_rows(self, rows: pa.Table) -> pa.Array:
        """A hash of each row; none of what is for one use. DuckDB hashes a null list as it does an empty one, and a
        null in a list as nothing: no table that is hashed has such nulls. Each column is hashed by itself first, for
        DuckDB does not tell where one of two lists ends and the next begins."""
        if self.tables.is_scratch and self.origins.last is None:
            return pa.nulls(rows.num_rows, pa.uint64())
        columns = ", ".join(f'hash("{name}")' for name in rows.column_names)
        with self.connect() as connection:
            connection.register("hashed", rows)
            return connection.sql(f"SELECT hash({columns}) FROM hashed").to_arrow_table().column(0).combine_chunks()

    def vectors(self, rows: Numbers) -> Vectors:
        """The vectors in some rows of their table."""
        matrix = np.empty((len(rows), self.dimensions), dtype=np.float32)
        for places, some in self._read("vectors", ["vector"], rows):
            matrix[places] = matrix_of(some, self.dimensions)
        return matrix

    def tokens(self, rows: Numbers, levels: npt.NDArray[np.int8]) -> pa.ChunkedArray:
        """The tokens in some rows of their table, which ascend within each of the levels."""
        # Each part is split by level: so the tokens are put in order without a second copy of all.
        of_level: list[list[pa.Array]] = [[] for _ in LEVELS]
        for places, some in self._read("terms", ["tokens"], rows):
            tokens = some.column("tokens").combine_chunks()
            for number, found in enumerate(of_level):
                found.append(tokens.filter(pa.array(levels[places] == number)))
        return pa.chunked_array([part for found in of_level for part in found], pa.string())

    def text_hashes(self, rows: Numbers) -> pa.Array:
        """The hashes of the texts in some rows of the table of tokens."""
        wanted, places = rows_to_read(rows)
        return self.tables.read_at("terms", self.key, wanted, columns=["text_hash"]).column(0).take(places)

    def documents(self, rows: Numbers) -> Iterator[pa.Table]:
        """All columns of some documents, given by their rows in index order: some at a time, in that order."""
        return in_index_order(some for _, some in self._read("documents", _LARGE["documents"], rows))

    def _read(self, table: str, columns: list[str], rows: Numbers) -> Iterator[tuple[Numbers, pa.Table]]:
        """Columns of some rows, given in any order, as the table has them: some at a time, with their places in
        `rows`."""
        order = np.argsort(rows, kind="stable")
        reader = self.tables.reader(table, self.key, columns=columns)
        for start in range(0, len(order), _AT_ONCE):
            places = order[start : start + _AT_ONCE]
            yield places, reader.at(rows[places])


def read_candidate_tables(ws: Workspace, embedder: Embedder, last: LastVersion | None) -> CandidateTables:
    """Read the short columns, and put them in index order."""
    documents = ws.tables.read("documents", ws.key, columns=HEAD)
    level = pc.index_in(documents.column("type"), value_set=pa.array([str(level) for level in LEVELS])).cast(pa.int8())
    order = index_order(documents)
    heads = documents.append_column("level", level).take(order).combine_chunks()
    origins = RowOrigins.of(heads.column("id").combine_chunks(), heads.column("level").combine_chunks(), last)
    by_parts = {table: ws.tables.by_parts(table, ws.key, columns=columns) for table, columns in _LARGE.items()}
    parts = {
        table: [(hash_ or "", size) for hash_, size in zip(found.hashes(), found.sizes(), strict=True)]
        for table, found in by_parts.items()
    }
    return CandidateTables(
        tables=ws.tables,
        key=ws.key,
        heads=heads,
        order=order,
        dense_rows=np.flatnonzero(~booleans(heads, "is_placeholder")).astype(np.int32),
        dimensions=vector_length(ws, embedder),
        origins=origins,
        known={table: origins.known_rows(table, found) for table, found in parts.items()},
        connect=ws.new_connection,
    )


def level_numbers(heads: pa.Table) -> npt.NDArray[np.int8]:
    """The position of each document's level in `LEVELS`."""
    numbers: npt.NDArray[np.int8] = heads.column("level").to_numpy()
    return numbers


def booleans(table: pa.Table, column: str) -> npt.NDArray[np.bool_]:
    """A column without nulls."""
    values: npt.NDArray[np.bool_] = table.column(column).to_numpy().astype(np.bool_)
    return values


def write_json(path: Path, value: object) -> None:
    """Write one line without spaces, in UTF-8."""
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
