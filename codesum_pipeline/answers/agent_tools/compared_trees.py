"""The work trees that a process has compared, from one call of a tool to the next.

They are kept for several threads, as long as the catalogue that owns them, and shared with its limited copies.
"""

import threading
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, field

from codesum_pipeline.answers.worktree_indexes.opening import TreeIndex
from codesum_pipeline.search.retrieval.published_index import PublishedIndex

T = TypeVar("T")


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
