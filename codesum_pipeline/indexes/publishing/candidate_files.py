"""The files of a version folder, each written from the tables of one repository.

Row k means the same document in every file: documents are ordered by level,
then by id, and so are the vectors, which leave the placeholders out.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.language_facts.file_languages import ROLES, role_of
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.file_formats import version_folder as paths
from codesum_pipeline.indexes.file_formats.arrow_bytes import utf8_of
from codesum_pipeline.indexes.file_formats.arrow_texts import (
    OF_HISTORY,
    build_shown_fields,
    document_lines,
    index_order,
    json_objects,
    json_texts,
)
from codesum_pipeline.indexes.file_formats.bm25 import build_bm25
from codesum_pipeline.indexes.file_formats.graph_files import (
    OF_EDGES,
    OF_USES,
    build_callers,
    build_constant_uses,
    build_uses,
    read_aliases,
)
from codesum_pipeline.indexes.file_formats.index_files import LINES, TEXTS, StringTable, build_symbol_names
from codesum_pipeline.indexes.file_formats.nearest_vectors import FEWEST_VECTORS, write_nearest
from codesum_pipeline.indexes.file_formats.stored_zip import Array, Vectors, write_npy, write_npz, write_tensor
from codesum_pipeline.indexes.file_formats.version_folder import TERM_LANES, Lane, dense_lanes
from codesum_pipeline.indexes.lanes.dense import matrix_of, vector_length
from codesum_pipeline.indexes.lanes.lane_texts import TOKEN_BREAK, break_apart
from codesum_pipeline.indexes.lanes.sparse import count_tokens
from codesum_pipeline.indexes.publishing.namespaces import find_namespaces
from codesum_pipeline.indexes.publishing.passage_owners import find_owners

# The short columns of each document.
_HEAD = ["id", "type", "file_path", "qualified_name", "parent_id", "is_placeholder", "is_test", "is_vendored"]
_RANKS = ["id", "pagerank"]
_OF_FACTS = ["file_path", "only_reexports", "lost_lines"]
_SHOWN = ["id", "type", *LINES, *TEXTS]
_OF_OWNERS = {"documents": ["id", "type", "file_path", *LINES], "file_facts": ["file_path", "source"]}
_NO_IDS = TABLES["vectors"].schema.empty_table().select(["id", "lane"])


class CandidateTables(Struct, frozen=True):
    """The tables of an index. `heads` are the documents' short columns in index order, and row k of a dense lane is
    document `dense_rows[k]`; large columns are read when they are written."""

    tables: TableStore
    key: str
    heads: pa.Table
    dense_rows: npt.NDArray[np.int32]
    dense_lanes: Sequence[Lane]
    dimensions: int

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
        return [self.content_hash("documents", _HEAD), of_lane]

    def vectors(self, lane: Lane) -> Vectors:
        """The vectors of a dense lane; raises `BrokenStore` when a document lacks one."""
        ids = self.dense_ids
        matrix = np.empty((len(ids), self.dimensions), dtype=np.float32)
        stored = pa.concat_tables([_NO_IDS, *self._of_lane("vectors", lane)]).column("id")
        positions = pc.fill_null(pc.index_in(stored, value_set=ids), -1).to_numpy()
        self._check(lane, int((positions >= 0).sum()), len(positions), len(ids))
        first = 0
        for some in self._of_lane("vectors", lane, "vector"):
            matrix[positions[first : first + some.num_rows]] = matrix_of(some, self.dimensions)
            first += some.num_rows
        return matrix

    def tokens(self, lane: Lane) -> pa.ChunkedArray:
        """The tokens of each document in a BM25 lane; raises `BrokenStore` when a document lacks them."""
        stored = pa.concat_tables([_NO_IDS, *self._of_lane("terms", lane)]).column("id")
        rows = pc.index_in(stored, value_set=self.ids)
        self._check(lane, len(rows) - rows.null_count, len(rows), len(self.ids))
        levels = level_numbers(self.heads)[rows.to_numpy()]
        # Each part is split by level: so the tokens are put in order without a second copy of all.
        of_level: list[list[pa.Array]] = [[] for _ in LEVELS]
        first = 0
        for some in self._of_lane("terms", lane, "tokens"):
            tokens = some.column("tokens").combine_chunks()
            for number, found in enumerate(of_level):
                found.append(tokens.filter(pa.array(levels[first : first + len(tokens)] == number)))
            first += len(tokens)
        return pa.chunked_array([part for found in of_level for part in found], pa.string())

    def _of_lane(self, table: str, lane: Lane, *columns: str) -> Iterator[pa.Table]:
        return self.tables.read_parts(table, self.key, columns=["id", "lane", *columns], having=("lane", str(lane)))

    def _check(self, lane: Lane, known: int, stored: int, documents: int) -> None:
        if not known == stored == documents:
            raise BrokenStore(
                f"repository {self.key!r}: lane {lane.value!r} has {stored} rows for {documents} documents: "
                f"run `codesum index {self.key}` again"
            )


def read_candidate_tables(ws: Workspace, embedder: Embedder) -> CandidateTables:
    """Read the short columns, and put them in index order."""
    documents = ws.tables.read("documents", ws.key, columns=_HEAD)
    level = pc.index_in(documents.column("type"), value_set=pa.array([str(level) for level in LEVELS]))
    heads = documents.append_column("level", level).take(index_order(documents)).combine_chunks()
    return CandidateTables(
        tables=ws.tables,
        key=ws.key,
        heads=heads,
        dense_rows=np.flatnonzero(~_booleans(heads, "is_placeholder")).astype(np.int32),
        dense_lanes=dense_lanes(ws.settings.extra_lanes),
        dimensions=vector_length(ws, embedder),
    )


class FilePart(Struct, frozen=True):
    """Files that are written together. `made_from` has the hashes of what they are made from, None for an unknown one;
    `write` returns the sha256 without provenance of the files that hold provenance."""

    doing: str
    name: str
    made_from: Sequence[str | None]
    files: Sequence[str]
    write: Callable[[Path], Mapping[str, str] | None]


# What the words of a lane are written to besides.
_WITH_WORDS = {Lane.CODE: (paths.PASSAGES,), Lane.KEYWORDS: (paths.KEYWORDS_VOCABULARY, paths.KEYWORDS_METADATA)}


def candidate_parts(tables: CandidateTables) -> list[FilePart]:
    """Every file but the manifest."""
    of_columns: tuple[tuple[str, str, Mapping[str, Sequence[str]], str, Callable[..., None]], ...] = (
        ("what hits show", "shown", {"documents": _SHOWN}, paths.SHOWN_FIELDS, _write_shown),
        ("callers", "callers", {"documents": _HEAD, "edges": OF_EDGES}, paths.CALLERS, _write_callers),
        ("uses", "uses", {"documents": _HEAD, "edges": OF_USES}, paths.USES, _write_uses),
        ("constants", "constants", {"documents": _HEAD, "edges": OF_EDGES}, paths.CONSTANTS, _write_constants),
        ("passages of functions", "owners", _OF_OWNERS, paths.PASSAGE_OWNERS, _write_owners),
        ("vectors", "vector ids", {"documents": _HEAD}, paths.INDEX_MAP, _write_vector_ids),
    )  # fmt: skip
    of_arrays = {"documents": _HEAD, "graph_stats": _RANKS, "file_facts": _OF_FACTS}
    namespaces = sorted(find_namespaces(tables.tables, tables.key))
    aliases = read_aliases(tables.tables, tables.key)
    aliases_hash = hash_of(["\n".join(alias) for alias in aliases])
    return [
        FilePart("documents", "documents", [None], [paths.DOCUMENTS, paths.OFFSETS], partial(_write_documents, tables)),
        FilePart(
            "document arrays",
            "arrays",
            [*(tables.content_hash(*each) for each in of_arrays.items()), hash_of(namespaces)],
            [paths.DOCUMENT_ARRAYS],
            partial(_write_arrays, tables, namespaces),
        ),
        *(
            FilePart(
                doing, name, [tables.content_hash(*each) for each in columns.items()], [file], partial(write, tables)
            )
            for doing, name, columns, file, write in of_columns
        ),
        *(_matrix_part(tables, lane) for lane in tables.dense_lanes),
        *(
            FilePart(
                "words",
                f"words {lane}",
                tables.lane_hashes("terms", lane, "tokens"),
                [paths.BM25_FILES[lane], *_WITH_WORDS.get(lane, ())],
                partial(_write_words, tables, lane),
            )
            for lane in TERM_LANES
        ),
        FilePart(
            "names",
            "names",
            [tables.content_hash("documents", _HEAD), aliases_hash],
            [paths.SYMBOL_NAMES],
            partial(_write_names, tables, aliases),
        ),
    ]


def _write_documents(tables: CandidateTables, folder: Path) -> dict[str, str]:
    content = hashlib.sha256()
    lengths: list[Array] = []
    history = tables.tables.read("document_history", tables.key, columns=list(OF_HISTORY))
    documents = tables.tables.read_parts("documents", tables.key, columns=TABLES["documents"].schema.names)
    with (folder / paths.DOCUMENTS).open("wb") as file:
        for some in document_lines(documents, history):
            content.update(utf8_of(some.contents))
            file.write(utf8_of(some.lines))
            lengths.append(pc.binary_length(some.lines).to_numpy())
    write_npy(folder / paths.OFFSETS, np.cumsum(np.concatenate(([0], *lengths)), dtype=np.int64))
    return dict.fromkeys((paths.DOCUMENTS, paths.OFFSETS), content.hexdigest())


def _write_arrays(tables: CandidateTables, namespaces: Sequence[str], folder: Path) -> None:
    """Write what ranking needs of every document, so that no line has to be read."""
    heads, ids = tables.heads, tables.ids
    files = pc.if_else(pc.equal(heads.column("type"), str(Level.MODULE)), None, heads.column("file_path"))
    parent_rows = _rows_of(heads.column("parent_id"), ids)
    pageranks = tables.tables.read_or_empty("graph_stats", tables.key, columns=_RANKS)
    names = StringTable.of(ids.to_pylist())
    facts = tables.tables.read_or_empty("file_facts", tables.key, columns=_OF_FACTS)
    handing_on = facts.filter(facts.column("only_reexports")).column("file_path")
    only_reexports: npt.NDArray[np.bool_] = pc.is_in(tables.ids, value_set=handing_on.combine_chunks()).to_numpy(
        zero_copy_only=False
    )
    unread_rows, unread_lines = _unread(facts, ids)
    positions = pc.index_in(ids, value_set=pageranks.column("id").combine_chunks())
    ranks = pageranks.column("pagerank").combine_chunks().take(positions)
    value: npt.NDArray[np.float64] = pc.fill_null(ranks, 0.0).to_numpy()
    # A document's PageRank, and that of all documents below it.
    importance, above = value.copy(), parent_rows
    while len(above := above[(has_parent := above >= 0)]):
        value = value[has_parent]
        np.add.at(importance, above, value)
        above = parent_rows[above]
    arrays: dict[str, Array] = {
        "level": level_numbers(heads),
        **{name: _booleans(heads, name) for name in ("is_placeholder", "is_test", "is_vendored")},
        "only_reexports": only_reexports,
        "is_namespace": pc.is_in(ids, value_set=pa.array(namespaces, pa.string())).to_numpy(zero_copy_only=False),
        "role": _roles(heads),
        "unread_rows": unread_rows,
        "unread_lines": unread_lines,
        "importance": importance,
        "file_row": _rows_of(files, ids),
        "parent_row": parent_rows,
        "dense_rows": tables.dense_rows,
        "ids": names.content,
        "id_offsets": names.offsets,
    }
    write_npz(folder / paths.DOCUMENT_ARRAYS, arrays)


def _unread(facts: pa.Table, ids: pa.StringArray) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The lines of definitions that were not read, in order, each with the row of its file."""
    found = facts.filter(pc.is_valid(facts.column("lost_lines"))).sort_by("file_path")
    lists = found.column("lost_lines").combine_chunks()
    counts: npt.NDArray[np.int64] = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    lines: npt.NDArray[np.int32] = lists.flatten().to_numpy(zero_copy_only=False).astype(np.int32)
    return _rows_of(found.column("file_path"), ids).repeat(counts), lines


