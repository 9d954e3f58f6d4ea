"""How important each symbol and file is, by who refers to it, and which community it belongs to.

Two things are connected where any call, import or inheritance joins them; how
often does not count, and neither does recursion. Nodes are numbered by their
sorted ids and sums run in that order, so equal graphs give equal bytes.

Communities are found by the Louvain method, in columns. Blondel et al. (2008) move one node at a time. Here many move
at once, each to where it would gain most if the others stayed: in every round about half of the nodes, drawn by their
numbers, since two neighbours that move together may only change places. A node whose neighbours stayed is not looked at
again. All sums are of whole numbers, so no order of additions can change a result, and ties go to the lowest community.
"""

from collections.abc import Iterable
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from numpy.typing import NDArray

from codesum_pipeline.foundation.data_model.edge import GraphStats
from codesum_pipeline.foundation.store.rows import schema_of

DAMPING = 0.85
TOLERANCE = 1e-10
# 0.85 ** 200 is below 1e-14: the loop always ends by its tolerance.
MAX_ROUNDS = 200
# As exact as the tolerance allows, and coarser than what the order of additions could change.
DECIMALS = 10

# More rounds add less than 0.01 to the modularity of graphs of 200 to 100,000 nodes.
_MAX_ROUNDS = 12
_MAX_LEVELS = 12
# A round that adds less than 1 / 2,000 to the modularity is not worth its time, and two of them end a level.
_LEAST_GAIN = 2_000
_MAX_IDLE_ROUNDS = 2

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


def graph_stats(ids: Iterable[str], edges: pa.Table) -> pa.Table:
    """Degrees, PageRank, component and community of every id, sorted by id: rows of `GraphStats` from rows of `Edge`;
    edges to anything else are left out."""
    ordered = sorted_names(pa.array(ids, pa.string()))
    pairs = find_connections(ordered, edges)
    size = len(ordered)
    columns = (
        np.bincount(pairs[:, 1], minlength=size),
        np.bincount(pairs[:, 0], minlength=size),
        [round(rank, DECIMALS) for rank in compute_pagerank(size, pairs).tolist()],
        find_components(size, pairs),
        find_communities(size, pairs),
    )
    return pa.Table.from_arrays([ordered, *map(pa.array, columns)], schema=schema_of(GraphStats))


def sorted_names(*columns: pa.Array | pa.ChunkedArray) -> pa.StringArray:
    """The distinct strings of some columns in order; their places are their numbers."""
    chunks = [chunk for column in columns for chunk in getattr(column, "chunks", [column])]
    names = pa.chunked_array(chunks, pa.string()).unique().drop_null()
    return names.take(pc.sort_indices(names))


def numbers_in(strings: pa.Array | pa.ChunkedArray, names: pa.StringArray) -> Numbers:
    """The place of each string among names, -1 for another one."""
    found: Numbers = pc.fill_null(pc.index_in(strings, value_set=names), -1).to_numpy().astype(np.int64)
    return found


def are_among(ones: Numbers, others: Numbers) -> Mask:
    """Whether each number is one of the others."""
    known = _distinct(others)
    places = np.minimum(np.searchsorted(known, ones), max(len(known) - 1, 0))
    return known[places] == ones if len(known) else np.zeros(len(ones), np.bool_)


def _distinct(numbers: Numbers) -> Numbers:
    """The distinct numbers in order: `np.unique` takes ten times as long unless it also counts."""
    return np.unique(numbers, return_counts=True)[0]


def find_connections(ordered: pa.StringArray, edges: pa.Table) -> Numbers:
    """Distinct (source, target) numbers of the edges between the given ids, sorted, without loops."""
    sources, targets = (numbers_in(edges[name], ordered) for name in ("src_id", "dst"))
    is_external = edges["is_external"].to_numpy()
    is_one = ~is_external & (sources != targets) & (sources >= 0) & (targets >= 0)
    keys = _distinct(sources[is_one] * len(ordered) + targets[is_one])
    return np.stack(np.divmod(keys, max(len(ordered), 1)), axis=1)


def compute_pagerank(size: int, pairs: Numbers) -> NDArray[np.float64]:
    """PageRank by power iteration; nodes without an outgoing edge spread theirs evenly. Sums to 1."""
    if size == 0:
        return np.zeros(0)
    sources, targets = pairs[:, 0], pairs[:, 1]
    out_degree = np.bincount(sources, minlength=size)
    dangling = out_degree == 0
    shares = 1.0 / out_degree[sources]
    ranks: NDArray[np.float64] = np.full(size, 1.0 / size)
    for _ in range(MAX_ROUNDS):
        received = np.bincount(targets, weights=ranks[sources] * shares, minlength=size)
        updated = DAMPING * (received + ranks[dangling].sum() / size) + (1.0 - DAMPING) / size
        change = np.abs(updated - ranks).sum()
        ranks = updated
        if change < TOLERANCE:
            break
    normed: NDArray[np.float64] = ranks / ranks.sum()
    return normed


def find_components(size: int, pairs: Numbers) -> Numbers:
    """Each node's weakly connected component, numbered by its first node."""
    above = np.arange(size)
    while True:
        ones, others = above[pairs[:, 0]], above[pairs[:, 1]]
        apart = ones != others
        if not apart.any():
            return _in_order(above)
        # Of two roots that are linked, the later one is put below the first: then all nodes below their roots.
        np.minimum.at(above, np.maximum(ones, others)[apart], np.minimum(ones, others)[apart])
        while (above[above] != above).any():
            above = above[above]


