"""The vectors of each dense lane, and of many vectors their cells.

An edit changes few vectors. The others stay in the cells that the last version has them in, as long as the vectors that
these were made from are the same.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from codesum_pipeline.foundation.data_model.hashing import canonical_json, sha256_hex
from codesum_pipeline.indexes.file_formats import version_folder as paths
from codesum_pipeline.indexes.file_formats.nearest_vectors import (
    FEWEST_VECTORS,
    NearestVectors,
    SortedVectors,
    is_sampled,
    write_nearest,
)
from codesum_pipeline.indexes.file_formats.stored_zip import (
    Vectors,
    map_npy,
    map_npz,
    map_tensor,
    write_npy,
    write_tensor,
)
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.indexes.publishing.candidate_tables import HEAD, CandidateTables, FilePart, write_json

# Which documents' vectors say where cells are.
_SAMPLED = "sampled"
# Vectors compared at one time: bounds the memory.
_AT_ONCE = 1 << 12


def vector_parts(tables: CandidateTables) -> list[FilePart]:
    """The ids of the vectors' documents, and for each lane its vectors and, of many, their cells."""

    def write_ids(folder: Path) -> None:
        write_json(folder / paths.INDEX_MAP, tables.dense_ids.to_pylist())

    made_from = [tables.content_hash("documents", HEAD)]
    of_ids = FilePart("vectors", "vector ids", made_from, [paths.INDEX_MAP], write_ids)
    if len(tables.dense_rows) >= FEWEST_VECTORS:
        tables.origins.keep(_SAMPLED, pa.array(is_sampled(tables.ids.to_pylist())))
    return [of_ids, *(_matrix_part(tables, lane) for lane in tables.dense_lanes)]


def _matrix_part(tables: CandidateTables, lane: Lane) -> FilePart:
    """The digest of cells without provenance is that of what they are made from."""
    name, cells = paths.VECTOR_FILES.get(lane, paths.EMBEDDINGS), paths.NEAREST_FILES[lane]
    has_cells = len(tables.dense_rows) >= FEWEST_VECTORS

    def write(folder: Path) -> dict[str, str]:
        matrix = tables.vectors(lane)
        (write_npy if lane in paths.VECTOR_FILES else write_tensor)(folder / name, matrix)
        if not has_cells:
            return {}
        sampled = tables.origins.made[_SAMPLED].to_numpy(zero_copy_only=False)[tables.dense_rows]
        write_nearest(folder / cells, matrix, sampled, _last_cells(tables, lane, matrix))
        return {cells: sha256_hex(canonical_json(made_from).encode())}

    made_from = [str(tables.dimensions), *tables.lane_hashes("vectors", lane, "vector")]
    return FilePart("vectors", f"vectors {lane}", made_from, [name, *([cells] if has_cells else [])], write)


def _last_cells(tables: CandidateTables, lane: Lane, matrix: Vectors) -> SortedVectors | None:
    """How the last version sorted vectors, and which of them are the same now."""
    origins, name, cells = tables.origins, paths.VECTOR_FILES.get(lane, paths.EMBEDDINGS), paths.NEAREST_FILES[lane]
    last = origins.last
    if last is None or _SAMPLED not in last.rows.column_names or not last.has(name, cells, paths.DOCUMENT_ARRAYS):
        return None
    path = last.file(name)
    before = map_npy(path) if lane in paths.VECTOR_FILES else map_tensor(path, tables.dimensions)
    dense_rows = map_npz(last.file(paths.DOCUMENT_ARRAYS))["dense_rows"]
    # The last place stands for documents without a row.
    place_of_row = np.full(last.rows.num_rows + 1, -1, dtype=np.int64)
    place_of_row[dense_rows] = np.arange(len(dense_rows))
    places = place_of_row[origins.places[tables.dense_rows]]
    if before.shape[1] != matrix.shape[1]:
        return None
    _forget_changed(places, matrix, before)
    sampled = last.rows.column(_SAMPLED).to_numpy()[dense_rows]
    return SortedVectors(NearestVectors.map_file(last.file(cells)), sampled, places)


def _forget_changed(places: npt.NDArray[np.int64], matrix: Vectors, before: Vectors) -> None:
    """Set the places of vectors that differ to -1."""
    known = np.flatnonzero(places >= 0)
    for start in range(0, len(known), _AT_ONCE):
        rows = known[start : start + _AT_ONCE]
        are_same = (matrix[rows].view(np.uint32) == before[places[rows]].view(np.uint32)).all(axis=1)
        places[rows[~are_same]] = -1