def _roles(heads: pa.Table) -> npt.NDArray[np.uint8]:
    """The role of each document's file, as a position in `ROLES`; a folder is source."""
    file_paths = pc.if_else(pc.equal(heads.column("type"), str(Level.MODULE)), "", heads.column("file_path"))
    distinct = file_paths.combine_chunks().dictionary_encode()
    numbers = np.array([ROLES.index(role_of(path)) for path in distinct.dictionary.to_pylist()], dtype=np.uint8)
    found: npt.NDArray[np.uint8] = numbers[distinct.indices.to_numpy()]
    return found


def _write_shown(tables: CandidateTables, folder: Path) -> None:
    documents = tables.tables.read("documents", tables.key, columns=_SHOWN)
    build_shown_fields(documents.take(index_order(documents))).write(folder / paths.SHOWN_FIELDS)


def _write_callers(tables: CandidateTables, folder: Path) -> None:
    calls = ("kind", str(EdgeKind.CALL))
    edges = tables.tables.read_parts("edges", tables.key, columns=list(OF_EDGES), having=calls)
    build_callers(edges, tables.ids_before(Level.FILE)).write(folder / paths.CALLERS)


def _write_uses(tables: CandidateTables, folder: Path) -> None:
    edges = tables.tables.read_parts("edges", tables.key, columns=list(OF_USES))
    build_uses(edges, tables.ids_before(Level.MODULE)).write(folder / paths.USES)


