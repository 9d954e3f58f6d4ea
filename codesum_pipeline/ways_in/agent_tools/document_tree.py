"""All documents of a repository in one tree, numbered through, and the relations between them.

A work tree that differs from its index has two parts: the index without the differing files, and an index of these. A
published or settled index is one part. References from one part to the other go by id.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE
from codesum_pipeline.indexes.file_formats.index_files import Uses
from codesum_pipeline.indexes.file_formats.stored_zip import Array
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.search.retrieval.published_index import IndexedDocument, PublishedIndex
from codesum_pipeline.ways_in.agent_tools.answering_sources import SourceReader
from codesum_pipeline.ways_in.agent_tools.joined_uses import GONE, JoinedUses, join_uses
from codesum_pipeline.ways_in.agent_tools.tool_answers import DocumentRow

NOTHING = GONE


class JoinedDocuments(Struct, eq=False, dict=True):
    """Document k is row `k - starts[p]` of the last part p that begins at or before it. Columns over all documents are
    made when they are first asked for, and kept."""

    parts: Sequence[PublishedIndex]
    joined: JoinedUses
    starts: Sequence[int]

    @classmethod
    def of(cls, parts: Sequence[PublishedIndex], sources: SourceReader) -> "JoinedDocuments":
        """The documents of a repository's parts; only changed files are read from `sources`."""
        return cls(parts, join_uses(parts, sources), [0, *accumulate(map(len, parts))])

    @property
    def repo(self) -> str:
        return self.parts[0].repo

    @property
    def is_one_index(self) -> bool:
        """Whether no file differs from the index, or the index is of the whole tree."""
        return len(self.parts) == 1 and self.parts[0].visible is None

    @property
    def uses(self) -> Uses:
        return self.joined.uses

    @cached_property
    def confirmed_uses(self) -> Uses:
        return self.parts[0].confirmed_uses if self.is_one_index else self.uses.confirmed

    def __getitem__(self, number: int) -> IndexedDocument:
        part = bisect_right(self.starts, number) - 1
        return IndexedDocument(self.parts[part], number - self.starts[part])

    def number_of(self, found: IndexedDocument) -> int:
        part = next(place for place, index in enumerate(self.parts) if index is found.index)
        return self.starts[part] + found.row

    def number(self, id_: str) -> int | None:
        """The number of the document with an id; None if the tree has none."""
        rows = ((start, index.row(id_)) for start, index in zip(self.starts, self.parts, strict=False))
        return next((start + row for start, row in rows if row is not None), None)

    def row(self, number: int) -> DocumentRow:
        return DocumentRow.of(self[number])

    def outside(self, number: int) -> list[str]:
        """The dependencies of a document that are outside of the repository."""
        ours, gone = self.joined.internal.get(number, ()), self.joined.gone
        names = self[number].document()["dependencies"]
        return [name for name in names if name not in ours and name not in gone and self.number(name) is None]

    def lost(self, number: int) -> list[str]:
        """The ids that a document, or a file's definitions, used at the commit and that the tree no longer has."""
        inside = self.inside_file(number) if self[number].level is Level.FILE else [number]
        return sorted({id_ for each in inside for id_ in self.joined.lost.get(each, ())})

    def numbers(self, *levels: Level) -> list[int]:
        found: list[int] = []
        for start, index in zip(self.starts, self.parts, strict=False):
            for level in levels:
                rows = index.rows_of(level)
                found += (np.flatnonzero(_shown(index)[rows]) + start + rows.start).tolist()
        return found

    def children(self, number: int) -> list[int]:
        return self._visible(self.parents == number)

    def inside_file(self, file: int) -> list[int]:
        """The file itself and all its definitions."""
        return self._visible(self.files == file)

    def _visible(self, are_wanted: npt.NDArray[np.bool_]) -> list[int]:
        found = ((number, self[number]) for number in np.flatnonzero(are_wanted).tolist())
        return [number for number, each in found if each.index.shows(each.row)]

    @cached_property
    def parents(self) -> Array:
        """The parent of each document, or NOTHING."""
        return self._linked("parent_row")

    @cached_property
    def files(self) -> Array:
        """The file of each document: itself for a file, NOTHING for a folder."""
        return self._linked("file_row")

    @cached_property
    def importance(self) -> Array:
        """The importance in the index; 0 for new documents."""
        first, *others = self.parts
        known = first.arrays["importance"]
        found = [known]
        for other in others:
            before = {first.ids[row]: known[row] for row in np.flatnonzero(~_shown(first)).tolist()}
            found.append(np.array([before.get(id_, 0.0) for id_ in other.ids], dtype=known.dtype))
        return np.concatenate(found)

    def column(self, name: str) -> Array:
        return np.concatenate([index.arrays[name] for index in self.parts])

    def _linked(self, name: str) -> Array:
        """A column of rows as numbers; a hidden document is replaced by the other part's with the same id."""
        columns = []
        for start, index in zip(self.starts, self.parts, strict=False):
            rows = index.arrays[name]
            columns.append(np.where(rows >= 0, self.joined.now[start + np.maximum(rows, 0)], NOTHING))
        return np.concatenate(columns)

    def similar(self, number: int, *, most: int) -> list[int]:
        """Documents of the same level whose summaries mean nearly the same, nearest first."""
        index, row = self[number].index, self[number].row
        place = int(np.searchsorted(index.dense_rows, row))
        if place >= len(index.dense_rows) or index.dense_rows[place] != row:
            return []
        vector = index.vectors[Lane.SUMMARY][place].astype(np.float32)
        scored: list[tuple[float, int]] = []
        for start, part in zip(self.starts, self.parts, strict=False):
            scored += _scored(part, vector, self[number].level, start=start, most=most + 1)
        scored.sort(key=lambda each: (-each[0], each[1]))
        return [other for _, other in scored if other != number][:most]


