"""How much each symbol and file matters: who refers to it, and what it belongs with.

Two things are connected where any call, import or inheritance joins them; how
often does not count, and neither does recursion. Nodes are numbered by their
sorted ids and sums run in that order, so equal graphs give equal bytes.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codesum_pipeline.graph.communities import find_communities
from codesum_pipeline.model.graph import Edge, GraphStats

if TYPE_CHECKING:
    import networkx as nx

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
    graph = directed_graph(size, pairs)
    ranks = pagerank(size, pairs)
    components = find_components(graph)
    communities = find_communities(size, pairs)
    stats = [
        GraphStats(
            id=node_id,
            in_degree=graph.in_degree[node],
            out_degree=graph.out_degree[node],
            pagerank=round(float(ranks[node]), DECIMALS),
            component=components[node],
            community=communities[node],
        )
        for node, node_id in enumerate(ordered)
    ]
    # Its views refer to it: without this it would outlive the step.
    graph.clear()
    return stats


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


def directed_graph(size: int, pairs: Pairs) -> "nx.DiGraph[int]":
    """The nodes 0 to `size` - 1 and their connections."""
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(pairs.tolist())
    return graph


def find_components(graph: "nx.DiGraph[int]") -> list[int]:
    """Each node's weakly connected component, numbered by its first node."""
    import networkx as nx

    found = [0] * len(graph)
    for number, nodes in enumerate(sorted(nx.weakly_connected_components(graph), key=min)):
        for node in nodes:
            found[node] = number
    return found