def _write_constants(tables: CandidateTables, folder: Path) -> None:
    references = ("kind", str(EdgeKind.REFERENCE))
    edges = tables.tables.read_parts("edges", tables.key, columns=list(OF_EDGES), having=references)
    build_constant_uses(edges, tables.ids_before(Level.MODULE)).write(folder / paths.CONSTANTS)


def _write_owners(tables: CandidateTables, folder: Path) -> None:
    documents = tables.tables.read("documents", tables.key, columns=_OF_OWNERS["documents"])
    sources = tables.tables.read_parts("file_facts", tables.key, columns=_OF_OWNERS["file_facts"])
    write_npy(folder / paths.PASSAGE_OWNERS, find_owners(documents.take(index_order(documents)), sources))


def _write_vector_ids(tables: CandidateTables, folder: Path) -> None:
    _write_json(folder / paths.INDEX_MAP, tables.dense_ids.to_pylist())


def _matrix_part(tables: CandidateTables, lane: Lane) -> FilePart:
    """The vectors of a lane and, of many, their cells, whose digest without provenance is that of the vectors."""
    name, cells = paths.VECTOR_FILES.get(lane, paths.EMBEDDINGS), paths.NEAREST_FILES[lane]
    has_cells = len(tables.dense_rows) >= FEWEST_VECTORS

    def write(folder: Path) -> dict[str, str]:
        matrix = tables.vectors(lane)
        (write_npy if lane in paths.VECTOR_FILES else write_tensor)(folder / name, matrix)
        if not has_cells:
            return {}
        write_nearest(folder / cells, matrix)
        return {cells: hashlib.sha256(matrix.data).hexdigest()}

    made_from = [str(tables.dimensions), *tables.lane_hashes("vectors", lane, "vector")]
    return FilePart("vectors", f"vectors {lane}", made_from, [name, *([cells] if has_cells else [])], write)


