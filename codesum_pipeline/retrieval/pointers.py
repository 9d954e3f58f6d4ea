"""Places in files that a question points to: a path, `app.py:120`, a line of a traceback.

Paths of other machines are compared from their ends: `/usr/lib/…/flask/app.py`
is the file that shares most of its last parts.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codesum_pipeline.model.documents import Level
from codesum_pipeline.retrieval.reader import PublishedIndex

# Of a path: `a/b.py`, `b.py`, with `:12`, `#L12`, `(12`, `", line 12` or ` line 12` behind it.
_POINTER = re.compile(
    r"(?P<path>(?:[A-Za-z]:)?(?:[\w.@+~-]*[\\/])*[\w@+~-][\w.@+~-]*\.[A-Za-z]\w*)"
    r"(?:(?::|\#L|\(|\",?\s+line\s+|,?\s+(?:at|on|in)?\s*line\s+)(?P<line>\d{1,6}))?"
)
# A name that more files have points to none of them.
_MOST_FILES = 3


@dataclass(frozen=True, slots=True)
class Pointer:
    """The last parts of a path, in small letters, and a line or None."""

    parts: tuple[str, ...]
    line: int | None


def pointers_in(text: str) -> tuple[Pointer, ...]:
    """All that a text points to, each once."""
    found = (
        Pointer(
            tuple(part for part in re.split(r"[\\/]", match["path"].lower()) if part not in ("", ".", "..")),
            int(match["line"]) if match["line"] else None,
        )
        for match in _POINTER.finditer(text)
    )
    return tuple(dict.fromkeys(found))


def rows_pointed_to(index: PublishedIndex, pointers: Sequence[Pointer]) -> list[int]:
    """The files that are pointed to, ascending; where a line is, the smallest function or class around it in its
    place."""
    return sorted({row for pointer in pointers for row in _rows(index, pointer)})


def _rows(index: PublishedIndex, pointer: Pointer) -> Iterator[int]:
    named = [row for row in index.names.exactly(pointer.parts[-1]) if index.level_of(row) is Level.FILE]
    shared = {row: _shared(index.ids[row].lower().split("/"), pointer.parts) for row in named}
    most = max(shared.values(), default=0)
    files = [row for row, count in shared.items() if count == most]
    for file in files if most and len(files) <= _MOST_FILES else ():
        around = None if pointer.line is None else innermost(index, file, pointer.line, (Level.FUNCTION, Level.CLASS))
        yield file if around is None else around


def _shared(path: Sequence[str], parts: Sequence[str]) -> int:
    """How many of the last parts two paths share."""
    count = 0
    for one, other in zip(reversed(path), reversed(parts), strict=False):
        if one != other:
            break
        count += 1
    return count


def innermost(index: PublishedIndex, file: int, line: int, levels: Sequence[Level]) -> int | None:
    """The smallest document of these levels, other than the file, that has a line of it."""
    inside = [
        (document["end_line"] - document["start_line"], row)
        for row in (index.arrays["file_row"] == file).nonzero()[0].tolist()
        if row != file and index.level_of(row) in levels
        for document in [index.document(row)]
        if document["start_line"] is not None and document["start_line"] <= line <= document["end_line"]
    ]
    return min(inside, default=(0, None))[1]
