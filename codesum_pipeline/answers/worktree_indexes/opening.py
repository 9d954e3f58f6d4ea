"""The index of a work tree: the published index without the differing files, and an index of these.

A home keeps the indexes of some trees for some time.
"""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.answers.worktree_indexes.differences import Differences, compare_tree, whole_tree
from codesum_pipeline.answers.worktree_indexes.word_rarity import RescaledIndexes
from codesum_pipeline.builds.maintenance.tree_indexes import SETTLED
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import (
    BrokenIndex,
    CodesumError,
    ConfigurationError,
    RepositoryUnavailable,
)
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.ids import parent_modules
from codesum_pipeline.foundation.data_model.printable import some_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.indexes.file_formats.version_folder import read_version
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.files.path_rules import PathRules

# A tree with more differing files is answered as published: to build its index takes no longer.
MOST_FILES = 2000
_NAMED = 5
_ATTEMPTS = 3
_NOT_INDEXED = "they are answered as the commit has them"
_LAGS = "calls between changed and other files may lag, texts of folders are those of the commit"

Mask = npt.NDArray[np.bool_]


class TreeIndex(Struct, frozen=True):
    """The indexes that answer for a work tree: the published one without the differing files and one of these, or one
    settled index of the whole tree.

    `found` are the differences from the commit of the index; None if the tree of `root` was not compared, or there
    is none. `lags` names the facts that are not the tree's yet. `warning` names differing files that could not be
    indexed, whose lines may be wrong. `awaited` is the folder of the settled index that replaces these parts.
    """

    parts: tuple[PublishedIndex, ...]
    root: Path | None = None
    found: Differences | None = None
    lags: str = ""
    warning: str = ""
    is_settled: bool = True
    awaited: Path | None = None

    def is_still_best(self) -> bool:
        """Whether it answers again for a tree that did not change: it was compared, its indexes are kept and count as
        used now, and no settled one came."""
        is_best = self.is_settled or (self.awaited is not None and not self.awaited.is_dir())
        folders = [index.home for index in self.parts if index.home is not None]
        for folder in folders:
            # A home may be read-only.
            with suppress(OSError):
                os.utime(folder)
        return self.found is not None and is_best and all(folder.is_dir() for folder in folders)

    @property
    def stale(self) -> frozenset[str]:
        """The differing files that are answered as the commit has them."""
        return self.found.changed | self.found.gone if self.found and self.warning else frozenset()


def open_tree(
    settings: Settings, entry: RepositoryEntry, base: PublishedIndex, root: Path, *, rescaled: RescaledIndexes
) -> TreeIndex:
    """Compare a work tree with an index, and index the differing files where that was not done yet.

    Never raises: where the tree cannot be compared, the published index answers, and the warning says why.
    """
    for attempt in range(_ATTEMPTS):
        try:
            return _open_tree(settings, entry, base, root, rescaled)
        except RepositoryUnavailable as error:
            # A file may have been written while it was read, or an index deleted.
            if attempt == _ATTEMPTS - 1:
                return _as_published(base, root, error)
        except (CodesumError, OSError) as error:
            return _as_published(base, root, error)
    raise AssertionError("each attempt returns or raises")


def _open_tree(
    settings: Settings, entry: RepositoryEntry, base: PublishedIndex, root: Path, rescaled: RescaledIndexes
) -> TreeIndex:
    found = _compare(settings, entry, base, root)
    if not found:
        return TreeIndex((base,), root, found)
    settled = _folder(settings, base, found, SETTLED)
    if settled.is_dir():
        return TreeIndex((_open_folder(settled, base.repo),), root, found)
    if len(found.changed) > MOST_FILES:
        warning = f"{_named(found.paths)}: more than {MOST_FILES:,}"
        return TreeIndex((base,), root, found, _NOT_INDEXED, warning=warning, is_settled=False)
    try:
        parts = _parts(settings, base, found, rescaled)
    except ConfigurationError as error:
        return TreeIndex((base,), root, found, _NOT_INDEXED, warning=f"{_named(found.paths)}: {error}")
    return TreeIndex(parts, root, found, lags=_LAGS, is_settled=False, awaited=settled)


def _as_published(base: PublishedIndex, root: Path, error: Exception) -> TreeIndex:
    return TreeIndex((base,), root, warning=f"the work tree {root} was not compared: {error}", is_settled=False)


