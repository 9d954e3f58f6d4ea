"""Small pictures for the UI: a bar per count, as an image inside Markdown."""

import base64
import io
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAR_COLOR = "#4f43dd"
BAR_HEIGHT_IN = 0.24
WIDTH_IN = 5.0
# The space around the bars is reckoned, not found by drawing twice, which takes as long again.
EDGE_IN = 0.3
CHARACTER_IN = 0.078


def bars(title: str, counts: Mapping[str, int]) -> str:
    """A horizontal bar chart, largest first; names and title must be ours, not a repository's."""
    from matplotlib.figure import Figure

    ordered = sorted(counts.items(), key=lambda item: (item[1], item[0]))
    figure = Figure(figsize=(WIDTH_IN, 0.7 + BAR_HEIGHT_IN * len(ordered)), dpi=80)
    axes = _axes(figure, left_in=EDGE_IN + CHARACTER_IN * max(len(name) for name in counts))
    drawn = axes.barh([name for name, _ in ordered], [count for _, count in ordered], color=BAR_COLOR)
    axes.bar_label(drawn, labels=[f"{count:,}" for _, count in ordered], padding=3, fontsize=8)
    return _finish(figure, axes, title)


def histogram(title: str, edges: Sequence[float], counts: Sequence[int]) -> str:
    """Adjoining bars over the ranges between `edges`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH_IN, 1.9), dpi=80)
    axes = _axes(figure, left_in=EDGE_IN + CHARACTER_IN * len(str(max(counts))))
    widths = [right - left for left, right in pairwise(edges)]
    axes.bar(edges[:-1], counts, width=widths, align="edge", color=BAR_COLOR, edgecolor="white")
    return _finish(figure, axes, title)


def lines(title: str, series: Mapping[str, Sequence[float]]) -> str:
    """Values between 0 and 1, one after the other; names must be ours, not a repository's."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH_IN, 2.2), dpi=80)
    axes = _axes(figure, left_in=EDGE_IN + 4 * CHARACTER_IN)
    for name, values in series.items():
        axes.plot(range(1, len(values) + 1), values, marker="o", markersize=3, linewidth=1.2, label=name)
    axes.set_ylim(0, 1)
    axes.locator_params(axis="x", integer=True)
    axes.legend(fontsize=7, frameon=False, loc="lower left", ncols=3)
    return _finish(figure, axes, title)


def _axes(figure: "Figure", *, left_in: float) -> "Axes":
    """What stands right of the names, below the title and above the numbers."""
    width, height = figure.get_size_inches()
    left, edge = min(left_in / width, 0.6), EDGE_IN / height
    return figure.add_axes((left, edge, 0.97 - left, 1 - 2 * edge))


def _finish(figure: "Figure", axes: "Axes", title: str) -> str:
    axes.set_title(title, fontsize=9, loc="left")
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.12)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", metadata={"Software": None})
    return f"![{title}](data:image/png;base64,{base64.b64encode(picture.getvalue()).decode('ascii')})"
