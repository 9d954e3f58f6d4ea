"""The files of a version folder, each written from the tables of one repository.

Vectors, and lines of documents that are the same in the last version, are copied from there.
"""

import hashlib
import mmap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.language_facts.file_languages import ROLES, role_of
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.indexes.file_formats import version_folder as paths
from codesum_pipeline.indexes.file_formats.arrow_texts import (
    OF_HISTORY,
    DocumentLines,
    build_shown_fields,
    lines_of,
    stamps_of,
    utf8_and_offsets,
)
from codesum_pipeline.indexes.file_formats.graph_files import (
    OF_USES,
    build_callers,
    build_constant_uses,
    build_uses,
    number_edges,
    read_aliases,
)
from codesum_pipeline.indexes.file_formats.index_files import LINES, TEXTS, build_symbol_names
from codesum_pipeline.indexes.file_formats.stored_zip import (
    Array,
    Vectors,
    map_matrix,
    map_npy,
    map_npz,
    write_matrix,
    write_npy,
    write_npz,
)
from codesum_pipeline.indexes.file_formats.version_folder import VECTOR_FILES, Lane
from codesum_pipeline.indexes.publishing.candidate_tables import (
    HEAD,
    CandidateTables,
    FilePart,
    Numbers,
    booleans,
    level_numbers,
    write_json,
)
from codesum_pipeline.indexes.publishing.last_version import runs_of
from codesum_pipeline.indexes.publishing.namespaces import find_namespaces
from codesum_pipeline.indexes.publishing.word_files import owner_part, word_parts

_PART = "documents"
_STAMPS = "provenance"
_FILES = (paths.DOCUMENTS, paths.OFFSETS)
# How many bytes of each line are the document without its provenance.
_LENGTHS = "documents without provenance"
_NO_LINES = DocumentLines(memoryview(b""), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64))
# Lines written at one time: bounds the memory, most of which is in the processor's cache then.
_AT_ONCE = 1 << 11


def line_part(tables: CandidateTables) -> FilePart:
    """All lines; they hold provenance, so nothing says beforehand that they are the last version's."""
    return FilePart("documents", _PART, [None], _FILES, lambda folder: _write_lines(tables, folder))


def _write_lines(tables: CandidateTables, folder: Path) -> dict[str, str]:
    digest = hashlib.sha256()
    offsets, contents = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    with (folder / paths.DOCUMENTS).open("wb") as file:
        for lines in _lines(tables):
            file.write(lines.text)
            digest.update(b"}\n".join([*lines.contents(), b""]))
            offsets.append(lines.offsets[1:] + offsets[-1][-1])
            contents.append(lines.content_bytes)
    write_npy(folder / paths.OFFSETS, np.concatenate(offsets))
    tables.origins.keep(_LENGTHS, pa.array(np.concatenate(contents)))
    return dict.fromkeys(_FILES, digest.hexdigest())


def _lines(tables: CandidateTables) -> Iterator[DocumentLines]:
    """All lines in index order. Documents whose part of the table is the same are not read."""
    origins, rows, last = tables.origins, tables.order.to_numpy(), _LastLines.of(tables)
    stamps = stamps_of(tables.ids, tables.tables.read("document_history", tables.key, columns=list(OF_HISTORY)))
    of_stamps = tables.hash_rows(stamps)
    stamped = origins.same_rows(_STAMPS, of_stamps, _FILES)
    known = origins.last_hashes(_PART, tables.known["documents"][rows] & (stamped >= 0), _FILES)
    same, read, done = np.where(known.is_valid().to_numpy(zero_copy_only=False), stamped, -1), 0, 0
    wanted, hashes = np.flatnonzero(same < 0), [pa.nulls(0, pa.uint64())]
    for some in tables.documents(rows[wanted]):
        at = wanted[read : (read := read + some.num_rows)]
        hashes.append(tables.hash_rows(some))
        same[at] = np.where(origins.same_rows(_PART, hashes[-1], _FILES, at) >= 0, stamped[at], -1)
        end = int(at.max(initial=done - 1)) + 1
        yield from _runs(some.filter(pa.array(same[at] < 0)), stamps.slice(done, end - done), same[done:end], last)
        done = end
    yield from _runs(TABLES["documents"].schema.empty_table(), stamps.slice(done), same[done:], last)
    origins.keep(_STAMPS, of_stamps)
    origins.keep(_PART, pc.replace_with_mask(known, known.is_null(), pa.concat_arrays(hashes)))


