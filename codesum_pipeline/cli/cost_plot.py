"""A picture of what each day cost, and of their sum."""

from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path

from codesum_pipeline.store.atomic import replacing

_COLOR = "#4f43dd"
_SUM_COLOR = "#d9822b"
# More names would run into each other.
_NAMED_DAYS = 12


def write_plot(path: Path, usd_by_day: Mapping[str, float]) -> None:
    """Write a PNG: a bar for each day that had calls, and a line for all up to then; days are ISO dates."""
    from matplotlib.figure import Figure

    days = sorted(usd_by_day)
    figure = Figure(figsize=(8, 3.2), dpi=100, layout="constrained")
    axes = figure.add_subplot()
    axes.bar(range(len(days)), [usd_by_day[day] for day in days], color=_COLOR)
    sums = axes.twinx()
    sums.plot(range(len(days)), [*accumulate(usd_by_day[day] for day in days)], color=_SUM_COLOR)
    step = max(1, -(-len(days) // _NAMED_DAYS))
    axes.set_xticks(range(0, len(days), step), days[::step], rotation=30, ha="right", fontsize=8)
    for drawn, color in ((axes, _COLOR), (sums, _SUM_COLOR)):
        drawn.set_ylim(bottom=0)
        drawn.tick_params(axis="y", labelsize=8, labelcolor=color)
    axes.set_title("US dollars a day (bars), and all so far (line)", fontsize=9, loc="left")
    with replacing(path) as file:
        figure.savefig(file, format="png", metadata={"Software": None})
