"""The files of a version folder, each written from the tables of one repository.

Row k means the same document in every file: documents are ordered by level,
then by id, and so are the vectors, which leave the placeholders out.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.indexes.bm25 import build_bm25
from codesum_pipeline.indexes.dense import matrix_of
from codesum_pipeline.indexes.embedders import Vectors
from codesum_pipeline.indexes.lanes import TERM_LANES, Lane
from codesum_pipeline.indexes.published_documents import document_lines, in_index_order
from codesum_pipeline.indexes.stored_zip import Array, npy_parts, write_npz
from codesum_pipeline.indexes.string_table import StringTable
from codesum_pipeline.indexes.symbol_names import build_symbol_names
from codesum_pipeline.indexes.torch_file import write_tensor
from codesum_pipeline.indexes.version_folder import (
    CODE_BM25,
    DOCUMENT_ARRAYS,
    DOCUMENTS,
    EMBEDDINGS,
    INDEX_MAP,
    KEYWORDS_BM25,
    KEYWORDS_METADATA,
    KEYWORDS_VOCABULARY,
    OFFSETS,
    SYMBOL_NAMES,
    VECTOR_FILES,
)
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.model.hashing import canonical_json
from codesum_pipeline.model.progress import Progress
from codesum_pipeline.store.workspace import Workspace

_BM25_FILES = {Lane.CODE: CODE_BM25, Lane.KEYWORDS: KEYWORDS_BM25}


@dataclass(frozen=True, slots=True)
class CandidateTables:
    """What an index is made of; `documents` are in index order, and row k of `vectors` is document `dense_rows[k]`."""

    documents: pa.Table
    history: pa.Table
    pageranks: pa.Table
    dense_rows: npt.NDArray[np.int32]
    vectors: Mapping[Lane, Vectors]
    tokens: Mapping[Lane, pa.StringArray]

    @property
    def ids(self) -> list[str]:
        ids: list[str] = self.documents.column("id").to_pylist()
        return ids


def read_candidate_tables(ws: Workspace, *, dimensions: int) -> CandidateTables:
    """Read the tables and put all rows in index order; raises `BrokenStore` when a lane lacks a document."""
    documents = in_index_order(ws.tables.read("documents", ws.key))
    ids = documents.column("id").combine_chunks()
    dense_rows = np.flatnonzero(~_booleans(documents, "is_placeholder")).astype(np.int32)
    dense_ids = ids.take(pa.array(dense_rows))
    vectors = ws.tables.read("vectors", ws.key, columns=["id", "lane", "vector"])
    terms = ws.tables.read("terms", ws.key, columns=["id", "lane", "tokens"])
    return CandidateTables(
        documents=documents,
        history=ws.tables.read("document_history", ws.key),
        pageranks=ws.tables.read_or_empty("graph_stats", ws.key, columns=["id", "pagerank"]),
        dense_rows=dense_rows,
        vectors={
            lane: matrix_of(_of_lane(vectors, lane, dense_ids, ws.key), dimensions)
            for lane in (Lane.SUMMARY, *VECTOR_FILES)
        },
        tokens={lane: _of_lane(terms, lane, ids, ws.key).column("tokens").combine_chunks() for lane in TERM_LANES},
    )


def write_files(folder: Path, tables: CandidateTables, *, progress: Progress) -> dict[str, str]:
    """Write every file but the manifest; returns the sha256 without provenance of those that hold some."""
    without_provenance: dict[str, str] = {}
    steps: tuple[tuple[str, Callable[[], None]], ...] = (
        ("documents", lambda: without_provenance.update(_write_documents(folder, tables))),
        ("document arrays", lambda: _write_arrays(folder, tables)),
        ("vectors", lambda: _write_vectors(folder, tables)),
        ("code words", lambda: _write_terms(folder, Lane.CODE, tables)),
        ("keywords", lambda: _write_terms(folder, Lane.KEYWORDS, tables)),
        ("names", lambda: _write_names(folder, tables)),
    )
    for done, (doing, write) in enumerate(steps):
        progress(f"writing {doing}", done, len(steps))
        write()
    progress("writing the index", len(steps), len(steps))
    return without_provenance


def _write_documents(folder: Path, tables: CandidateTables) -> dict[str, str]:
    content = hashlib.sha256()
    offsets = [0]
    with _new_file(folder, DOCUMENTS).open("wb") as file:
        for line in document_lines(tables.documents, tables.history):
            content.update(f"{line.content}\n".encode())
            offsets.append(offsets[-1] + file.write(line.line.encode()))
    _write_npy(_new_file(folder, OFFSETS), np.array(offsets, dtype=np.int64))
    return dict.fromkeys((DOCUMENTS, OFFSETS), content.hexdigest())


def _write_arrays(folder: Path, tables: CandidateTables) -> None:
    """What ranking needs of every document, without reading its line."""
    documents = tables.documents
    ids = documents.column("id").combine_chunks()
    files = pc.if_else(pc.equal(documents.column("type"), str(Level.MODULE)), None, documents.column("file_path"))
    parent_rows = _rows_of(documents.column("parent_id"), ids)
    names = StringTable.of(tables.ids)
    arrays: dict[str, Array] = {
        "level": level_numbers(documents),
        "is_placeholder": _booleans(documents, "is_placeholder"),
        "is_test": _booleans(documents, "is_test"),
        "is_vendored": _booleans(documents, "is_vendored"),
        "importance": _importance(tables.pageranks, ids, parent_rows),
        "file_row": _rows_of(files, ids),
        "parent_row": parent_rows,
        "dense_rows": tables.dense_rows,
        "ids": names.content,
        "id_offsets": names.offsets,
    }
    write_npz(_new_file(folder, DOCUMENT_ARRAYS), arrays)


def _importance(
    pageranks: pa.Table, ids: pa.StringArray, parent_rows: npt.NDArray[np.int32]
) -> npt.NDArray[np.float64]:
    """A document's PageRank, and that of all documents below it."""
    positions = pc.index_in(ids, value_set=pageranks.column("id").combine_chunks())
    own: npt.NDArray[np.float64] = pc.fill_null(
        pageranks.column("pagerank").combine_chunks().take(positions), 0.0
    ).to_numpy()
    total = own.copy()
    above, value = parent_rows, own
    while len(above := above[(has_parent := above >= 0)]):
        value = value[has_parent]
        np.add.at(total, above, value)
        above = parent_rows[above]
    return total


