"""The tree of documents: classes hold methods, files top-level symbols, folders files and folders.

The outline is read from the tables of one snapshot. A child's name is relative
to its parent, so that a moved folder shows its writer the same children, and
without the suffix of an overload, which would tell a writer nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

import pyarrow as pa
from msgspec import Struct

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.files import FileStatus
from codesum_pipeline.model.ids import SEPARATOR, module_path_of, parent_modules, without_suffix
from codesum_pipeline.store.workspace import Workspace


class Child(NamedTuple):
    """One document below another."""

    id: str
    name: str
    level: Level


class Children(Mapping[str, tuple[Child, ...]]):
    """The children of each document that has some, sorted by name, then by id, at the first use."""

    def __init__(self, below: Mapping[str, Sequence[tuple[str, Level]]]) -> None:
        self._below = below
        self._known: dict[str, tuple[Child, ...]] = {}

    def __getitem__(self, parent: str) -> tuple[Child, ...]:
        found = self._known.get(parent)
        if found is None:
            ordered = sorted((_name_of(id_, level), id_, level) for id_, level in self._below[parent])
            found = self._known[parent] = tuple([Child(id_, name, level) for name, id_, level in ordered])
        return found

    def __contains__(self, parent: object) -> bool:
        return parent in self._below

    def __iter__(self) -> Iterator[str]:
        return iter(self._below)

    def __len__(self) -> int:
        return len(self._below)


class DocumentTree(Struct, frozen=True):
    """The documents of a snapshot as a tree.

    Functions within functions have a parent (`parents`) but are not among its children: its source already shows them.
    """

    children: Mapping[str, tuple[Child, ...]]
    parents: Mapping[str, str | None]
    files: tuple[str, ...]
    modules: tuple[str, ...]
    levels: Mapping[str, Level]

    def above(self, id_: str) -> Iterator[str]:
        """The documents that hold one, the nearest first."""
        above = self.parents.get(id_)
        while above is not None:
            yield above
            above = self.parents.get(above)

    def all_above(self, ids: Iterable[str]) -> set[str]:
        """All that holds one of some documents."""
        found: set[str] = set()
        for id_ in ids:
            # A holder that was met before has its own holders in the set.
            found.update(takewhile(lambda holder: holder not in found, self.above(id_)))
        return found


# What an outline is made from.
_COLUMNS = {
    "files": ["path", "status"],
    "symbols": ["id", "type", "file_path", "parent_id"],
    "file_facts": ["file_path"],
}
# Most steps of a build read the same outline. A larger one takes too much memory to be kept.
_MOST_KEPT = 1 << 16
_kept: dict[tuple[str | None, ...], DocumentTree] = {}


def read_outline(workspace: Workspace) -> DocumentTree:
    """The outline of the repository's current `files` and `symbols` tables."""
    tables, key, root = workspace.tables, workspace.key, workspace.entry.root_module
    made_from = (root, *(tables.hash_read(table, key, columns=columns) for table, columns in _COLUMNS.items()))
    if None not in made_from and (known := _kept.get(made_from)):
        return known
    files, symbols, facts = (tables.read(table, key, columns=columns) for table, columns in _COLUMNS.items())
    readable = set(facts.column("file_path").to_pylist())
    statuses = zip(files.column("path").to_pylist(), files.column("status").to_pylist(), strict=True)
    indexed = [path for path, status in statuses if status == FileStatus.INDEXED and path in readable]
    outline = build_outline(indexed, symbols, root=root)
    _kept.clear()
    if symbols.num_rows < _MOST_KEPT:
        _kept[made_from] = outline
    return outline


def build_outline(files: list[str], symbols: pa.Table, *, root: str) -> DocumentTree:
    """The tree over `files` (paths) and `symbols` (id, type, file_path, parent_id) below the folder `root`."""
    ids, types, paths, around = (symbols.column(name).to_pylist() for name in ("id", "type", "file_path", "parent_id"))
    known = {level.value: level for level in Level}
    levels = dict(zip(ids, map(known.__getitem__, types), strict=True))
    parents: dict[str, str | None] = {}
    below: defaultdict[str, list[tuple[str, Level]]] = defaultdict(list)
    for id_, path, parent_id in zip(ids, paths, around, strict=True):
        parent = parents[id_] = parent_id or path
        if levels.get(parent) is not Level.FUNCTION:
            below[parent].append((id_, levels[id_]))
    modules: set[str] = set()
    for path in files:
        folders = parent_modules(path, root=root)
        parents[path] = folders[0]
        below[folders[0]].append((path, Level.FILE))
        modules.update(folders)
    for folder in modules:
        parent = parents[folder] = None if folder == root else module_path_of(folder)
        if parent is not None:
            below[parent].append((folder, Level.MODULE))
    return DocumentTree(
        children=Children(dict(below)),
        parents=parents,
        files=tuple(sorted(files)),
        modules=tuple(sorted(modules)),
        levels={**levels, **dict.fromkeys(files, Level.FILE), **dict.fromkeys(modules, Level.MODULE)},
    )


def base_name(path: str) -> str:
    """The last part of a path."""
    return path.rsplit("/", 1)[-1]


def _name_of(id_: str, level: Level) -> str:
    """What a document is called below its parent."""
    return base_name(id_) if level in (Level.FILE, Level.MODULE) else without_suffix(id_).rsplit(SEPARATOR, 1)[-1]