def settle_tree(settings: Settings, entry: RepositoryEntry, base: PublishedIndex, root: Path) -> None:
    """Index a whole work tree, for the next opening, unless that was done or nothing differs.

    Takes as long as an incremental build, and raises its errors.
    """
    found = _compare(settings, entry, base, root)
    folder = _folder(settings, base, found, SETTLED)
    if not found or folder.is_dir():
        return
    # As for an overlay, this takes a second.
    from codesum_pipeline.answers.worktree_indexes.tree_builds import build_settled
    from codesum_pipeline.builds.codesum_home.wiring import Home

    mirror, commit = HomeLayout(settings.home).mirror(base.repo), base.commit
    tree = whole_tree(found, mirror=mirror, commit=commit)
    build_settled(Home(settings).workspace(base.repo, run_id="overlay"), tree, folder)


def _compare(settings: Settings, entry: RepositoryEntry, base: PublishedIndex, root: Path) -> Differences:
    rules = PathRules.of(entry, settings)
    return compare_tree(
        root,
        rules,
        mirror=HomeLayout(settings.home).mirror(base.repo),
        commit=base.commit,
        home=settings.home.resolve(),
        joined=base.version.submodules,
    )


def _parts(
    settings: Settings, base: PublishedIndex, found: Differences, rescaled: RescaledIndexes
) -> tuple[PublishedIndex, ...]:
    masked = replace(base, visible=_without(base, found))
    if not found.changed:
        return (masked,)
    folder = _overlay_folder(settings, base, found)
    small = rescaled.rescale(folder, base, _open_folder(folder, base.repo))
    known = {masked.ids[row] for row in masked.rows_at(Level.MODULE) if masked.shows(row)}
    visible = np.ones(len(small), dtype=np.bool_)
    # Folders keep the texts of the base: those of the small index describe a part of each.
    visible[[row for row in small.rows_at(Level.MODULE) if small.ids[row] in known]] = False
    return masked, replace(small, visible=visible)


def _without(base: PublishedIndex, found: Differences) -> Mask:
    """The documents of unchanged files, and of folders that still have files."""
    visible = np.ones(len(base), dtype=np.bool_)
    differ = found.changed | found.gone
    files = np.array([row for row in base.rows_at(Level.FILE) if base.ids[row] in differ], dtype=np.int64)
    visible[np.isin(base.arrays["file_row"], files)] = False
    visible[files] = False
    kept = {base.ids[row] for row in base.rows_at(Level.FILE) if visible[row]} | found.changed
    folders = {folder for path in kept for folder in parent_modules(path)}
    for row in base.rows_at(Level.MODULE):
        visible[row] = base.ids[row] in folders
    return visible


def _overlay_folder(settings: Settings, base: PublishedIndex, found: Differences) -> Path:
    """The folder of the index of the differing files, which is built now if it is not kept."""
    folder = _folder(settings, base, found)
    if not folder.is_dir():
        # Importing takes a second, for which a search without edits does not wait.
        from codesum_pipeline.answers.worktree_indexes.tree_builds import build_overlay
        from codesum_pipeline.builds.codesum_home.wiring import Home

        tree = whole_tree(found, mirror=HomeLayout(settings.home).mirror(base.repo), commit=base.commit)
        build_overlay(Home(settings).workspace(base.repo, run_id="overlay"), found.scan, folder, tree=tree)
    return folder


def _folder(settings: Settings, base: PublishedIndex, found: Differences, ending: str = "") -> Path:
    """The folder of the index of a tree, named by a hash of its inputs."""
    fingerprint = str(base.version.manifest["fingerprint"])
    name = hash_of([base.version.digest, fingerprint, found.digest])
    return HomeLayout(settings.home).overlays(base.repo) / f"{name}{ending}"


def _open_folder(folder: Path, key: str) -> PublishedIndex:
    # Records the last use; a home may be read-only.
    with suppress(OSError):
        os.utime(folder)
    try:
        (version,) = HomeLayout(folder).versions(key).iterdir()
        if damaged := read_version(version).damaged_files(read_content=False):
            raise BrokenIndex(f"{version}: {damaged[0]} is damaged")
        return replace(PublishedIndex.of_version(version), home=folder)
    except (CodesumError, OSError, ValueError) as error:
        # It is made from the tree, and can be made again.
        shutil.rmtree(folder, ignore_errors=True)
        raise RepositoryUnavailable(str(error)) from error


def _named(paths: Sequence[str]) -> str:
    return f"{some_of(paths, _NAMED)} differ from the index"
