"""What stands around a document, by relation: what it is part of, who uses it, what it uses, what is like it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import numpy as np

from codesum_pipeline.indexes.lanes import Lane
from codesum_pipeline.model.cancellation import checkpoint
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.graph import EdgeKind
from codesum_pipeline.model.ids import ROOT_MODULE
from codesum_pipeline.retrieval.reader import PublishedIndex

# Beyond these nobody follows a chain of users.
_MOST_FOLLOWED = 5000
_MOST_SIMILAR = 50


class Relation(StrEnum):
    """How documents belong together."""

    PART_OF = "part_of"
    MEMBERS = "members"
    CALLERS = "callers"
    CALLEES = "callees"
    BASES = "bases"
    SUBCLASSES = "subclasses"
    IMPORTS = "imports"
    IMPORTED_BY = "imported_by"
    SIMILAR = "similar"


OF_SYMBOLS = (
    Relation.PART_OF, Relation.MEMBERS, Relation.CALLERS, Relation.CALLEES, Relation.BASES, Relation.SUBCLASSES,
)  # fmt: skip
OF_FILES = (Relation.PART_OF, Relation.MEMBERS, Relation.IMPORTS, Relation.IMPORTED_BY)


@dataclass(frozen=True, slots=True)
class Related:
    """Another document of the same index, and by how many steps it is reached."""

    row: int
    distance: int = 1


def related(index: PublishedIndex, row: int, relation: Relation, *, depth: int = 1) -> list[Related]:
    """The documents in a relation to one, nearest first, then most important first; parents from the inside out."""
    if relation is Relation.PART_OF:
        return [Related(above, steps) for steps, above in enumerate(_above(index, row), start=1)]
    if relation is Relation.MEMBERS:
        return [Related(child) for child in np.flatnonzero(index.arrays["parent_row"] == row).tolist()]
    if relation is Relation.SIMILAR:
        return [Related(other) for other in _similar(index, row)]
    return _followed(index, row, _STEPS[relation], depth)


def external(index: PublishedIndex, row: int) -> list[str]:
    """What a file, or the files of a folder, rest on outside of the repository, as they write it."""
    files = _files_of(index, row) if index.level_of(row) in (Level.FILE, Level.MODULE) else [row]
    named = {name for file in files for name in index.document(file)["dependencies"]}
    return sorted(name for name in named if index.row(name) is None)


def used_elsewhere(index: PublishedIndex, file: int) -> list[tuple[int, int]]:
    """The definitions of a file that other files use, with how many documents of others do, most used first."""
    files = index.arrays["file_row"]
    found = []
    for row in np.flatnonzero(files == file).tolist():
        users = {user for kind in EdgeKind for user in _users(index, [row], kind)} if row != file else set()
        outside = sum(files[user] != file for user in users)
        if outside:
            found.append((row, int(outside)))
    return sorted(found, key=lambda each: (-each[1], each[0]))


def definitions(index: PublishedIndex, file: int) -> list[int]:
    """The functions and classes of a file in the order of its lines."""
    rows = [row for row in np.flatnonzero(index.arrays["file_row"] == file).tolist() if row != file]
    return sorted(rows, key=lambda row: (index.shown.of_row(row)["start_line"] or 0, row))


def _above(index: PublishedIndex, row: int) -> Iterator[int]:
    parents = index.arrays["parent_row"]
    while (row := int(parents[row])) >= 0:
        yield row


def _followed(index: PublishedIndex, row: int, step: "_Step", depth: int) -> list[Related]:
    """Breadth first, each document once; what is inside of the beginning is no part of the answer."""
    begin = _files_of(index, row) if index.level_of(row) is Level.MODULE else [row]
    seen, frontier, found = {row, *begin}, begin, list[Related]()
    for distance in range(1, depth + 1):
        checkpoint()
        frontier = [other for other in dict.fromkeys(step(index, frontier)) if other not in seen]
        frontier.sort(key=lambda other: (-index.arrays["importance"][other], other))
        found += [Related(other, distance) for other in frontier]
        seen.update(frontier)
        if not frontier or len(found) > _MOST_FOLLOWED:
            break
    return found


def _files_of(index: PublishedIndex, row: int) -> list[int]:
    """A file, or all files below a folder."""
    if index.level_of(row) is Level.FILE:
        return [row]
    inside = "" if index.ids[row] == ROOT_MODULE else f"{index.ids[row]}/"
    files = index.rows_of(Level.FILE)
    return [file for file in range(files.start, files.stop) if index.ids[file].startswith(inside)]


def _users(index: PublishedIndex, rows: Iterable[int], kind: EdgeKind) -> list[int]:
    return [user for row in rows if row < len(index.uses) for user in index.uses.users_of(row, kind)]


def _used(index: PublishedIndex, rows: Sequence[int], kind: EdgeKind) -> list[int]:
    return index.uses.used_by_any(rows, kind)


def _with_definitions(index: PublishedIndex, rows: Sequence[int]) -> list[int]:
    """Files and all that is defined in them: an import may name either."""
    inside = np.isin(index.arrays["file_row"], np.array(rows, dtype=np.int32))
    return sorted({*rows, *np.flatnonzero(inside).tolist()})


def _as_files(index: PublishedIndex, rows: Iterable[int]) -> list[int]:
    """The files that documents stand in; a file stands in itself."""
    files = index.arrays["file_row"]
    return list(dict.fromkeys(int(files[row]) if files[row] >= 0 else row for row in rows))


def _imports(index: PublishedIndex, rows: Sequence[int]) -> list[int]:
    return _as_files(index, _used(index, _with_definitions(index, rows), EdgeKind.IMPORT))


def _imported_by(index: PublishedIndex, rows: Sequence[int]) -> list[int]:
    return _as_files(index, _users(index, _with_definitions(index, rows), EdgeKind.IMPORT))


_Step = Callable[[PublishedIndex, Sequence[int]], list[int]]
_STEPS: Mapping[Relation, _Step] = {
    Relation.CALLERS: partial(_users, kind=EdgeKind.CALL),
    Relation.CALLEES: partial(_used, kind=EdgeKind.CALL),
    Relation.BASES: partial(_used, kind=EdgeKind.INHERIT),
    Relation.SUBCLASSES: partial(_users, kind=EdgeKind.INHERIT),
    Relation.IMPORTS: _imports,
    Relation.IMPORTED_BY: _imported_by,
}


def _similar(index: PublishedIndex, row: int) -> list[int]:
    """Documents of the same level whose summaries mean nearly the same, nearest first."""
    rows = index.dense_rows
    place = int(np.searchsorted(rows, row))
    if place >= len(rows) or rows[place] != row:
        return []
    vectors = index.vectors[Lane.SUMMARY]
    level = index.rows_of(index.level_of(row))
    first, last = np.searchsorted(rows, (level.start, level.stop)).tolist()
    scores = vectors[first:last].astype(np.float32) @ vectors[place].astype(np.float32)
    order = np.argsort(-scores, kind="stable")[: _MOST_SIMILAR + 1]
    return [int(rows[first + each]) for each in order.tolist() if rows[first + each] != row]
