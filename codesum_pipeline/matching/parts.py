"""A file or class that came or went is one thing to tell, not each of its functions besides."""

from collections.abc import Iterator, Sequence

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.ids import ROOT_MODULE, SEPARATOR
from codesum_pipeline.model.intents import ChangeKind, Match

_HOLDING = (Level.FILE, Level.CLASS)


def without_parts(matches: Sequence[Match]) -> list[Match]:
    """The matches of one intent, in their order, without those that another one tells.

    What is in a file or class that came or went is told by that; a folder that came or went is told by what is in it.
    """
    kinds = {
        (found.change.repository, found.change.document_id): found.change.kind
        for found in matches
        if found.change.level in _HOLDING and found.change.kind is not ChangeKind.CHANGED
    }
    left = [
        found
        for found in matches
        if all(
            kinds.get((found.change.repository, above)) is not found.change.kind
            for above in _holding(found.change.document_id)
        )
    ]
    folders = {
        (found.change.repository, found.change.kind, folder)
        for found in left
        for folder in _folders(found.change.state.file_path)
    }
    return [
        found
        for found in left
        if found.change.level is not Level.MODULE
        or (found.change.repository, found.change.kind, found.change.document_id) not in folders
    ]


def _holding(id_: str) -> Iterator[str]:
    """The file and the classes and functions that a document stands in."""
    while SEPARATOR in id_:
        id_ = id_.rpartition(SEPARATOR)[0]
        yield id_


def _folders(path: str) -> Iterator[str]:
    """The folders around a path."""
    if path == ROOT_MODULE:
        return
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
    yield ROOT_MODULE
