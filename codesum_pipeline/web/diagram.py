"""The diagram of an overview as SVG: boxes in layers, with arrows from left to right.

Layers are the topological generations of the graph whose cycles are merged to one node. An arrow over several layers
has a place in each of them, so that it runs between the boxes.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from msgspec import Struct

from codesum_pipeline.web.rendering import render

_BOX = re.compile(r'^  (p\d+)\["(.*)"\]$', re.MULTILINE)
_ARROW = re.compile(r"^  (p\d+) (<?)--> (p\d+)$", re.MULTILINE)
_NUMBERED = re.compile(r"#(\d+);")

_BOX_HEIGHT, _ROW, _GAP, _EDGE = 30, 46, 56, 8
_CHARACTER, _PADDING = 7.4, 22
# The order of twelve boxes is stable after so many rounds.
_ROUNDS = 8

# A box, or the place of an arrow in a layer.
Node = str | tuple[str, str, int]


class Box(Struct, frozen=True):
    """A box's name, upper left corner and size."""

    name: str
    x: float
    y: float
    width: float
    height: float = _BOX_HEIGHT


class Arrow(Struct, frozen=True):
    """An SVG path from one box to another; `both` says that each uses the other."""

    source: str
    target: str
    both: bool
    path: str


def draw(mermaid: str) -> str:
    """A diagram of an overview as SVG with a list behind it; empty for any other diagram."""
    names = {box: _NUMBERED.sub(lambda found: chr(int(found[1])), name) for box, name in _BOX.findall(mermaid)}
    pairs = [(source, target, bool(both)) for source, both, target in _ARROW.findall(mermaid)]
    if not pairs or any(box not in names for source, target, _ in pairs for box in (source, target)):
        return ""
    layers, ways = _layers(pairs)
    _untangle(layers, ways)
    corners, widths, width = _corners(layers, names)
    boxes = [Box(names[box], *corners[box], widths[box]) for box in names if box in corners]
    arrows = [
        Arrow(names[source], names[target], both, _path([(*corners[node], widths[node]) for node in way]))
        for (source, target, both), way in zip(pairs, ways, strict=True)
    ]
    height = max(map(len, layers)) * _ROW - _ROW + _BOX_HEIGHT + 2 * _EDGE
    return render("diagram.html", boxes=boxes, arrows=arrows, width=width, height=height)


def _layers(pairs: Sequence[tuple[str, str, bool]]) -> tuple[list[list[Node]], list[list[Node]]]:
    """The nodes of each layer, and the nodes of each arrow."""
    # Importing takes half a second, for which only overviews wait.
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edges_from((source, target) for source, target, _ in pairs)
    graph.add_edges_from((target, source) for source, target, both in pairs if both)
    merged = nx.condensation(graph)
    layers: list[list[Node]] = [
        sorted(box for each in generation for box in merged.nodes[each]["members"])
        for generation in nx.topological_generations(merged)
    ]
    level = {box: depth for depth, boxes in enumerate(layers) for box in boxes}
    ways: list[list[Node]] = []
    for source, target, _ in pairs:
        between: list[Node] = [(source, target, depth) for depth in range(level[source] + 1, level[target])]
        for depth, node in enumerate(between, start=level[source] + 1):
            layers[depth].append(node)
        ways.append([source, *between, target])
    return layers, ways


def _untangle(layers: list[list[Node]], ways: Sequence[Sequence[Node]]) -> None:
    """Order each layer by the places of its neighbours, in turns from the left and from the right."""
    beside: defaultdict[Node, list[Node]] = defaultdict(list)
    for left, right in (step for way in ways for step in pairwise(way)):
        beside[left].append(right)
        beside[right].append(left)
    for turn in range(_ROUNDS):
        for layer in layers if turn % 2 == 0 else layers[::-1]:
            place = {node: at - len(each) / 2 for each in layers for at, node in enumerate(each)}
            middle = {node: fmean(place[other] for other in beside[node]) for node in layer}
            layer[:] = [node for _, _, node in sorted((middle[node], str(node), node) for node in layer)]


def _corners(
    layers: Sequence[Sequence[Node]], names: Mapping[str, str]
) -> tuple[dict[Node, tuple[float, float]], dict[Node, float], float]:
    """The upper left corner and the width of each node, and the whole width."""
    corners: dict[Node, tuple[float, float]] = {}
    widths: dict[Node, float] = {}
    x, tallest = float(_EDGE), max(map(len, layers))
    for layer in layers:
        width = max(len(names[node]) * _CHARACTER + _PADDING for node in layer if isinstance(node, str))
        for at, node in enumerate(layer):
            corners[node] = (x, _EDGE + (at + (tallest - len(layer)) / 2) * _ROW)
            widths[node] = width
        x += width + _GAP
    return corners, widths, x - _GAP + _EDGE


def _path(way: Sequence[tuple[float, float, float]]) -> str:
    """From the right side of the first node to the left one of the last; within a layer, around its right side."""
    half = _BOX_HEIGHT / 2
    (x, y, width), (last_x, last_y, _) = way[0], way[-1]
    parts = [f"M{x + width:.0f} {y + half:.0f}"]
    if x == last_x:
        out = x + width + _GAP * 0.6
        return f"{parts[0]}C{out:.0f} {y + half:.0f} {out:.0f} {last_y + half:.0f} {x + width:.0f} {last_y + half:.0f}"
    for (left, upper, wide), (right, lower, across) in pairwise(way):
        middle = (left + wide + right) / 2
        parts.append(f"C{middle:.0f} {upper + half:.0f} {middle:.0f} {lower + half:.0f} {right:.0f} {lower + half:.0f}")
        if (right, lower) != (last_x, last_y):
            parts.append(f"H{right + across:.0f}")
    return "".join(parts)
