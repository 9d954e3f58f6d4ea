"""How much each symbol and file matters: who refers to it, and what it belongs with.

Two things are connected where any call, import or inheritance joins them; how
often does not count, and neither does recursion. Nodes are numbered by their
sorted ids and sums run in that order, so equal graphs give equal bytes.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from codesum_pipeline.graph.communities import find_communities
from codesum_pipeline.model.graph import Edge, GraphStats

DAMPING = 0.85
TOLERANCE = 1e-10
# 0.85 ** 200 is below 1e-14: the loop always ends by its tolerance.
MAX_ROUNDS = 200
# As exact as the tolerance allows, and coarser than what the order of additions could change.
DECIMALS = 10

Pairs = NDArray[np.int64]


def graph_stats(ids: Iterable[str], edges: Sequence[Edge]) -> list[GraphStats]:
    """Degrees, PageRank, component and community of every id, sorted by id; edges to anything else are left out."""
    ordered = sorted(ids)
    pairs = connections(ordered, edges)
    size = len(ordered)
    columns = (
        np.bincount(pairs[:, 1], minlength=size).tolist(),
        np.bincount(pairs[:, 0], minlength=size).tolist(),
        [round(rank, DECIMALS) for rank in pagerank(size, pairs).tolist()],
        find_components(size, pairs),
        find_communities(size, pairs),
    )
    return [GraphStats(*row) for row in zip(ordered, *columns, strict=True)]


def connections(ordered: Sequence[str], edges: Iterable[Edge]) -> Pairs:
    """Distinct (source, target) numbers of the edges between the given ids, sorted, without loops."""
    number = {node_id: position for position, node_id in enumerate(ordered)}
    pairs = {
        (number[edge.src_id], number[edge.dst])
        for edge in edges
        if not edge.is_external and edge.src_id != edge.dst and edge.src_id in number and edge.dst in number
    }
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


def pagerank(size: int, pairs: Pairs) -> NDArray[np.float64]:
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


def find_components(size: int, pairs: Pairs) -> list[int]:
    """Each node's weakly connected component, numbered by its first node."""
    above = list(range(size))

    def first_of(node: int) -> int:
        while above[node] != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    for source, target in pairs.tolist():
        one, other = first_of(source), first_of(target)
        above[max(one, other)] = min(one, other)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(first_of(node), len(numbers)) for node in range(size)]
