"""A published index as it is in a work tree: the index without the files that differ, and an index of these."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.overlays.differences import Differences, differences
from codesum_pipeline.overlays.scores import as_rare_as_in
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.settings import Settings
from codesum_pipeline.source.rules import PathRules
from codesum_pipeline.store.layout import HomeLayout

# A tree that differs in more is another repository: to build its index takes no longer.
MOST_FILES = 2000
_NAMED = 5

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TreeIndex:
    """What answers for a work tree: `parts` are the index without what differs, and what differs.

    `note` says it in words; nothing where the tree is the commit of the index. `warning` names the files that differ
    and could not be indexed: their lines may be others.
    """

    parts: tuple[PublishedIndex, ...]
    note: str = ""
    warning: str = ""


def open_tree(settings: Settings, entry: RepositoryEntry, base: PublishedIndex, root: Path) -> TreeIndex:
    """Compare a work tree with an index, and index what differs where that was not done yet.

    Never raises where the tree cannot be compared: the index answers as it is, and the warning says why.
    """
    try:
        found = _compare(settings, entry, base, root)
        if not found:
            return TreeIndex((base,))
        if len(found.paths) > MOST_FILES:
            return TreeIndex((base,), warning=f"{_named(found.paths)}: more than {MOST_FILES:,}, so `codesum index` it")
        return TreeIndex(_parts(settings, base, found), note=_said(root, found))
    except (CodesumError, OSError) as error:
        return TreeIndex((base,), warning=f"the work tree {root} was not compared: {error}")


def _compare(settings: Settings, entry: RepositoryEntry, base: PublishedIndex, root: Path) -> Differences:
    rules = PathRules.of(entry, settings.options.scan)
    return differences(
        root,
        rules,
        mirror=HomeLayout(settings.home).mirror(base.repo),
        commit=str(base.version.manifest["commit"]),
        home=settings.home.resolve(),
    )


def _parts(settings: Settings, base: PublishedIndex, found: Differences) -> tuple[PublishedIndex, ...]:
    masked = replace(base, visible=_without(base, found))
    if not found.changed:
        return (masked,)
    small = _open_kept(settings, base, found)
    known = {masked.ids[row] for row in _rows(masked, Level.MODULE) if masked.shows(row)}
    visible = np.ones(len(small), dtype=np.bool_)
    # Folders that the base has keep its texts: those of the small index know a part of each.
    visible[[row for row in _rows(small, Level.MODULE) if small.ids[row] in known]] = False
    return masked, replace(as_rare_as_in(base, small), visible=visible)


def _without(base: PublishedIndex, found: Differences) -> Mask:
    """The documents of files that are as they were, and of folders in which something still is."""
    visible = np.ones(len(base), dtype=np.bool_)
    differ = found.changed | found.gone
    files = np.array([row for row in _rows(base, Level.FILE) if base.ids[row] in differ], dtype=np.int64)
    visible[np.isin(base.arrays["file_row"], files)] = False
    visible[files] = False
    kept = {base.ids[row] for row in _rows(base, Level.FILE) if visible[row]} | found.changed
    folders = {folder for path in kept for folder in _folders_above(path)}
    for row in _rows(base, Level.MODULE):
        visible[row] = base.ids[row] in folders
    return visible


def _folders_above(path: str) -> Sequence[str]:
    parts = path.split("/")[:-1]
    return [".", *("/".join(parts[:end]) for end in range(1, len(parts) + 1))]


def _rows(index: PublishedIndex, level: Level) -> range:
    rows = index.rows_of(level)
    return range(rows.start, rows.stop)


def _open_kept(settings: Settings, base: PublishedIndex, found: Differences) -> PublishedIndex:
    """The index of the files that differ: the one that is kept, else built now."""
    fingerprint = str(base.version.manifest["fingerprint"])
    folder = HomeLayout(settings.home).overlays(base.repo) / hash_of([base.version.digest, fingerprint, found.digest])
    if not folder.is_dir():
        # What a search without edits does not need: a second to import.
        from codesum_pipeline.overlays.building import build_overlay
        from codesum_pipeline.wiring import Home

        build_overlay(Home(settings).workspace(base.repo, run_id="overlay"), found.scan, folder)
    os.utime(folder)
    (version,) = HomeLayout(folder).versions(base.repo).iterdir()
    return replace(PublishedIndex.of_version(version), home=folder)


def _said(root: Path, found: Differences) -> str:
    count = len(found.paths)
    files = (
        "1 file differs and is searched as it is"
        if count == 1
        else f"{count:,} files differ and are searched as they are"
    )
    return f"with the work tree {root}: {files} now; calls between files and texts of folders are those of the commit"


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else ""
    return f"{', '.join(paths[:_NAMED])}{more} differ from the index"
