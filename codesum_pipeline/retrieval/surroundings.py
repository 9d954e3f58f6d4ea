"""What stands around a document: what it belongs to, what belongs to it, both ends of its calls.

All of it is in the published index. Callers and callees are those that the
document itself names, a sample where there are many.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from codesum_pipeline.indexes.uses import KINDS
from codesum_pipeline.model.documents import Level
from codesum_pipeline.retrieval.reader import PublishedIndex


@dataclass(frozen=True, slots=True)
class RelatedDocument:
    """Another document, and what it is for; `trusted` where a compiler's index confirms that it uses or is used."""

    id: str
    type: str
    summary: str
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class DocumentRelations:
    """Parents come nearest first, up to the root module; children by level, then by id.

    `dependencies` name what a document rests on, outside the repository too.
    """

    parents: tuple[RelatedDocument, ...]
    children: tuple[RelatedDocument, ...]
    called_by: tuple[RelatedDocument, ...]
    calls: tuple[RelatedDocument, ...]
    dependencies: tuple[str, ...]


# In the order in which they are shown first where there is room for some only.
_PARTS = ("parents", "called_by", "calls", "children", "dependencies")
# Of each part, as many as a reader looks through.
_MOST_OF_PART = 5
# English and code have about four characters a token, whichever model counts.
_CHARACTERS_PER_TOKEN = 4
# A neighbour's summary is a pointer: whoever wants all of it asks for the neighbour.
_SUMMARY_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class BoundedSurroundings:
    """As much of a document's surroundings as there is room for; `more` says how many of a part were left out."""

    around: DocumentRelations
    more: Mapping[str, int] = field(default_factory=dict)


def bounded(around: DocumentRelations, *, tokens: int) -> tuple[BoundedSurroundings, int]:
    """The first of each part in turn, as long as there are tokens, and how many tokens are left."""
    waiting = {name: [*getattr(around, name)] for name in _PARTS}
    kept: dict[str, list[RelatedDocument | str]] = {name: [] for name in _PARTS}
    for place in range(_MOST_OF_PART):
        for name in _PARTS:
            if place < len(waiting[name]) and len(kept[name]) == place:
                each = _short(waiting[name][place])
                price = tokens_of(each)
                if price <= tokens:
                    kept[name].append(each)
                    tokens -= price
    more = {name: left for name in _PARTS if (left := len(waiting[name]) - len(kept[name]))}
    first: dict[str, Any] = {name: tuple(some) for name, some in kept.items()}
    return BoundedSurroundings(DocumentRelations(**first), more), tokens


def tokens_of(shown: RelatedDocument | str) -> int:
    """How many tokens one neighbour takes as JSON, estimated by its characters."""
    written = json.dumps(asdict(shown) if isinstance(shown, RelatedDocument) else shown, ensure_ascii=False)
    return -(-(len(written) + len(", ")) // _CHARACTERS_PER_TOKEN)


def _short(each: RelatedDocument | str) -> RelatedDocument | str:
    if isinstance(each, str) or len(each.summary) <= _SUMMARY_CHARACTERS:
        return each
    return replace(each, summary=f"{each.summary[: _SUMMARY_CHARACTERS - 1].rstrip()}…")


def surroundings_of(index: PublishedIndex, row: int) -> DocumentRelations:
    """Read the neighbours of one document."""
    document = index.document(row)
    children = np.flatnonzero(index.arrays["parent_row"] == row).tolist()
    users, used = _confirmed(index, row)
    return DocumentRelations(
        parents=_neighbours(index, _rows_above(index, row)),
        children=_neighbours(index, children),
        called_by=_neighbours(index, _rows_of(index, document["context"]["called_by"]), trusted=users),
        calls=_neighbours(index, _rows_of(index, document["context"]["calls"]), trusted=used),
        dependencies=tuple(document["dependencies"]),
    )


def _confirmed(index: PublishedIndex, row: int) -> tuple[Collection[int], Collection[int]]:
    """Of a document, or of what is in it, the users and the used that a compiler's index confirms, and the folders of
    these."""
    uses = index.confirmed_uses
    if not len(uses.users):
        return (), ()
    inside = [one for one in _rows_inside(index, row) if one < len(uses)]
    users = {user for one in inside for kind in KINDS for user in uses.users_of(one, kind)}
    used = {one for kind in KINDS for one in uses.used_by_any(inside, kind)}
    return _with_folders(index, users), _with_folders(index, used)


def _rows_inside(index: PublishedIndex, row: int) -> list[int]:
    """A class with all that it defines, the files of a folder without those below it; else the document itself."""
    above, level = index.arrays["parent_row"], index.level_of(row)
    if level is Level.MODULE:
        return [one for one in np.flatnonzero(above == row).tolist() if index.level_of(one) is Level.FILE]
    found = [row]
    for one in found if level is Level.CLASS else ():
        found += np.flatnonzero(above == one).tolist()
    return found


def _with_folders(index: PublishedIndex, rows: Collection[int]) -> set[int]:
    files = {int(index.arrays["file_row"][row]) for row in rows}
    return {*rows, *(int(index.arrays["parent_row"][file]) for file in files)}


def _rows_above(index: PublishedIndex, row: int) -> Iterator[int]:
    above = index.arrays["parent_row"]
    row = int(above[row])
    while row >= 0:
        yield row
        row = int(above[row])


def _rows_of(index: PublishedIndex, ids: Iterable[str]) -> Iterator[int]:
    return (row for id_ in ids if (row := index.row(id_)) is not None)


def _neighbours(
    index: PublishedIndex, rows: Iterable[int], *, trusted: Collection[int] = ()
) -> tuple[RelatedDocument, ...]:
    found = ((row in trusted, index.document(row)) for row in rows)
    return tuple(RelatedDocument(each["id"], each["type"], each["summary"], is_trusted) for is_trusted, each in found)
