"""Degrees, PageRank, components and communities."""

import random
from collections.abc import Iterable

import networkx
import numpy as np
import pyarrow as pa
import pytest

from codesum_pipeline.foundation.data_model.edge import Edge, EdgeKind, GraphStats
from codesum_pipeline.foundation.store.rows import from_table, to_table
from codesum_pipeline.graph.importance import (
    compute_pagerank,
    find_communities,
    find_components,
    find_connections,
    graph_stats,
)

Pairs = list[tuple[int, int]]


def random_pairs(size: int, count: int, seed: int) -> Pairs:
    chooser = random.Random(seed)
    pairs = {(chooser.randrange(size), int(size * chooser.random() ** 2)) for _ in range(count)}
    return sorted((one, other) for one, other in pairs if one != other)


def clustered_pairs(groups: int, size: int, seed: int) -> Pairs:
    chooser = random.Random(seed)
    inside = {
        (group * size + chooser.randrange(size), group * size + chooser.randrange(size))
        for group in range(groups)
        for _ in range(size * 4)
    }
    between = {(chooser.randrange(groups * size), chooser.randrange(groups * size)) for _ in range(groups * 2)}
    return sorted((one, other) for one, other in inside | between if one != other)


def edge(src: str, dst: str, *, count: int = 1, kind: EdgeKind = EdgeKind.CALL, is_external: bool = False) -> Edge:
    return Edge(src, dst, is_external, kind, count, 0.9, "ast:import", False)


def groups_of(labels: Iterable[int]) -> list[set[int]]:
    grouped: dict[int, set[int]] = {}
    for node, label in enumerate(labels):
        grouped.setdefault(label, set()).add(node)
    return [grouped[label] for label in sorted(grouped)]


@pytest.mark.parametrize(("size", "count"), [(1, 0), (5, 4), (60, 200), (400, 900)])
def test_pagerank_is_that_of_networkx(size: int, count: int) -> None:
    pairs = random_pairs(size, count, seed=size)
    graph: networkx.DiGraph[int] = networkx.DiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(pairs)

    expected = networkx.pagerank(graph, alpha=0.85, tol=1e-12 / size, max_iter=1000)
    ranks = compute_pagerank(size, np.array(pairs, dtype=np.int64).reshape(-1, 2))

    assert ranks == pytest.approx([expected[node] for node in range(size)], abs=1e-9)
    assert ranks.sum() == pytest.approx(1.0)


def test_components_ignore_direction_and_are_numbered_by_their_first_node() -> None:
    assert find_components(6, np.array([(4, 1), (1, 3), (5, 2)])).tolist() == [0, 1, 2, 1, 1, 2]


@pytest.mark.parametrize("seed", range(3))
def test_communities_are_as_modular_as_those_of_networkx(seed: int) -> None:
    pairs = clustered_pairs(groups=8, size=25, seed=seed)
    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_nodes_from(range(200))
    graph.add_edges_from(pairs)

    theirs = networkx.community.louvain_communities(graph, weight=None, seed=0)
    ours = groups_of(find_communities(200, np.array(pairs)).tolist())

    modularity = networkx.community.modularity
    assert modularity(graph, ours) >= modularity(graph, theirs) - 0.02


def test_a_graph_without_edges_has_as_many_communities_as_nodes() -> None:
    nothing = np.zeros((0, 2), np.int64)

    assert find_communities(3, nothing).tolist() == [0, 1, 2]
    assert find_communities(0, nothing).tolist() == []


def test_equal_edges_in_any_order_give_equal_statistics() -> None:
    names = [f"f{n}.py" for n in range(200)]
    edges = [edge(names[one], names[other]) for one, other in random_pairs(200, 600, seed=9)]
    shuffled = random.Random(1).sample(edges, len(edges))

    assert graph_stats(names, to_table(edges, Edge)) == graph_stats(names[::-1], to_table(shuffled, Edge))


def test_recursion_repetition_and_what_lies_outside_do_not_count() -> None:
    edges = [
        edge("a", "b", count=9),
        edge("a", "b", kind=EdgeKind.INHERIT),
        edge("b", "b"),
        edge("a", "requests.get", is_external=True),
        edge("a", "gone"),
    ]

    table = to_table(edges, Edge)

    assert find_connections(pa.array(["a", "b"]), table).tolist() == [[0, 1]]
    stats = from_table(graph_stats(["b", "a"], table), GraphStats)
    assert [(row.id, row.in_degree, row.out_degree) for row in stats] == [
        ("a", 0, 1),
        ("b", 1, 0),
    ]
