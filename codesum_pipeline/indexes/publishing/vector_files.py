"""The vectors of each dense lane; those that the last version has are copied from its file."""

from pathlib import Path

import numpy as np

from codesum_pipeline.indexes.file_formats import version_folder as paths
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors, map_matrix, map_npz, write_matrix
from codesum_pipeline.indexes.file_formats.version_folder import VECTOR_FILES, Lane
from codesum_pipeline.indexes.publishing.candidate_tables import HEAD, CandidateTables, FilePart, Numbers, write_json
from codesum_pipeline.indexes.publishing.last_version import runs_of


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
