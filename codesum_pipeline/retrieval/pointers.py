"""Places in files that a question points to: a path, `app.py:120`, a line of a traceback.

Paths of other machines are compared from their ends: `/usr/lib/…/flask/app.py` is the file that shares most of its last
parts.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from codesum_pipeline.model.documents import Level
from codesum_pipeline.retrieval.reader import PublishedIndex

# One class of characters each, so that a text of any length is read once.
_WORD = re.compile(r"[\w.@+~\\/-]+")
# A line number behind a path: `:12`, `#L12`, `(12`, `", line 12` or ` line 12`.
_LINE = re.compile(r"(?:\"?[,:]?\s{0,2}(?:at |on |in )?line\s{1,2}|[:(]|\#L)(\d{1,6})(?!\d)")
_FILE_NAME = re.compile(r"[\w@+~.-]*[\w@+~-]\.[A-Za-z]\w*")
# Every name of a file has this, and few sentences do.
_ENDING = re.compile(r"[\w@+~-]\.[A-Za-z]")
_LONGEST_PATH = 500
# Only the last pointers of a text count: a traceback ends with the place that failed.
_MOST_POINTERS = 40
# A path that fits more files points to none of them.
_MOST_FILES = 3


class Pointer(Struct, frozen=True):
    """The last parts of a path, in small letters, and a line or None."""

    parts: tuple[str, ...]
    line: int | None


def pointers_in(text: str) -> tuple[Pointer, ...]:
    """The pointers of a text, each once; of many, the last ones."""
    if not _ENDING.search(text):
        return ()
    found = dict.fromkeys(pointer for match in _WORD.finditer(text) if (pointer := _pointer(text, match)))
    return tuple(found)[-_MOST_POINTERS:]


def _pointer(text: str, word: re.Match[str]) -> Pointer | None:
    """The path that a word is, with the line that stands behind it; None for another word."""
    path = word[0].rstrip(".-").lower()
    parts = tuple(part for part in re.split(r"[\\/]", path) if part not in ("", ".", ".."))
    if len(path) > _LONGEST_PATH or not parts or not _FILE_NAME.fullmatch(parts[-1]):
        return None
    line = _LINE.match(text, word.end())
    return Pointer(parts, int(line[1]) if line else None)


def rows_pointed_to(index: PublishedIndex, pointers: Sequence[Pointer]) -> list[int]:
    """The files that pointers mean, ascending; in place of a file, the smallest function or class around a pointer's
    line."""
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
