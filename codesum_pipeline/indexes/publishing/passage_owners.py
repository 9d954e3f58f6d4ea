"""Which long function each passage of a file is in.

One text says little of the branches of a function of hundreds of lines. So the best passage in it speaks for it, as the
best passage of a file does for the file. What the last version says of a file stays where its text and the lines of its
long functions are the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.foundation.data_model.document import LONG_LINES, Level
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.indexes.file_formats import version_folder as paths
from codesum_pipeline.indexes.file_formats.index_files import LINES
from codesum_pipeline.indexes.file_formats.stored_zip import map_npy, write_npy
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.indexes.lanes.lane_texts import TEXT_BREAK, cut_passages
from codesum_pipeline.indexes.publishing.candidate_tables import CandidateTables, FilePart, Numbers

Owners = npt.NDArray[np.int32]
# First and last line, and row.
_Span = tuple[int, int, int]
_PART = "owners"
_OF_DOCUMENTS = ["id", "type", "file_path", *LINES]
_OF_FACTS = ["file_path", "source"]
# Sources read at one time: bounds the memory.
_AT_ONCE = 1 << 8


def owner_part(tables: CandidateTables) -> FilePart:
    """The long function of each passage that is in one."""
    columns = {"documents": _OF_DOCUMENTS, "file_facts": _OF_FACTS}
    made_from = [tables.content_hash(*each) for each in columns.items()]
    return FilePart(
        "passages of functions", _PART, made_from, [paths.PASSAGE_OWNERS], lambda folder: _write(tables, folder)
    )


def _write(tables: CandidateTables, folder: Path) -> None:
    documents = tables.tables.read("documents", tables.key, columns=_OF_DOCUMENTS)
    spans = _long_functions(documents.take(tables.order))
    found = pc.index_in(pa.array([*spans], pa.string()), value_set=tables.ids)
    rows = {path: row for path, row in zip(spans, found.to_pylist(), strict=True) if row is not None}
    hashes = _hashes_of(tables, rows, spans)
    tables.origins.keep(_PART, hashes)
    same = tables.origins.same_rows(_PART, hashes, [paths.PASSAGE_OWNERS])
    anew = {path: row for path, row in rows.items() if same[row] < 0}
    owners = find_owners(spans, anew, _sources(tables, [*anew]))
    write_npy(folder / paths.PASSAGE_OWNERS, _sorted([*_kept(tables, same), owners]))


def _hashes_of(tables: CandidateTables, rows: Mapping[str, int], spans: Mapping[str, list[_Span]]) -> pa.Array:
    """For each file with long functions the hash of all that says which passages these have: its text in the lane whose
    passages they are, and their names and lines."""
    texts = tables.text_hashes(tables.rows_of_lane("terms", Lane.CODE)[[*rows.values()]]).to_pylist()
    functions = pa.array([row for path in rows for *_, row in spans[path]], pa.int64())
    names = iter(tables.ids.take(functions).to_pylist())
    hashes = np.full(len(tables.ids), None, dtype=object)
    for (path, row), text in zip(rows.items(), texts, strict=True):
        hashes[row] = hash_of([text, [[first, last, next(names)] for first, last, _ in spans[path]]])
    return pa.array(hashes, pa.string())


def _sources(tables: CandidateTables, files: list[str]) -> Iterator[pa.Table]:
    known = tables.tables.read("file_facts", tables.key, columns=["file_path"]).column("file_path")
    rows = pc.indices_nonzero(pc.is_in(known, value_set=pa.array(files, pa.string()))).to_numpy().astype(np.int64)
    reader = tables.tables.reader("file_facts", tables.key, columns=_OF_FACTS)
    return (reader.at(rows[start : start + _AT_ONCE]) for start in range(0, len(rows), _AT_ONCE))


def _kept(tables: CandidateTables, same: Numbers) -> Iterator[Owners]:
    """What the last version says of the files that are the same, with the rows of now."""
    last = tables.origins.last
    if last is not None and (same >= 0).any():
        row_now = np.full(last.rows.num_rows, -1, dtype=np.int32)
        row_now[tables.origins.places[tables.origins.places >= 0]] = np.flatnonzero(tables.origins.places >= 0)
        is_kept = np.zeros(last.rows.num_rows, dtype=np.bool_)
        is_kept[same[same >= 0]] = True
        files, numbers, functions = map_npy(last.file(paths.PASSAGE_OWNERS)).T
        columns = np.stack((row_now[files], numbers, row_now[functions]), axis=1)
        yield columns[is_kept[files]]


def find_owners(spans: Mapping[str, list[_Span]], rows: Mapping[str, int], sources: Iterable[pa.Table]) -> Owners:
    """For each passage whose middle is in a long function, in order: the row of its file, its number in the file from
    0, and the row of the smallest such function; shape (passages, 3). `spans` are the long functions of each file,
    `rows` those of the files that are looked at, `sources` tables of file_path and source."""
    found: list[tuple[int, int, int]] = []
    for part in sources:
        for path, source in zip(*(part.column(name).to_pylist() for name in _OF_FACTS), strict=True):
            for number, line in enumerate(_middles(source) if path in rows else ()):
                inside = [(last - first, row) for first, last, row in spans[path] if first <= line <= last]
                if inside:
                    found.append((rows[path], number, min(inside)[1]))
    return _sorted([np.array(found, dtype=np.int32).reshape(-1, 3)])


def _sorted(parts: list[Owners]) -> Owners:
    owners = np.concatenate(parts)
    return owners[np.lexsort((owners[:, 1], owners[:, 0]))]


def _long_functions(documents: pa.Table) -> dict[str, list[_Span]]:
    """The long functions of each file that has some; `documents` are in index order."""
    is_function = pc.equal(documents.column("type"), str(Level.FUNCTION))
    first, last = (documents.column(name) for name in LINES)
    is_long = pc.fill_null(pc.greater_equal(pc.subtract(last, first), LONG_LINES), False)
    rows = pc.indices_nonzero(pc.and_(is_function, is_long))
    columns = (documents.column(name).take(rows).to_pylist() for name in ("file_path", *LINES))
    found: dict[str, list[_Span]] = {}
    for row, path, start, end in zip(rows.to_pylist(), *columns, strict=True):
        found.setdefault(path, []).append((start, end, row))
    return found


def _middles(source: str) -> Iterator[int]:
    """The line in the middle of each passage."""
    line = 1
    for passage in cut_passages(source).split(TEXT_BREAK):
        count = passage.count("\n")
        yield line + max(0, count - 1) // 2
        line += count
