"""All documents of a repository in one tree, numbered through.

A work tree that differs from its index has two parts: the index without the differing files, and an index of these. A
published or settled index is one part. References from one part to the other go by id.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.answers.agent_tools.joined_uses import GONE, JoinedUses
from codesum_pipeline.answers.agent_tools.tool_answers import DocumentRow
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import own_name
from codesum_pipeline.indexes.file_formats.index_files import Uses
from codesum_pipeline.indexes.file_formats.stored_zip import Array
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.search.retrieval.published_index import IndexedDocument, PublishedIndex

NOTHING = GONE


class JoinedDocuments(Struct, eq=False, dict=True):
    """Document k is row `k - starts[p]` of the last part p that begins at or before it. Columns over all documents are
    made when they are first asked for, and kept."""

    parts: Sequence[PublishedIndex]
    joined: JoinedUses
    starts: Sequence[int]

    @classmethod
    def of(cls, parts: Sequence[PublishedIndex], joined: JoinedUses) -> "JoinedDocuments":
        """The documents of a repository's parts, whose uses were joined."""
        return cls(parts, joined, [0, *accumulate(map(len, parts))])

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

    def named(self, name: str) -> list[int]:
        """The numbers of the documents with a qualified name, `Class.method`."""
        parts = zip(self.starts, self.parts, strict=False)
        return [start + row for start, index in parts for row in index.names.rows_named(name) if index.shows(row)]

    def named_exactly(self, name: str) -> list[int]:
        """The numbers of the documents whose own name this is, with its capitals."""
        return [one for one in self.named(name) if own_name(self[one].id) == name]

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

    def grouped(self, column: Array) -> dict[int, list[int]]:
        """The visible documents by their value in a column of all documents."""
        found: dict[int, list[int]] = defaultdict(list)
        for start, index in zip(self.starts, self.parts, strict=False):
            rows = np.flatnonzero(_shown(index)) + start
            for number, value in zip(rows.tolist(), column[rows].tolist(), strict=True):
                found[value].append(number)
        return found

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