def _scored(
    index: PublishedIndex, vector: npt.NDArray[np.float32], level: Level, *, start: int, most: int
) -> list[tuple[float, int]]:
    span, rows = index.rows_of(level), index.dense_rows
    first, last = np.searchsorted(rows, (span.start, span.stop)).tolist()
    shown = np.ones(last - first, dtype=np.bool_) if index.answering is None else index.answering[rows[first:last]]
    scores = np.where(shown, index.vectors[Lane.SUMMARY][first:last].astype(np.float32) @ vector, -np.inf)
    order = np.argsort(-scores, kind="stable")[:most].tolist()
    return [(float(scores[each]), start + int(rows[first + each])) for each in order if shown[each]]


def _shown(index: PublishedIndex) -> npt.NDArray[np.bool_]:
    return np.ones(len(index), dtype=np.bool_) if index.visible is None else index.visible


# A chain of users is followed no further.
_MOST_FOLLOWED = 5000
_MOST_SIMILAR = 50


class Relation(StrEnum):
    """The relations between documents."""

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


class RelatedNumber(Struct, frozen=True):
    """The number of a related document, and the number of steps to it; `trusted` where a compiler's index confirms each
    step of some way to it."""

    number: int
    distance: int = 1
    trusted: bool = False


def related_documents(
    documents: JoinedDocuments, number: int, relation: Relation, *, depth: int = 1
) -> list[RelatedNumber]:
    """The documents in a relation to one, nearest first, then most important first; parents from the inside out."""
    if relation is Relation.PART_OF:
        return [RelatedNumber(above, steps) for steps, above in enumerate(_above(documents, number), start=1)]
    if relation is Relation.MEMBERS:
        return [RelatedNumber(child) for child in documents.children(number)]
    if relation is Relation.SIMILAR:
        return [RelatedNumber(other) for other in documents.similar(number, most=_MOST_SIMILAR)]
    return _followed(documents, number, relation, depth)