def _write_words(tables: CandidateTables, lane: Lane, folder: Path) -> None:
    texts, rows = tables.tokens(lane), level_numbers(tables.heads)
    if lane is Lane.CODE:
        # In index order the documents of one level follow one another.
        files = np.searchsorted(rows, LEVELS.index(Level.FILE) + np.arange(2)).tolist()
        texts, passage_files = _with_passages(texts, *files)
        write_npy(folder / paths.PASSAGES, passage_files)
        # Passages are a level of their own: how rare a word is counts among passages alone.
        rows = np.concatenate((rows, np.full(len(passage_files), len(LEVELS), dtype=np.int8)))
    found = count_tokens(texts)
    build_bm25(found, rows).write(folder / paths.BM25_FILES[lane])
    if lane is Lane.KEYWORDS:
        # For people and other programs.
        _write_json(folder / paths.KEYWORDS_VOCABULARY, {token: k for k, token in enumerate(found.vocabulary)})
        columns = {name: tables.heads.column(name) for name in ("file_path", "id")}
        columns |= {"length": pa.array(found.lengths), "type": tables.heads.column("type")}
        lines = json_objects({name: json_texts(column) for name, column in columns.items()}, end="}\n")
        (folder / paths.KEYWORDS_METADATA).write_bytes(utf8_of(lines))


def _with_passages(texts: pa.ChunkedArray, first: int, end: int) -> tuple[pa.ChunkedArray, npt.NDArray[np.int32]]:
    """The texts of all documents but the files from `first` to `end`, then the passages of the files, and the document
    of each passage."""
    passages, positions = break_apart(texts.slice(first, end - first).combine_chunks(), TOKEN_BREAK)
    others = [*texts.slice(0, first).chunks, pa.repeat("", end - first), *texts.slice(end).chunks]
    return pa.chunked_array([*others, passages], pa.string()), (first + positions.to_numpy()).astype(np.int32)


def _write_names(tables: CandidateTables, aliases: Sequence[tuple[str, str]], folder: Path) -> None:
    columns = (tables.heads.column(name).to_pylist() for name in ("qualified_name", "file_path"))
    rows = pc.index_in(pa.array([target for _, target in aliases], pa.string()), value_set=tables.ids).to_pylist()
    named = [(name, row) for (name, _), row in zip(aliases, rows, strict=True) if row is not None]
    build_symbol_names(zip(*columns, strict=True), named).write(folder / paths.SYMBOL_NAMES)


def level_numbers(heads: pa.Table) -> npt.NDArray[np.int8]:
    """The position of each document's level in `LEVELS`."""
    numbers: npt.NDArray[np.int8] = heads.column("level").to_numpy().astype(np.int8)
    return numbers


def _rows_of(wanted: pa.ChunkedArray, ids: pa.StringArray) -> npt.NDArray[np.int32]:
    """The row of each wanted id, -1 where there is none."""
    rows: npt.NDArray[np.int32] = pc.fill_null(pc.index_in(wanted, value_set=ids), -1).to_numpy().astype(np.int32)
    return rows


def _booleans(table: pa.Table, column: str) -> npt.NDArray[np.bool_]:
    values: npt.NDArray[np.bool_] = table.column(column).to_numpy().astype(np.bool_)
    return values


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
