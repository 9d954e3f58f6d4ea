"""What a process remembers of a home from one call of a tool to the next.

Each class keeps one kind of thing, for several threads, as long as the catalogue that owns it, and shares it with the
limited copies of that catalogue.
"""

import threading
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, field

from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.source_lines.packed_texts import PackedTexts
from codesum_pipeline.ways_in.worktree_indexes.opening import TreeIndex

T = TypeVar("T")
# The inode and modification time of the link to a published version: each publication makes the link anew.
LinkIdentity = tuple[int, int]


class OpenedIndexes:
    """Opened indexes by key, each until another version is published or too many others were used since."""

    def __init__(self) -> None:
        # The last used is last.
        self._opened: dict[str, tuple[LinkIdentity, PublishedIndex]] = {}
        self._lock = threading.Lock()

    def __contains__(self, key: str) -> bool:
        return key in self._opened

    def find(self, key: str, identity: LinkIdentity) -> PublishedIndex | None:
        """The index that was opened by this link; one of another link is forgotten."""
        with self._lock:
            known = self._opened.pop(key, None)
            if known is None or known[0] != identity:
                return None
            self._opened[key] = known
            return known[1]

    def keep(self, key: str, identity: LinkIdentity, index: PublishedIndex, *, most: int) -> None:
        """Remember an index; of more than `most`, the longest unused are forgotten."""
        with self._lock:
            self._opened[key] = identity, index
            while len(self._opened) > most:
                # Its files are closed when no caller uses it any more.
                del self._opened[next(iter(self._opened))]

    def forget(self, key: str) -> None:
        with self._lock:
            self._opened.pop(key, None)


class OpenedTexts:
    """Opened texts of indexes, by the digest and home of each, until too many others were used since."""

    def __init__(self) -> None:
        self._opened: dict[tuple[str, Path | None], PackedTexts] = {}
        self._lock = threading.Lock()

    def find(self, index: PublishedIndex) -> PackedTexts | None:
        with self._lock:
            known = self._opened.pop(_texts_of(index), None)
            if known is not None:
                self._opened[_texts_of(index)] = known
            return known

    def keep(self, index: PublishedIndex, texts: PackedTexts, *, most: int) -> None:
        """Remember texts; of more than `most`, the longest unused are forgotten."""
        with self._lock:
            self._opened[_texts_of(index)] = texts
            while len(self._opened) > most:
                del self._opened[next(iter(self._opened))]


def _texts_of(index: PublishedIndex) -> tuple[str, Path | None]:
    return index.version.digest, index.home


class ComparedTree(Struct, frozen=True):
    """The indexes for a work tree, the tree's generation before it was compared with `base`, and what was made of the
    indexes since."""

    base: PublishedIndex
    tree: TreeIndex
    generation: int
    made: dict[Hashable, Any] = field(default_factory=dict)


class ComparedTrees:
    """The last comparison of each followed work tree with the index of a repository."""

    def __init__(self) -> None:
        self._compared: dict[tuple[str, Path], ComparedTree] = {}
        self._trees: dict[tuple[str, Path], threading.Lock] = {}
        self._lock = threading.Lock()

    def lock_of(self, key: str, root: Path) -> threading.Lock:
        """A lock to hold while a work tree is compared and indexed, so that this is done only once."""
        with self._lock:
            return self._trees.setdefault((key, root), threading.Lock())

    def find(self, key: str, root: Path) -> ComparedTree | None:
        return self._compared.get((key, root))

    def keep(self, key: str, root: Path, compared: ComparedTree) -> None:
        self._compared[key, root] = compared

    def make_once(self, key: str, tree: TreeIndex, name: Hashable, make: Callable[[], T]) -> T:
        """What is made of the indexes of a tree, once for its last comparison."""
        known = self._compared.get((key, tree.root)) if tree.root else None
        if known is None or known.tree is not tree:
            return make()
        if name not in known.made:
            known.made[name] = make()
        found: T = known.made[name]
        return found


class SoughtCommits:
    """Commits that were looked for in mirrors of this machine, found or not: a host is waited for only once."""

    def __init__(self) -> None:
        self._sought: set[tuple[Path, str]] = set()

    def __contains__(self, sought: tuple[Path, str]) -> bool:
        return sought in self._sought

    def add(self, git_dir: Path, commit: str) -> None:
        self._sought.add((git_dir, commit))
