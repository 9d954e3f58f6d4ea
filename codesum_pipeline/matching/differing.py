"""The documents that say something else in two versions of an index, as they stand in each.

Both files of documents are in one order, by level and then by id, so one pass over both finds what differs; only lines
that are not equal are parsed. What counts is a document's `content_hash`, and that its file is another one: lines that
moved, provenance, a model's new words and new rules of hashing change no code.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.model.ids import ROOT_MODULE

Line = Mapping[str, Any]
_NUMBERS = {str(level): number for number, level in enumerate(LEVELS)}


class DocumentDifferences(Struct, frozen=True):
    """By id the documents that differ, as they were and as they are; what is only in one is new or gone."""

    before: dict[str, Line] = field(default_factory=dict)
    after: dict[str, Line] = field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        return sorted(self.before.keys() | self.after.keys())

    def line(self, id_: str) -> Line:
        return self.after[id_] if id_ in self.after else self.before[id_]


def differing_documents(before: Path, after: Path, files: Collection[str] | None) -> DocumentDifferences:
    """What differs between two files of documents; `files` are the paths whose blobs differ, None where that is not
    known."""
    found = DocumentDifferences()
    may_differ = _in_changed_files(files)
    with before.open("rb") as old, after.open("rb") as new:
        for then, now in _unequal_lines(old, new):
            if then and now and then["content_hash"] == now["content_hash"]:
                continue
            if then and may_differ(then):
                found.before[then["id"]] = then
            if now and may_differ(now):
                found.after[now["id"]] = now
    return found


def _unequal_lines(old: Iterator[bytes], new: Iterator[bytes]) -> Iterator[tuple[Line | None, Line | None]]:
    """The lines of documents that are not equal byte for byte, side by side; None where one side has no such
    document."""
    then, now = next(old, b""), next(new, b"")
    while then or now:
        if then == now:
            then, now = next(old, b""), next(new, b"")
            continue
        left, right = _parsed(then), _parsed(now)
        if left and right and _key(left) == _key(right):
            yield left, right
            then, now = next(old, b""), next(new, b"")
        elif right is None or (left and _key(left) < _key(right)):
            yield left, None
            then = next(old, b"")
        else:
            yield None, right
            now = next(new, b"")


def _parsed(line: bytes) -> Line | None:
    found: Line | None = json.loads(line) if line else None
    return found


def _key(line: Line) -> tuple[int, str]:
    return _NUMBERS[line["type"]], line["id"]


def _in_changed_files(files: Collection[str] | None) -> Callable[[Line], bool]:
    """Whether the file of a document, or one in its folder, is another one."""
    if files is None:
        return lambda line: True
    folders = {ROOT_MODULE}
    for path in files:
        while path := path.rpartition("/")[0]:
            folders.add(path)
    return lambda line: line["file_path"] in (folders if line["type"] == Level.MODULE else files)