def external_names(documents: JoinedDocuments, number: int) -> list[str]:
    """The external names that a document, a file, or the files of a folder use, as the code writes them."""
    is_place = documents[number].level in (Level.FILE, Level.MODULE)
    named = {
        name for each in (_files_of(documents, number) if is_place else [number]) for name in documents.outside(each)
    }
    return sorted(named)


def exports_of(documents: JoinedDocuments, file: int) -> list[tuple[int, int]]:
    """The definitions of a file that other files use, with the number of using documents, most used first."""
    found = []
    for number in documents.inside_file(file):
        users = (
            {user for kind in EdgeKind for user in _users(documents.uses, [number], kind)} if number != file else set()
        )
        outside = sum(documents.files[user] != file for user in users)
        if outside:
            found.append((number, int(outside)))
    return sorted(found, key=lambda each: (-each[1], each[0]))


def definitions_in(documents: JoinedDocuments, file: int) -> list[int]:
    """The functions and classes of a file in the order of its lines."""
    inside = [number for number in documents.inside_file(file) if number != file]
    return sorted(inside, key=lambda number: (documents.row(number).start_line or 0, number))


def _above(documents: JoinedDocuments, number: int) -> Iterator[int]:
    while (number := int(documents.parents[number])) != NOTHING:
        yield number


def _followed(documents: JoinedDocuments, number: int, relation: Relation, depth: int) -> list[RelatedNumber]:
    """Follow a step breadth first, each document once, without the files of the folder where it begins."""
    begin = _files_of(documents, number) if documents[number].level is Level.MODULE else [number]
    seen, frontier, found = {number, *begin}, begin, list[RelatedNumber]()
    trusted = {*begin} if len(documents.confirmed_uses.users) else set()
    for distance in range(1, depth + 1):
        stop_if_cancelled()
        sure = [other for other in frontier if other in trusted]
        trusted = {*_step(documents, documents.confirmed_uses, sure, relation)}
        found_now = dict.fromkeys(_step(documents, documents.uses, frontier, relation))
        frontier = [other for other in found_now if other not in seen]
        frontier.sort(key=lambda other: (-documents.importance[other], other))
        found += [RelatedNumber(other, distance, other in trusted) for other in frontier]
        seen.update(frontier)
        if not frontier or len(found) > _MOST_FOLLOWED:
            break
    return found


def _files_of(documents: JoinedDocuments, number: int) -> list[int]:
    if documents[number].level is Level.FILE:
        return [number]
    folder = documents[number].id
    inside = "" if folder == ROOT_MODULE else f"{folder}/"
    return [file for file in documents.numbers(Level.FILE) if documents[file].id.startswith(inside)]


def _users(uses: Uses, numbers: Iterable[int], kind: EdgeKind) -> list[int]:
    return [user for each in numbers if each < len(uses) for user in uses.users_of(each, kind)]


_KINDS = {
    Relation.CALLERS: (_users, EdgeKind.CALL),
    Relation.CALLEES: (Uses.used_by_any, EdgeKind.CALL),
    Relation.BASES: (Uses.used_by_any, EdgeKind.INHERIT),
    Relation.SUBCLASSES: (_users, EdgeKind.INHERIT),
    Relation.IMPORTS: (Uses.used_by_any, EdgeKind.IMPORT),
    Relation.IMPORTED_BY: (_users, EdgeKind.IMPORT),
}


def _step(documents: JoinedDocuments, uses: Uses, numbers: Sequence[int], relation: Relation) -> list[int]:
    """The users of some documents, or what these use; of an import, the files."""
    look, kind = _KINDS[relation]
    if kind is not EdgeKind.IMPORT:
        return look(uses, numbers, kind)
    # An import may name a file or one of its definitions.
    files = documents.files
    inside = np.flatnonzero(np.isin(files, np.array(numbers, dtype=np.int64))).tolist()
    found = look(uses, sorted({*numbers, *inside}), kind)
    return list(dict.fromkeys(int(files[each]) if files[each] != NOTHING else each for each in found))
