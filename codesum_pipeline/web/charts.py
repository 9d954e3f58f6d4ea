"""Charts as SVG that a page holds, drawn from numbers; a table with the same numbers stands behind each.

Nothing in them is a style of its own: colours come from the page's classes, light and dark.
"""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 560, 180
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 36, 10, 24
_PLOT_WIDTH, _PLOT_HEIGHT = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
_MOST_LABELS = 4
# A single bar as wide as the chart would say nothing.
_WIDEST_BAR = 36


@dataclass(frozen=True, slots=True)
class Mark:
    """A point or bar: where it stands, and what it says."""

    x: float
    y: float
    width: float
    height: float
    said: str


@dataclass(frozen=True, slots=True)
class AxisTick:
    """A place on an axis."""

    at: float
    said: str


@dataclass(frozen=True, slots=True)
class Line:
    """A named series: its points, the line through them, and the band of its intervals."""

    name: str
    path: str
    band: str
    points: Sequence[Mark]


@dataclass(frozen=True, slots=True)
class Chart:
    """`bars` or `lines` between two axes; `head` and `rows` are its numbers as a table."""

    id: str
    title: str
    said: str
    x_ticks: Sequence[AxisTick]
    y_ticks: Sequence[AxisTick]
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    lines: Sequence[Line] = ()
    bars: Sequence[Mark] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """One value of a series with its interval; `at` counts along the axis."""

    at: int
    value: float
    low: float
    high: float
    said: str


def line(name: str, points: Sequence[Point], *, places: int) -> Line:
    """Values from 0 to 1, at some of so many places."""
    corners = [(_across(point.at, places), point) for point in points]
    upper = [f"{x:.1f} {_up(point.high):.1f}" for x, point in corners]
    lower = [f"{x:.1f} {_up(point.low):.1f}" for x, point in reversed(corners)]
    return Line(
        name=name,
        path="M" + "L".join(f"{x:.1f} {_up(point.value):.1f}" for x, point in corners),
        band=f"M{'L'.join([*upper, *lower])}z" if len(points) > 1 else "",
        points=[Mark(round(x, 1), round(_up(point.value), 1), 0, 0, point.said) for x, point in corners],
    )


def shares() -> list[AxisTick]:
    """The axis of values from 0 to 1."""
    return [AxisTick(round(_up(value), 1), f"{value:g}") for value in (0, 0.25, 0.5, 0.75, 1)]


def bars(values: Sequence[tuple[float, str]]) -> list[Mark]:
    """Side by side, the highest as high as the chart."""
    most = max((value for value, _ in values), default=0.0) or 1.0
    step = _PLOT_WIDTH / max(len(values), 1)
    width = min(step * 0.75, _WIDEST_BAR)
    return [
        Mark(
            x=round(_LEFT + step * (at + 0.5) - width / 2, 1),
            y=round(_up(value / most), 1),
            width=round(width, 1),
            height=round(value / most * _PLOT_HEIGHT, 1),
            said=said,
        )
        for at, (value, said) in enumerate(values)
    ]


def labels(names: Sequence[str], *, are_bars: bool) -> list[AxisTick]:
    """As many names of places as have room side by side, the last among them."""
    step = -(-len(names) // _MOST_LABELS)
    shown = [at for at in range(len(names)) if (len(names) - 1 - at) % step == 0]
    if are_bars:
        return [AxisTick(round(_LEFT + _PLOT_WIDTH / len(names) * (at + 0.5), 1), names[at]) for at in shown]
    return [AxisTick(round(_across(at, len(names)), 1), names[at]) for at in shown]


def amounts(most: float, said: Sequence[str]) -> list[AxisTick]:
    """The axis of values from 0 to the highest, which is said with its half."""
    return [AxisTick(round(_up(share), 1), text) for share, text in zip((0, 0.5, 1), said, strict=True)] if most else []


def _across(at: int, places: int) -> float:
    """Where a place stands: from left to right; a single one in the middle."""
    return _LEFT + (_PLOT_WIDTH * at / (places - 1) if places > 1 else _PLOT_WIDTH / 2)


def _up(share: float) -> float:
    return _TOP + _PLOT_HEIGHT * (1 - share)
