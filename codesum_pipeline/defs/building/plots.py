"""Small plots for the UI, drawn with block characters in Markdown.

A picture would need a plotting library, whose import takes longer than the
build of a small repository.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from codesum_pipeline.model.markdown import table

WIDTH = 24
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HEIGHTS = "▁▂▃▄▅▆▇█"


def bars(name: str, counts: Mapping[str, int]) -> str:
    """A horizontal bar chart, largest first; `name` says what is counted."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return _chart(name, ordered)


def histogram(name: str, edges: Sequence[float], counts: Sequence[int]) -> str:
    """One bar for each range between `edges`, in order."""
    ranges = [f"{left:,.0f} to {right:,.0f}" for left, right in pairwise(edges)]
    return _chart(name, list(zip(ranges, counts, strict=True)))


def lines(name: str, series: Mapping[str, Sequence[float]]) -> str:
    """Values between 0 and 1, oldest first, as one row of columns for each series, with the last value."""
    rows = [(label, "".join(map(_column, values)), f"{values[-1]:.3f}") for label, values in series.items()]
    return table([name, "0 to 1, oldest first", "last"], rows)


def _chart(name: str, counts: Sequence[tuple[str, int]]) -> str:
    most = max((count for _, count in counts), default=0)
    return table([name, "", "count"], [(label, _bar(count, most), f"{count:,}") for label, count in counts])


def _bar(count: int, most: int) -> str:
    """At least a sliver for anything that is there."""
    if not count:
        return ""
    eighths = max(1, round(8 * WIDTH * count / most))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _column(value: float) -> str:
    return _HEIGHTS[min(int(max(value, 0.0) * len(_HEIGHTS)), len(_HEIGHTS) - 1)]
