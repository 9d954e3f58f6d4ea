"""Finding documents by an id, `path:line`, or a name."""

import difflib
import heapq
import re
from collections.abc import Iterator, Sequence

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.ids import without_suffix
from codesum_pipeline.retrieval.pointers import innermost
from codesum_pipeline.retrieval.reader import IndexedDocument, PublishedIndex
from codesum_pipeline.source.languages import language_of_path
from codesum_pipeline.tools.answers import shortened

_NEAREST_SHOWN = 5
# How many ids are compared letter by letter, and the length of the pieces by which they are chosen.
_COMPARED = 1000
_PIECE = 3
# The suffix of an overload's id, also in the form of earlier versions: `#2`.
_ASKED_SUFFIX = re.compile(r"(?<=[^:/])#[0-9a-f]*(?:-[0-9]*)?$")


def documents_with_id(indexes: Sequence[PublishedIndex], doc_id: str) -> list[IndexedDocument]:
    """The documents with an id, at most one of each index. A folder may have a slash behind it, as rows show it."""
    doc_id = "." if doc_id == "./" else doc_id.rstrip("/") or doc_id
    return [IndexedDocument(index, row) for index in indexes if (row := index.row(doc_id)) is not None]


def documents_meant(indexes: Sequence[PublishedIndex], text: str) -> list[IndexedDocument]:
    """The documents that a text names: by their id, else by `path:line`, else by name or qualified name."""
    return documents_with_id(indexes, text) or list(_pointed(indexes, text)) or _named(indexes, text)


def _pointed(indexes: Sequence[PublishedIndex], text: str) -> Iterator[IndexedDocument]:
    """The innermost documents at `path:line` or `path:first-last`."""
    path, _, lines = text.rpartition(":")
    first = lines.partition("-")[0]
    if not path or not first.isdecimal() or len(first) > 9:
        return
    for index in indexes:
        file = index.row(path)
        if file is not None:
            around = innermost(index, file, int(first), (Level.FUNCTION, Level.CLASS))
            yield IndexedDocument(index, file if around is None else around)


def _named(indexes: Sequence[PublishedIndex], text: str) -> list[IndexedDocument]:
    """The documents with a name or qualified name, as `Class.method` or `Class::method`."""
    name = text.replace("::", ".")
    return [IndexedDocument(index, row) for index in indexes for row in index.names.exactly(name) if index.shows(row)]


def no_such_document(doc_id: str, indexes: Sequence[PublishedIndex]) -> ConfigurationError:
    """The error that names the nearest ids."""
    searched = ", ".join(dict.fromkeys(index.repo for index in indexes))
    near = nearest_ids(
        shortened(doc_id),
        sorted({id_ for index in indexes for row, id_ in enumerate(index.ids) if index.shows(row)}),
    )
    hint = f"; nearest: {', '.join(near)}" if near else ""
    return ConfigurationError(f"no document {shortened(doc_id)!r} in {searched}{hint}")


def nearest_ids(wanted: str, ids: Sequence[str]) -> list[str]:
    """Ids that end with a text, or are spelled nearly like it; best first. Overloads are compared without suffixes."""
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
    """The ids that have most pieces of a text: comparing a hundred thousand letter by letter would take seconds."""
    if len(ids) <= _COMPARED:
        return ids
    pieces = {wanted[start : start + _PIECE] for start in range(len(wanted) - _PIECE + 1)}
    return heapq.nlargest(_COMPARED, ids, key=lambda id_: sum(piece in id_ for piece in pieces))


def _tail(text: str) -> str:
    """The last name of an id, a path or a dotted name, in lower case."""
    last = text.lower().rstrip("/.").replace("::", "/").rpartition("/")[2]
    return last if language_of_path(last) else last.rpartition(".")[2]
