"""Who is whose child: classes hold methods, files top-level symbols, folders files and folders.

The outline is read from the tables of one snapshot. A child's name is relative
to its parent, so that a moved folder shows its writer the same children.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.files import FileStatus
from codesum_pipeline.model.ids import SEPARATOR, module_path_of, parent_modules
from codesum_pipeline.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Child:
    """One document below another."""

    id: str
    name: str
    level: Level


@dataclass(frozen=True, slots=True)
class Outline:
    """The documents of a snapshot as a tree; children are sorted by name.

    Functions below functions have a parent (`parents`) but are nobody's
    children: the enclosing function's source already shows them.
    """

    children: Mapping[str, tuple[Child, ...]]
    parents: Mapping[str, str | None]
    files: tuple[str, ...]
    modules: tuple[str, ...]
    levels: Mapping[str, Level]


def read_outline(workspace: Workspace) -> Outline:
    """The outline of the repository's current `files` and `symbols` tables."""
    files = workspace.tables.read("files", workspace.key, columns=["path", "status"])
    symbols = workspace.tables.read("symbols", workspace.key, columns=["id", "type", "file_path", "parent_id"])
    facts = workspace.tables.read("file_facts", workspace.key, columns=["file_path"])
    readable = set(facts.column("file_path").to_pylist())
    statuses = zip(files.column("path").to_pylist(), files.column("status").to_pylist(), strict=True)
    indexed = [path for path, status in statuses if status == FileStatus.INDEXED and path in readable]
    return build_outline(indexed, symbols, root=workspace.entry.root_module)


def build_outline(files: list[str], symbols: pa.Table, *, root: str) -> Outline:
    """The tree over `files` (paths) and `symbols` (id, type, file_path, parent_id) below the folder `root`."""
    parents: dict[str, str | None] = {}
    below: list[tuple[str, str, Level, str]] = []
    ids, types, paths, around = (symbols.column(name).to_pylist() for name in ("id", "type", "file_path", "parent_id"))
    known = {level.value: level for level in Level}
    levels = {id_: known[kind] for id_, kind in zip(ids, types, strict=True)}
    for id_, path, parent_id in zip(ids, paths, around, strict=True):
        parent = parents[id_] = parent_id or path
        if levels.get(parent) is not Level.FUNCTION:
            below.append((id_.rsplit(SEPARATOR, 1)[-1], id_, levels[id_], parent))
    modules: set[str] = set()
    for path in files:
        folders = parent_modules(path, root=root)
        parents[path] = folders[0]
        below.append((base_name(path), path, Level.FILE, folders[0]))
        modules.update(folders)
    for folder in modules:
        parent = parents[folder] = None if folder == root else module_path_of(folder)
        if parent is not None:
            below.append((base_name(folder), folder, Level.MODULE, parent))
    children: defaultdict[str, list[Child]] = defaultdict(list)
    # All at once, by name, then by id.
    for name, id_, level, parent in sorted(below):
        children[parent].append(Child(id_, name, level))
    return Outline(
        children={id_: tuple(found) for id_, found in children.items()},
        parents=parents,
        files=tuple(sorted(files)),
        modules=tuple(sorted(modules)),
        levels={**levels, **dict.fromkeys(files, Level.FILE), **dict.fromkeys(modules, Level.MODULE)},
    )


def base_name(path: str) -> str:
    """The last part of a path."""
    return path.rsplit("/", 1)[-1]
