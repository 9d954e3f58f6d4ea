"""Which documents of a work tree are others than the published index has, and which of these somebody was told.

A *view* says of each document that differs which code it has: nothing for one that the tree does not have. A cursor
names the view that its owner knows by a number, under which the home keeps it; the documents that the two views of a
tree have otherwise are what changed in between.
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

# Level and hash of the code of each document; None where there is none.
View = Mapping[str, str | None]

# As many digits as a cursor holds as a number.
_DIGITS = 12
_HASH_CHARACTERS = 12
_MOST_KEPT = 100
AS_PUBLISHED: View = {}


def view_of(tree: TreeIndex, base: PublishedIndex) -> View | None:
    """The documents of files that differ; of files that are not indexed, these. None where nothing was compared."""
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
    """The code that a document has in an index."""
    row = index.row(id_)
    return None if row is None else _value(index.level_of(row), str(index.document(row)["content_hash"]))


def level_of_value(value: str | None) -> str:
    return (value or Level.FILE.value).partition(":")[0]


def keep_view(folder: Path, view: View) -> int:
    """The number of a view, 0 for that of the published index. A home that cannot be written to knows none later."""
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


def kept_view(folder: Path, number: int) -> View | None:
    """The view with a number; None where it is not kept any more."""
    if number == 0:
        return AS_PUBLISHED
    try:
        view: View = json.loads((folder / f"{number:0{_DIGITS}x}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return view


def _documents_in(index: PublishedIndex, paths: Collection[str]) -> dict[str, str]:
    """The files, functions and classes of some files, as far as the index shows them."""
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
    """The file that a document stands in."""
    return id_.partition(SEPARATOR)[0]
