"""The files of a version folder, each written from the tables of one repository."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.language_facts.file_languages import ROLES, role_of
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.indexes.file_formats import version_folder as paths
from codesum_pipeline.indexes.file_formats.arrow_bytes import utf8_and_offsets
from codesum_pipeline.indexes.file_formats.arrow_texts import (
    build_shown_fields,
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
from codesum_pipeline.indexes.file_formats.stored_zip import Array, write_npz
from codesum_pipeline.indexes.publishing.candidate_tables import (
    HEAD,
    CandidateTables,
    FilePart,
    booleans,
    level_numbers,
)
from codesum_pipeline.indexes.publishing.line_files import line_part
from codesum_pipeline.indexes.publishing.namespaces import find_namespaces
from codesum_pipeline.indexes.publishing.passage_owners import owner_part
from codesum_pipeline.indexes.publishing.vector_files import vector_parts
from codesum_pipeline.indexes.publishing.word_files import word_parts

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
