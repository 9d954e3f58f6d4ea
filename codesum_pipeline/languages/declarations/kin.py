"""A node's parent and siblings, found without a search through the tree.

tree-sitter looks for both from the root of a tree on, past every child on the way. Asked at each node of a file, that
takes time that grows with the square of the file's depth and length. A walk over a tree knows all parents, so it says
here which they are.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tree_sitter import Node

# How far up from a node a hook looks.
_LEVELS = 6


class TreeWalk:
    """What a walk over a tree knows of it: `above` are the nodes around `node`, outermost first; `parents` those that
    hooks will ask for after the walk, by the ids of their children; `rows` the children of some nodes and their places.
    """

    __slots__ = ("above", "node", "parents", "rows")

    def __init__(self) -> None:
        self.above: list[Node] = []
        self.node: Node | None = None
        self.parents: dict[int, Node] = {}
        self.rows: dict[int, tuple[list[Node], dict[int, int]]] = {}

    def begin(self, above: list[Node]) -> None:
        """Another tree is walked over; the walk keeps the nodes around it in `above`."""
        self.above, self.node = above, None
        self.parents, self.rows = {}, {}

    def end(self) -> None:
        """The walk is over; the parents that it has noted stay known."""
        self.above, self.node = [], None

    def note(self, node: Node, above: Sequence[Node]) -> None:
        """Keep the parents of a node that hooks may ask for after the walk: those of three levels."""
        parents = self.parents
        parents[node.id] = above[-1]
        for level in range(1, min(len(above), 3)):
            parents[above[-level].id] = above[-level - 1]


class _WalkOfThread(threading.local):
    """A thread reads one file at a time: the walk that it is on, or was on last."""

    def __init__(self) -> None:
        self.walk = TreeWalk()


_OF_THREAD = _WalkOfThread()


def current_walk() -> TreeWalk:
    """The walk that this thread is on, or was on last."""
    return _OF_THREAD.walk


@contextmanager
def own_walks() -> Iterator[None]:
    """Around the reading of a file: nothing of its trees is kept longer."""
    try:
        yield
    finally:
        current_walk().begin([])


def parent_of(node: Node) -> Node | None:
    """The node around another; None for the root."""
    walk = current_walk()
    id_, above = node.id, walk.above
    found = walk.parents.get(id_)
    if found is None and above:
        found = next((above[-k - 1] for k in range(1, min(len(above), _LEVELS)) if above[-k].id == id_), None)
        if found is None and walk.node is not None and walk.node.id == id_:
            found = above[-1]
    if found is None:
        return node.parent
    return found if found.id != id_ else None


def grandparent_of(node: Node) -> Node | None:
    """The node around that around another."""
    around = parent_of(node)
    return parent_of(around) if around is not None else None


def siblings_after(node: Node, *, is_named: bool = False) -> Iterator[Node]:
    """The siblings after a node, the next one first; perhaps only those with a name."""
    row, place = _place(node)
    for k in range(place + 1, len(row)):
        if row[k].is_named or not is_named:
            yield row[k]


def siblings_before(node: Node, *, is_named: bool = False) -> Iterator[Node]:
    """The siblings before a node, the last one first; perhaps only those with a name."""
    row, place = _place(node)
    for k in range(place - 1, -1, -1):
        if row[k].is_named or not is_named:
            yield row[k]


def next_sibling_of(node: Node, *, is_named: bool = False) -> Node | None:
    """The next sibling, perhaps the next one with a name."""
    return next(siblings_after(node, is_named=is_named), None)


def _place(node: Node) -> tuple[list[Node], int]:
    """The children of a node's parent, and which of them it is."""
    parent = parent_of(node)
    if parent is None:
        return [], 0
    rows = current_walk().rows
    if parent.id not in rows:
        children = parent.children
        rows[parent.id] = children, {child.id: k for k, child in enumerate(children)}
    children, places = rows[parent.id]
    return children, places.get(node.id, len(children))
