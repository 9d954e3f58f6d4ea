"""Which long function each passage of a file is in.

One text says little of the branches of a function of hundreds of lines. So the best passage in it speaks for it, as the
best passage of a file does for the file.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.foundation.data_model.document import Level, is_long
from codesum_pipeline.indexes.lanes.lane_texts import TEXT_BREAK, cut_passages

# First and last line, and row.
_Span = tuple[int, int, int]


def find_owners(documents: pa.Table, sources: Iterable[pa.Table]) -> npt.NDArray[np.int32]:
    """For each passage whose middle is in a long function, in order: the row of its file, its number in the file from
    0, and the row of the smallest such function; shape (passages, 3). `documents` (id, type, file_path, start_line,
    end_line) are in index order, `sources` are tables of file_path and source."""
    spans = _long_functions(documents)
    rows = {id_: row for row, id_ in enumerate(documents.column("id").to_pylist()) if id_ in spans}
    paths = pa.array([*spans], pa.string())
    found: list[tuple[int, int, int]] = []
    for part in sources:
        some = part.filter(pc.is_in(part.column("file_path"), value_set=paths))
        for path, source in zip(*(some.column(name).to_pylist() for name in ("file_path", "source")), strict=True):
            for number, line in enumerate(_middles(source) if path in rows else ()):
                inside = [(last - first, row) for first, last, row in spans[path] if first <= line <= last]
                if inside:
                    found.append((rows[path], number, min(inside)[1]))
    return np.array(sorted(found), dtype=np.int32).reshape(-1, 3)


def _long_functions(documents: pa.Table) -> dict[str, list[_Span]]:
    """The long functions of each file that has some."""
    found: dict[str, list[_Span]] = {}
    columns = (documents.column(name).to_pylist() for name in ("type", "file_path", "start_line", "end_line"))
    for row, (level, path, first, last) in enumerate(zip(*columns, strict=True)):
        if level == Level.FUNCTION and is_long(first, last):
            found.setdefault(path, []).append((first, last, row))
    return found


def _middles(source: str) -> Iterator[int]:
    """The line in the middle of each passage."""
    line = 1
    for passage in cut_passages(source).split(TEXT_BREAK):
        count = passage.count("\n")
        yield line + max(0, count - 1) // 2
        line += count
