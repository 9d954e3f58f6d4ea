"""The documents in which a work tree differs from the published index, and the differences that a caller knows.

A *view* has the code of each differing document: None for one that the tree lacks. A cursor has the number of the view
that its owner knows, and the home keeps views by their numbers; what differs between two views of a tree changed in
between.
"""

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.hashing import canonical_json, sha256_hex
from codesum_pipeline.model.ids import SEPARATOR
from codesum_pipeline.overlays.opening import TreeIndex
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.store.atomic import write_text_atomically

# The level and the code's hash of each document; None for a document that the tree lacks.
View = Mapping[str, str | None]

# A cursor has numbers of so many hexadecimal digits.
_DIGITS = 12
_HASH_CHARACTERS = 12
_MOST_KEPT = 100
AS_PUBLISHED: View = {}


def view_of(tree: TreeIndex, base: PublishedIndex) -> View | None:
    """The differing documents, or the differing files where these are not indexed; None where nothing was compared."""
    if tree.root is None:
        return AS_PUBLISHED
    if tree.found is None:
        return None
    if tree.stale:
        scanned = {path.decode(): file.blob for path, file in tree.found.scan.files.items()}
        return {path: _value(Level.FILE, scanned[path]) if path in scanned else None for path in tree.stale}
    differ = tree.found.changed | tree.found.gone
    before = _documents_in(base, differ)
    now: dict[str, str] = {}
    for index in tree.parts:
        now |= _documents_in(index, differ)
    return {id_: now.get(id_) for id_ in before.keys() | now.keys() if now.get(id_) != before.get(id_)}


def value_in(index: PublishedIndex, id_: str) -> str | None:
    """The code of a document in an index."""
    row = index.row(id_)
    return None if row is None else _value(index.level_of(row), str(index.document(row)["content_hash"]))


def level_of_value(value: str | None) -> str:
    return (value or Level.FILE.value).partition(":")[0]


def keep_view(folder: Path, view: View) -> int:
    """Keep a view, and return its number, 0 for that of the published index. A read-only home keeps none."""
    if not view:
        return 0
    written = canonical_json(dict(view))
    digits = sha256_hex(written.encode())[:_DIGITS]
    path = folder / f"{digits}.json"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if path.exists():
            path.touch()
        else:
            write_text_atomically(path, written)
            _drop_oldest(folder)
    return int(digits, 16)


def read_view(folder: Path, number: int) -> View | None:
    """The view with a number; None where it was deleted."""
    if number == 0:
        return AS_PUBLISHED
    try:
        view: View = json.loads((folder / f"{number:0{_DIGITS}x}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return view


def _documents_in(index: PublishedIndex, paths: Collection[str]) -> dict[str, str]:
    """The visible documents of some files, with their code."""
    found = {}
    for path in paths:
        file = index.row(path)
        if file is None:
            continue
        for row in (index.arrays["file_row"] == file).nonzero()[0].tolist():
            if index.shows(row):
                document = index.document(row)
                found[index.ids[row]] = _value(index.level_of(row), document["content_hash"])
    return found


def _value(level: Level, code: str) -> str:
    return f"{level.value}:{code[:_HASH_CHARACTERS]}"


def _drop_oldest(folder: Path) -> None:
    kept = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in kept[_MOST_KEPT:]:
        path.unlink(missing_ok=True)


def path_of(id_: str) -> str:
    """The file of a document."""
    return id_.partition(SEPARATOR)[0]