class _Links(Struct, frozen=True):
    """A weighted graph: every link in both directions, sorted by source; `loops` are weights inside a node."""

    sources: Numbers
    targets: Numbers
    weights: Numbers
    loops: Numbers

    @classmethod
    def of(cls, size: int, pairs: Numbers) -> Self:
        one, other = pairs[:, 0], pairs[:, 1]
        sources, targets = np.concatenate((one, other)), np.concatenate((other, one))
        return cls(*sum_by_pair(sources, targets, np.ones_like(sources), size), np.zeros(size, np.int64))

    @property
    def size(self) -> int:
        return len(self.loops)

    def merged(self, community: Numbers) -> "_Links":
        """The graph whose nodes are the communities."""
        size = int(community.max()) + 1
        sources, targets, weights = sum_by_pair(community[self.sources], community[self.targets], self.weights, size)
        loops = _total_by(community, self.loops, size)
        inside = sources == targets
        loops[sources[inside]] += weights[inside] // 2
        return _Links(sources[~inside], targets[~inside], weights[~inside], loops)


def find_communities(size: int, pairs: Numbers) -> Numbers:
    """Each node's community, numbered by its first node. Direction does not count."""
    links = _Links.of(size, pairs)
    member_of = np.arange(size)
    for _ in range(_MAX_LEVELS):
        moved = _Level(links).moved()
        if moved is None:
            break
        member_of = moved[member_of]
        links = links.merged(moved)
    return _in_order(member_of)


class _Level:
    """One level of the Louvain method: a graph, and the community of each node while nodes move."""

    def __init__(self, links: _Links) -> None:
        self._links = links
        self._degrees = _total_by(links.sources, links.weights, links.size) + 2 * links.loops
        self._total = int(self._degrees.sum())
        self._community = np.arange(links.size)
        self._weights = self._degrees

    def moved(self) -> Numbers | None:
        """The best communities found, in order of their first node; None if no move gains."""
        best, best_quality, idle = None, self._quality(), 0
        waiting = np.ones(self._links.size, np.bool_)
        for number in range(_MAX_ROUNDS):
            turn = waiting & _half(self._links.size, number)
            waiting &= ~turn
            waiting |= self._move(turn)
            quality = self._quality()
            is_better = quality - best_quality > self._total**2 // _LEAST_GAIN
            if is_better:
                best, best_quality = self._community, quality
            idle = 0 if is_better else idle + 1
            if idle == _MAX_IDLE_ROUNDS or not waiting.any():
                break
        return None if best is None else _in_order(best)

    def _move(self, turn: Mask) -> Mask:
        """Move the nodes of `turn` that gain by it; returns the nodes that are linked to one that moved."""
        links, degrees = self._links, self._degrees
        seen = turn[links.sources]
        nodes, groups, towards = sum_by_pair(
            links.sources[seen], self._community[links.targets[seen]], links.weights[seen], links.size
        )
        is_own = self._community[nodes] == groups
        others = self._weights[groups] - np.where(is_own, degrees[nodes], 0)
        gains = towards * self._total - others * degrees[nodes]
        stays = -(self._weights[self._community] - degrees) * degrees
        stays[nodes[is_own]] = gains[is_own]
        best = _first_highest(nodes, gains)
        best = best[gains[best] > stays[nodes[best]]]
        self._community = self._community.copy()
        self._community[nodes[best]] = groups[best]
        self._weights = _total_by(self._community, degrees, links.size)
        has_moved = np.zeros(links.size, np.bool_)
        has_moved[nodes[best]] = True
        touched = np.zeros(links.size, np.bool_)
        touched[links.sources[has_moved[links.targets]]] = True
        return touched

    def _quality(self) -> int:
        """The modularity, times the square of the total weight."""
        links = self._links
        within = self._community[links.sources] == self._community[links.targets]
        inside = int(links.weights[within].sum()) + 2 * int(links.loops.sum())
        return inside * self._total - int(np.square(self._weights).sum())


def _half(size: int, number: int) -> Mask:
    """About half of the nodes, others in each round: the top bit of a multiplicative hash."""
    mixed = (np.arange(size, dtype=np.uint64) + np.uint64(number * size)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return mixed >= np.uint64(1 << 63)


def sum_by_pair(ones: Numbers, others: Numbers, weights: Numbers, size: int) -> tuple[Numbers, Numbers, Numbers]:
    """The distinct pairs in order, each with the sum of its weights."""
    keys = ones * size + others
    order = np.argsort(keys)
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    sums = np.add.reduceat(weights[order], starts) if len(starts) else weights
    return keys[starts] // size, keys[starts] % size, sums


def _total_by(groups: Numbers, weights: Numbers, size: int) -> Numbers:
    """The sum of weights of each group; whole numbers below 2**53 are exact as floats."""
    return np.bincount(groups, weights=weights, minlength=size).astype(np.int64)


def _first_highest(nodes: Numbers, gains: Numbers) -> Numbers:
    """For each run of equal nodes the position of its first highest gain."""
    if len(nodes) == 0:
        return np.zeros(0, np.int64)
    starts = np.flatnonzero(np.diff(nodes, prepend=-1))
    highest = np.repeat(np.maximum.reduceat(gains, starts), np.diff(starts, append=len(nodes)))
    found = np.flatnonzero(gains == highest)
    return found[np.flatnonzero(np.diff(nodes[found], prepend=-1))]


def _in_order(labels: Numbers) -> Numbers:
    """The same partition with numbers in order of first appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), np.int64)
    numbers[np.argsort(first)] = np.arange(len(first))
    return numbers[inverse]
