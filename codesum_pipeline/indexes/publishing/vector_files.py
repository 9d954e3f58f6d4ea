"""The vectors of each dense lane, and of many vectors their cells.

An edit changes few vectors. The others stay in the cells that the last version has them in, as long as the vectors that
these were made from are the same.
"""

from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

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
from codesum_pipeline.indexes.publishing.candidate_tables import HEAD, CandidateTables, FilePart, Numbers, write_json
from codesum_pipeline.indexes.publishing.last_version import runs_of

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
        tables.origins.keep(_SAMPLED, _sampled(tables))
    return [of_ids, *(_matrix_part(tables, lane) for lane in tables.dense_lanes)]


def _sampled(tables: CandidateTables) -> pa.Array:
    """Which documents' vectors say where cells are, which follows from their ids."""
    known = tables.origins.last_hashes(_SAMPLED, np.True_, [])
    new = tables.ids.filter(known.is_null()).to_pylist()
    return pc.replace_with_mask(known.cast(pa.bool_()), known.is_null(), pa.array(is_sampled(new)))


def _matrix_part(tables: CandidateTables, lane: Lane) -> FilePart:
    """The digest of cells without provenance is that of what they are made from."""
    name, cells = paths.VECTOR_FILES.get(lane, paths.EMBEDDINGS), paths.NEAREST_FILES[lane]
    has_cells = len(tables.dense_rows) >= FEWEST_VECTORS

    def write(folder: Path) -> dict[str, str]:
        last = _LastVectors.of(tables, lane)
        places = _write_matrix(tables, lane, last, folder / name)
        if not has_cells:
            return {}
        sampled = tables.origins.made[_SAMPLED].to_numpy(zero_copy_only=False)[tables.dense_rows]
        before = last.sorted_vectors(tables, cells, places) if last else None
        write_nearest(folder / cells, _map_matrix(folder / name, tables.dimensions), sampled, before)
        return {cells: sha256_hex(canonical_json(made_from).encode())}

    made_from = [str(tables.dimensions), *tables.lane_hashes("vectors", lane, "vector")]
    return FilePart("vectors", f"vectors {lane}", made_from, [name, *([cells] if has_cells else [])], write)


class _LastVectors(Struct, frozen=True):
    """The last version's matrix, the rows of its documents, and the place of each of now's in it, -1 for none."""

    matrix: Vectors
    dense_rows: npt.NDArray[np.int32]
    places: Numbers

    @classmethod
    def of(cls, tables: CandidateTables, lane: Lane) -> Self | None:
        name, last = paths.VECTOR_FILES.get(lane, paths.EMBEDDINGS), tables.origins.last
        if last is None or not last.rows.num_rows or not last.has(name, paths.DOCUMENT_ARRAYS):
            return None
        if last.version.manifest["embedder"]["dimensions"] != tables.dimensions:
            return None
        dense_rows = map_npz(last.file(paths.DOCUMENT_ARRAYS))["dense_rows"]
        # The last place stands for documents without a row.
        place_of_row = np.full(last.rows.num_rows + 1, -1, dtype=np.int64)
        place_of_row[dense_rows] = np.arange(len(dense_rows))
        matrix = _map_matrix(last.file(name), tables.dimensions)
        return cls(matrix, dense_rows, place_of_row[tables.origins.places[tables.dense_rows]])

    def sorted_vectors(self, tables: CandidateTables, cells: str, places: Numbers) -> SortedVectors | None:
        """How the last version sorted its vectors, of which those at `places` are the same now."""
        last = tables.origins.last
        if last is None or _SAMPLED not in last.rows.column_names or not last.has(cells):
            return None
        sampled = last.rows.column(_SAMPLED).to_numpy()[self.dense_rows]
        return SortedVectors(NearestVectors.map_file(last.file(cells)), sampled, places)


def _map_matrix(path: Path, dimensions: int) -> Vectors:
    return map_npy(path) if path.suffix == ".npy" else map_tensor(path, dimensions)


def _write_matrix(tables: CandidateTables, lane: Lane, last: _LastVectors | None, path: Path) -> Numbers:
    """Write the vectors of a lane, and say where each was in the last version; -1 where that had another one, or none.
    Those whose part of the table is the same are copied from there and not read."""
    rows = tables.rows_of_lane("vectors", lane)
    places = last.places.copy() if last else np.full(len(rows), -1, dtype=np.int64)
    is_new = ~tables.known["vectors"][rows] | (places < 0)
    fresh = tables.vectors(rows[is_new])
    blocks = [fresh[:0]]
    for is_fresh, span in runs_of(np.where(is_new, -1, places)):
        blocks.append(last.matrix[span] if last and not is_fresh else fresh[span])
    (write_npy if path.suffix == ".npy" else write_tensor)(path, *blocks)
    if last:
        places[is_new] = _unchanged(places[is_new], fresh, last.matrix)
    return places


def _unchanged(places: Numbers, matrix: Vectors, before: Vectors) -> Numbers:
    """The places of vectors, -1 where another one was there."""
    found = places.copy()
    known = np.flatnonzero(places >= 0)
    for start in range(0, len(known), _AT_ONCE):
        rows = known[start : start + _AT_ONCE]
        are_same = (matrix[rows].view(np.uint32) == before[places[rows]].view(np.uint32)).all(axis=1)
        found[rows[~are_same]] = -1
    return found
