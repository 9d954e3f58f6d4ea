"""Groups of nodes that refer to each other more than to the rest: the Louvain method.

Blondel et al. (2008), with everything that is random there taken in the order
of the nodes' numbers, and ties given to the lowest community. networkx's own
takes 8 s for 5,000 nodes, and its label propagation ends in one community that
holds nearly everything.
"""

from collections.abc import Iterable

# A move must gain more than rounding can.
_LEAST_GAIN = 1e-9
# Later passes move next to nothing.
_MAX_PASSES = 12
_MAX_LEVELS = 12

Neighbours = list[dict[int, float]]


def find_communities(size: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Each node's community, numbered by its first node. Direction does not count."""
    neighbours: Neighbours = [{} for _ in range(size)]
    for one, other in pairs:
        neighbours[one][other] = neighbours[one].get(other, 0.0) + 1.0
        neighbours[other][one] = neighbours[other].get(one, 0.0) + 1.0
    loops = [0.0] * size
    member_of = list(range(size))
    for _ in range(_MAX_LEVELS):
        moved = _move_nodes(neighbours, loops)
        if moved is None:
            break
        member_of = [moved[group] for group in member_of]
        neighbours, loops = _merge(neighbours, loops, moved)
    return in_order(member_of)


def _move_nodes(neighbours: Neighbours, loops: list[float]) -> list[int] | None:
    """Move each node where it gains most until none gains; None where none ever moved."""
    degrees = [sum(links.values()) + 2 * loop for links, loop in zip(neighbours, loops, strict=True)]
    total = sum(degrees)
    if total == 0:
        return None
    community = list(range(len(neighbours)))
    weights = list(degrees)
    any_moved = False
    for _ in range(_MAX_PASSES):
        moves = 0
        for node, links in enumerate(neighbours):
            own = community[node]
            weights[own] -= degrees[node]
            best = _best_community(own, links, community, weights, degrees[node] / total)
            weights[best] += degrees[node]
            if best != own:
                community[node] = best
                moves += 1
        any_moved = any_moved or moves > 0
        if moves == 0:
            break
    return in_order(community) if any_moved else None


def _best_community(own: int, links: dict[int, float], community: list[int], weights: list[float], share: float) -> int:
    towards: dict[int, float] = {own: 0.0}
    for neighbour, weight in links.items():
        group = community[neighbour]
        towards[group] = towards.get(group, 0.0) + weight
    best, best_gain = own, towards[own] - weights[own] * share
    for group, weight in towards.items():
        gain = weight - weights[group] * share
        if gain > best_gain + _LEAST_GAIN or (gain > best_gain - _LEAST_GAIN and best != own and group < best):
            best, best_gain = group, gain
    return best


def _merge(neighbours: Neighbours, loops: list[float], community: list[int]) -> tuple[Neighbours, list[float]]:
    """The graph whose nodes are the communities."""
    size = max(community) + 1
    merged: Neighbours = [{} for _ in range(size)]
    merged_loops = [0.0] * size
    for node, links in enumerate(neighbours):
        group = community[node]
        merged_loops[group] += loops[node]
        for neighbour, weight in links.items():
            other = community[neighbour]
            if other == group:
                merged_loops[group] += weight / 2
            else:
                merged[group][other] = merged[group].get(other, 0.0) + weight
    return merged, merged_loops


def in_order(labels: Iterable[int]) -> list[int]:
    """The same partition with numbers in order of first appearance."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]