def _write_vectors(folder: Path, tables: CandidateTables) -> None:
    write_tensor(_new_file(folder, EMBEDDINGS), tables.vectors[Lane.SUMMARY])
    ids = tables.ids
    _write_json(_new_file(folder, INDEX_MAP), [ids[row] for row in tables.dense_rows.tolist()])
    for lane, name in VECTOR_FILES.items():
        _write_npy(_new_file(folder, name), tables.vectors[lane])


def _write_terms(folder: Path, lane: Lane, tables: CandidateTables) -> None:
    tokens, lengths, vocabulary = _numbered(tables.tokens[lane])
    index = build_bm25(tokens, lengths, level_numbers(tables.documents), StringTable.of(vocabulary))
    index.write(_new_file(folder, _BM25_FILES[lane]))
    if lane is Lane.KEYWORDS:
        _write_json(_new_file(folder, KEYWORDS_VOCABULARY), {token: k for k, token in enumerate(vocabulary)})
        columns = [tables.documents.column(name).to_pylist() for name in ("id", "type", "file_path")]
        rows = zip(*columns, lengths.tolist(), strict=True)
        lines = (canonical_json(dict(zip(("id", "type", "file_path", "length"), row, strict=True))) for row in rows)
        _new_file(folder, KEYWORDS_METADATA).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _write_names(folder: Path, tables: CandidateTables) -> None:
    columns = (tables.documents.column(name).to_pylist() for name in ("qualified_name", "file_path"))
    build_symbol_names(zip(*columns, strict=True)).write(_new_file(folder, SYMBOL_NAMES))


def _numbered(texts: pa.StringArray) -> tuple[Array, Array, list[str]]:
    """The tokens of all texts as positions in their sorted vocabulary, how many each text has, the vocabulary."""
    split = pc.split_pattern(texts, " ")
    flat = split.flatten()
    # An empty text splits into one empty token.
    lengths = np.where(
        pc.equal(texts, "").to_numpy(zero_copy_only=False), 0, pc.list_value_length(split).to_numpy()
    ).astype(np.int64)
    encoded = flat.filter(pc.not_equal(flat, "")).dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[encoded.indices.to_numpy()], lengths, encoded.dictionary.take(pa.array(order)).to_pylist()


def level_numbers(documents: pa.Table) -> npt.NDArray[np.int8]:
    """The position of each document's level in `LEVELS`."""
    numbers: npt.NDArray[np.int8] = documents.column("level").to_numpy().astype(np.int8)
    return numbers


def _of_lane(table: pa.Table, lane: Lane, ids: pa.StringArray, key: str) -> pa.Table:
    """The rows of one lane in the order of `ids`."""
    rows = table.filter(pc.equal(table.column("lane"), str(lane))).combine_chunks()
    positions = pc.index_in(ids, value_set=rows.column("id").combine_chunks())
    if positions.null_count or len(ids) != rows.num_rows:
        raise BrokenStore(
            f"repository {key!r}: lane {lane.value!r} has {rows.num_rows} rows for {len(ids)} documents: "
            f"run `codesum index {key}` again"
        )
    return rows.take(positions)


def _rows_of(wanted: pa.ChunkedArray, ids: pa.StringArray) -> npt.NDArray[np.int32]:
    """The row of each wanted id, -1 where there is none."""
    rows: npt.NDArray[np.int32] = pc.fill_null(pc.index_in(wanted, value_set=ids), -1).to_numpy().astype(np.int32)
    return rows


def _booleans(table: pa.Table, column: str) -> npt.NDArray[np.bool_]:
    values: npt.NDArray[np.bool_] = table.column(column).to_numpy().astype(np.bool_)
    return values


def _write_npy(path: Path, array: Array) -> None:
    with path.open("wb") as file:
        for part in npy_parts(array):
            file.write(part)


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def _new_file(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
