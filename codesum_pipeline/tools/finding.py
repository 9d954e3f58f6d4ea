"""Finding documents by what somebody calls them."""

import difflib
import heapq
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.ids import without_suffix
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.source.languages import language_of_path

_NEAREST_SHOWN = 5
# Ids that are compared letter by letter, and the letters of what others are chosen by.
_COMPARED = 1000
_PIECE = 3
# What tells overloads apart, also as earlier versions counted them: `#2`.
_ASKED_SUFFIX = re.compile(r"(?<=[^:/])#[0-9a-f]*(?:-[0-9]*)?$")
# Of what somebody asked for, as much as a message needs.
_LONGEST_TOLD = 200


@dataclass(frozen=True)
class IndexedDocument:
    """One document of one published index."""

    index: PublishedIndex
    row: int

    @property
    def repo(self) -> str:
        return self.index.repo

    @property
    def id(self) -> str:
        return self.index.ids[self.row]

    def document(self) -> dict[str, Any]:
        """All its fields, provenance too."""
        return self.index.document(self.row)


def with_id(indexes: Sequence[PublishedIndex], doc_id: str) -> list[IndexedDocument]:
    """The documents with an id, at most one of each index."""
    return [IndexedDocument(index, row) for index in indexes if (row := index.row(doc_id)) is not None]


def no_such_document(doc_id: str, indexes: Sequence[PublishedIndex]) -> ConfigurationError:
    """The error that names the nearest ids."""
    searched = ", ".join(dict.fromkeys(index.repo for index in indexes))
    near = nearest_ids(
        doc_id[:_LONGEST_TOLD],
        sorted({id_ for index in indexes for row, id_ in enumerate(index.ids) if index.shows(row)}),
    )
    hint = f"; nearest: {', '.join(near)}" if near else ""
    return ConfigurationError(f"no document {shortened(doc_id)!r} in {searched}{hint}")


def shortened(text: str) -> str:
    """As much of a text as a message needs."""
    return text if len(text) <= _LONGEST_TOLD else f"{text[: _LONGEST_TOLD - 1]}…"


def nearest_ids(wanted: str, ids: Sequence[str]) -> list[str]:
    """Ids that end as asked, or are written nearly so; best first. Overloads count by their names alone."""
    wanted = _ASKED_SUFFIX.sub("", wanted)
    ends = (wanted.lower(), wanted.lower().replace(".", "::"))
    tail = _tail(wanted)
    names = {id_: without_suffix(id_) for id_ in ids}
    same_end = [id_ for id_, name in names.items() if name.lower().endswith(ends)]
    same_name = [id_ for id_, name in names.items() if _tail(name) == tail] if tail else []
    found = list(dict.fromkeys((*same_end, *same_name)))
    if len(found) < _NEAREST_SHOWN:
        near = difflib.get_close_matches(wanted, _likeliest(wanted, ids), n=_NEAREST_SHOWN)
        found += [id_ for id_ in near if id_ not in found]
    return found[:_NEAREST_SHOWN]


def _likeliest(wanted: str, ids: Sequence[str]) -> Sequence[str]:
    """Those that have most pieces of what is wanted: to compare a hundred thousand letter by letter takes seconds."""
    if len(ids) <= _COMPARED:
        return ids
    pieces = {wanted[start : start + _PIECE] for start in range(len(wanted) - _PIECE + 1)}
    return heapq.nlargest(_COMPARED, ids, key=lambda id_: sum(piece in id_ for piece in pieces))


def _tail(text: str) -> str:
    """The last name of an id, a path or a dotted name, without regard to case."""
    last = text.lower().rstrip("/.").replace("::", "/").rpartition("/")[2]
    return last if language_of_path(last) else last.rpartition(".")[2]