class _LastLines(Struct, frozen=True):
    """The lines of the last version; none where it is not known. Some at a time are mapped: pages of a map count as
    memory."""

    path: Path
    offsets: Numbers
    content_bytes: Numbers

    @classmethod
    def of(cls, tables: CandidateTables) -> Self:
        last = tables.origins.last
        if last is None or _LENGTHS not in last.rows.column_names or not last.has(*_FILES):
            return cls(Path(), _NO_LINES.offsets, _NO_LINES.content_bytes)
        lengths = last.rows.column(_LENGTHS).to_numpy()
        return cls(last.file(paths.DOCUMENTS), map_npy(last.file(paths.OFFSETS)), lengths)

    def between(self, span: slice) -> DocumentLines:
        """The lines of a span."""
        offsets = self.offsets[span.start : span.stop + 1]
        start, end = int(offsets[0]), int(offsets[-1])
        before = start % mmap.ALLOCATIONGRANULARITY
        with self.path.open("rb") as file:
            pages = mmap.mmap(file.fileno(), end - start + before, access=mmap.ACCESS_READ, offset=start - before)
        return DocumentLines(memoryview(pages)[before:], offsets - start, self.content_bytes[span])


def _runs(new: pa.Table, stamps: pa.Table, same: Numbers, last: _LastLines) -> Iterator[DocumentLines]:
    """The lines of documents that follow one another: `same` has the rows of those that are the last version's, -1 for
    each of the `new` ones; `stamps` are those of all."""
    for first in range(0, len(same), _AT_ONCE):
        some = same[first : first + _AT_ONCE]
        is_new = some < 0
        count, stamps_of_new = int(is_new.sum()), stamps.slice(first, len(some)).filter(pa.array(is_new))
        fresh, new = lines_of(new.slice(0, count), stamps_of_new) if count else _NO_LINES, new.slice(count)
        for is_fresh, span in runs_of(some):
            yield (fresh if is_fresh else last).between(span)


def vector_parts(tables: CandidateTables) -> list[FilePart]:
    """The ids of the vectors' documents, and for each lane its vectors."""

    def write_ids(folder: Path) -> None:
        write_json(folder / paths.INDEX_MAP, tables.dense_ids.to_pylist())

    made_from = [tables.content_hash("documents", HEAD)]
    of_ids = FilePart("vectors", "vector ids", made_from, [paths.INDEX_MAP], write_ids)
    return [of_ids, *(_matrix_part(tables, lane, name) for lane, name in VECTOR_FILES.items())]


def _matrix_part(tables: CandidateTables, lane: Lane, name: str) -> FilePart:
    made_from = [str(tables.dimensions), *tables.lane_hashes("vectors", lane, "vector")]
    return FilePart(
        "vectors", f"vectors {lane}", made_from, [name], lambda folder: _write_matrix(tables, lane, name, folder)
    )


def _write_matrix(tables: CandidateTables, lane: Lane, name: str, folder: Path) -> None:
    """Write the vectors of a lane. Those whose part of the table is the same are copied and not read."""
    rows = tables.rows_of_lane("vectors", lane)
    before, places = _last_vectors(tables, name)
    is_new = ~tables.known["vectors"][rows] | (places < 0)
    fresh = tables.vectors(rows[is_new])
    spans = runs_of(np.where(is_new, -1, places))
    write_matrix(folder / name, fresh[:0], *((fresh if is_fresh else before)[span] for is_fresh, span in spans))


def _last_vectors(tables: CandidateTables, name: str) -> tuple[Vectors, Numbers]:
    """The last version's matrix, and the place of each of now's documents in it, -1 for none."""
    last, wanted = tables.origins.last, tables.dense_rows
    if (
        last is None
        or not last.rows.num_rows
        or not last.has(name, paths.DOCUMENT_ARRAYS)
        or last.version.manifest["embedder"]["dimensions"] != tables.dimensions
    ):
        return np.empty((0, tables.dimensions), dtype=np.float32), np.full(len(wanted), -1, dtype=np.int64)
    dense_rows = map_npz(last.file(paths.DOCUMENT_ARRAYS))["dense_rows"]
    # The last place stands for documents without a row.
    place_of_row = np.full(last.rows.num_rows + 1, -1, dtype=np.int64)
    place_of_row[dense_rows] = np.arange(len(dense_rows))
    return map_matrix(last.file(name), tables.dimensions), place_of_row[tables.origins.places[wanted]]


_RANKS = ["id", "pagerank"]
_OF_FACTS = ["file_path", "only_reexports", "lost_lines", "cells"]
_SHOWN = ["id", "type", *LINES, *TEXTS]
_OF_EDGES = (paths.USES, paths.CALLERS, paths.CONSTANTS)

_Write = Callable[[CandidateTables, Path], None]


def candidate_parts(tables: CandidateTables) -> list[FilePart]:
    """Every file but the manifest."""
    namespaces = sorted(find_namespaces(tables.tables, tables.key))
    of_arrays = {"documents": HEAD, "graph_stats": _RANKS, "file_facts": _OF_FACTS}
    aliases_hash = tables.content_hash("aliases", TABLES["aliases"].schema.names)
    if aliases_hash is None:
        aliases_hash = hash_of(read_aliases(tables.tables, tables.key))

    def part(
        doing: str, name: str, columns: Mapping[str, Sequence[str]], files: Sequence[str], write: _Write, *hashes: str
    ) -> FilePart:
        made_from = [*(tables.content_hash(*each) for each in columns.items()), *hashes]
        return FilePart(doing, name, made_from, files, partial(write, tables))

    write_arrays = partial(_write_arrays, namespaces)
    return [
        line_part(tables),
        part("document arrays", "arrays", of_arrays, [paths.DOCUMENT_ARRAYS], write_arrays, hash_of(namespaces)),
        part("what hits show", "shown", {"documents": _SHOWN}, [paths.SHOWN_FIELDS], _write_shown),
        part("callers and uses", "uses", {"documents": HEAD, "edges": OF_USES}, _OF_EDGES, _write_uses),
        *vector_parts(tables),
        *word_parts(tables),
        owner_part(tables),
        part("names", "names", {"documents": HEAD}, [paths.SYMBOL_NAMES], _write_names, aliases_hash),
    ]


def _write_arrays(namespaces: Sequence[str], tables: CandidateTables, folder: Path) -> None:
    """Write what ranking needs of every document, so that no line has to be read."""
    heads, ids = tables.heads, tables.ids
    files = pc.if_else(pc.equal(heads.column("type"), str(Level.MODULE)), None, heads.column("file_path"))
    parent_rows = _rows_of(heads.column("parent_id"), ids)
    pageranks = tables.tables.read_or_empty("graph_stats", tables.key, columns=_RANKS)
    names, offsets = utf8_and_offsets(ids.cast(pa.large_string()))
    facts = tables.tables.read_or_empty("file_facts", tables.key, columns=_OF_FACTS)
    handing_on = facts.filter(facts.column("only_reexports")).column("file_path")
    only_reexports: npt.NDArray[np.bool_] = pc.is_in(tables.ids, value_set=handing_on.combine_chunks()).to_numpy(
        zero_copy_only=False
    )
    unread_rows, unread_lines = _lines_of_files(facts, "lost_lines", ids)
    cell_rows, cell_lines = _lines_of_files(facts, "cells", ids)
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
        **{name: booleans(heads, name) for name in ("is_placeholder", "is_test", "is_vendored")},
        "only_reexports": only_reexports,
        "is_namespace": pc.is_in(ids, value_set=pa.array(namespaces, pa.string())).to_numpy(zero_copy_only=False),
        "role": _roles(heads),
        "unread_rows": unread_rows,
        "unread_lines": unread_lines,
        "cell_rows": cell_rows,
        "cell_lines": cell_lines,
        "importance": importance,
        "file_row": _rows_of(files, ids),
        "parent_row": parent_rows,
        "dense_rows": tables.dense_rows,
        "ids": names,
        "id_offsets": offsets,
    }
    write_npz(folder / paths.DOCUMENT_ARRAYS, arrays)


def _lines_of_files(
    facts: pa.Table, name: str, ids: pa.StringArray
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The lines in a column of lists, in order, each with the row of its file."""
    found = facts.filter(pc.is_valid(facts.column(name))).sort_by("file_path")
    lists = found.column(name).combine_chunks()
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
    build_shown_fields(documents.take(tables.order)).write(folder / paths.SHOWN_FIELDS)


def _write_uses(tables: CandidateTables, folder: Path) -> None:
    parts = tables.tables.read_parts("edges", tables.key, columns=list(OF_USES))
    edges = number_edges(parts, tables.ids_before(Level.MODULE))
    uses = build_uses(edges)
    uses.write(folder / paths.USES)
    build_callers(uses, len(tables.ids_before(Level.FILE))).write(folder / paths.CALLERS)
    build_constant_uses(edges).write(folder / paths.CONSTANTS)


def _write_names(tables: CandidateTables, folder: Path) -> None:
    aliases = read_aliases(tables.tables, tables.key)
    columns = (tables.heads.column(name).to_pylist() for name in ("qualified_name", "file_path"))
    rows = pc.index_in(pa.array([target for _, target in aliases], pa.string()), value_set=tables.ids).to_pylist()
    named = [(name, row) for (name, _), row in zip(aliases, rows, strict=True) if row is not None]
    build_symbol_names(zip(*columns, strict=True), named).write(folder / paths.SYMBOL_NAMES)


def _rows_of(wanted: pa.ChunkedArray, ids: pa.StringArray) -> npt.NDArray[np.int32]:
    """The row of each wanted id, -1 where there is none."""
    rows: npt.NDArray[np.int32] = pc.fill_null(pc.index_in(wanted, value_set=ids), -1).to_numpy().astype(np.int32)
    return rows
