"""Charts of a repository's evaluations and costs as SVG, and the history of a document's text.

Each chart has a table with the same numbers. Charts have no styles of their own: colours come from the page's classes,
light and dark.
"""

import math
from collections.abc import Sequence
from typing import Any

import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import LEVELS, HistoryEvent, WrittenBy
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.tables import tables_of
from codesum_pipeline.search.evaluation.evaluate import ALL, CODE_ONLY, NDCG
from codesum_pipeline.search.evaluation.records import EVERY_CATEGORY
from codesum_pipeline.texts.llm.ledger_readings import Totals, add_up_calls_by, every_attempt
from codesum_pipeline.ways_in.web.rendering import format_usd

WIDTH, HEIGHT = 560, 180
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 36, 10, 24
_PLOT_WIDTH, _PLOT_HEIGHT = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
_MOST_LABELS = 4
# A bar is never as wide as the chart.
_WIDEST_BAR = 36


class Mark(Struct, frozen=True):
    """A point or bar with its label."""

    x: float
    y: float
    width: float
    height: float
    label: str


class AxisTick(Struct, frozen=True):
    """A place on an axis."""

    at: float
    label: str


class Line(Struct, frozen=True):
    """A named series: its points, the line through them, and the band of its intervals."""

    name: str
    path: str
    band: str
    points: Sequence[Mark]


class Chart(Struct, frozen=True):
    """`bars` or `lines` between two axes; `head` and `rows` are its numbers as a table."""

    id: str
    title: str
    description: str
    x_ticks: Sequence[AxisTick]
    y_ticks: Sequence[AxisTick]
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    lines: Sequence[Line] = ()
    bars: Sequence[Mark] = ()


def choose_labels(names: Sequence[str], *, are_bars: bool) -> list[AxisTick]:
    """The labels of some places, as many as fit, the last among them."""
    step = -(-len(names) // _MOST_LABELS)
    shown = [at for at in range(len(names)) if (len(names) - 1 - at) % step == 0]
    width = _PLOT_WIDTH / len(names)
    return [
        AxisTick(round(_LEFT + width * (at + 0.5) if are_bars else _across(at, len(names)), 1), names[at])
        for at in shown
    ]


def _across(at: int, places: int) -> float:
    """The coordinate of a place, from left to right; a single place is in the middle."""
    return _LEFT + (_PLOT_WIDTH * at / (places - 1) if places > 1 else _PLOT_WIDTH / 2)


def _up(share: float) -> float:
    return _TOP + _PLOT_HEIGHT * (1 - share)


# A screen shows no more apart.
_MOST_EVALUATIONS, _MOST_DAYS = 60, 60
_COLUMNS = ["sequence", "evaluated_at", "commit", "setup", "category", "metric", "questions", "mean", "low", "high"]
_SETUPS = (ALL.name, CODE_ONLY.name)
_SHORT, _DAY = 10, len("2026-01-31")


def evaluation_chart(layout: HomeLayout, repo: str) -> Chart | None:
    """The scores of the repository's own questions, evaluation after evaluation; None without evaluations."""
    table = tables_of(layout).read_or_empty("evaluations", repo, columns=_COLUMNS)
    is_headline = pc.and_(pc.equal(table["metric"], NDCG), pc.equal(table["category"], EVERY_CATEGORY))
    rows = table.filter(pc.and_(is_headline, pc.greater(table["questions"], 0))).to_pylist()
    rows = [row for row in rows if row["setup"] in _SETUPS]
    sequences = sorted({row["sequence"] for row in rows})[-_MOST_EVALUATIONS:]
    if not sequences:
        return None
    place = {sequence: at for at, sequence in enumerate(sequences)}
    shown = [row for row in rows if row["sequence"] in place]
    lines = [_line(setup, [row for row in shown if row["setup"] == setup], place) for setup in _SETUPS]
    days = {row["sequence"]: str(row["evaluated_at"])[:_DAY] for row in shown}
    return Chart(
        id="evaluations",
        title="How well its own questions are answered",
        description="nDCG@10 of each evaluation, from 0 to 1, with 95 % intervals: of all lanes, and of code alone.",
        x_ticks=choose_labels([days[sequence] for sequence in sequences], are_bars=False),
        y_ticks=[AxisTick(round(_up(value), 1), f"{value:g}") for value in (0, 0.25, 0.5, 0.75, 1)],
        head=("evaluated", "commit", "by", "questions", "nDCG@10", "95 % interval"),
        rows=[
            (
                days[row["sequence"]],
                row["commit"][:_SHORT],
                row["setup"],
                f"{row['questions']:,}",
                f"{row['mean']:.3f}",
                f"{row['low']:.3f} to {row['high']:.3f}",
            )
            for row in sorted(shown, key=lambda row: (-row["sequence"], row["setup"]))
        ],
        lines=[each for each in lines if each.points],
    )


def cost_charts(layout: HomeLayout, repo: str) -> list[Chart]:
    """The costs of models' calls for its texts, by day and by level; none if no model was called."""
    rows = every_attempt(tables_of(layout), layout.state(repo), repo)
    by_day = add_up_calls_by((row.started_at[:_DAY], row) for row in rows)
    found = add_up_calls_by((row.level, row) for row in rows)
    by_level: dict[str, Totals] = {level.value: found[level.value] for level in LEVELS if level.value in found}
    days = dict(list(by_day.items())[-_MOST_DAYS:])
    return [
        _cost_chart("cost-days", "What its texts cost by day", "day", days),
        _cost_chart("cost-levels", "What its texts cost by level", "level", by_level),
    ] if rows else []  # fmt: skip


def _line(setup: str, rows: Sequence[dict[str, Any]], place: dict[int, int]) -> Line:
    """A series of values from 0 to 1 with their intervals."""
    corners = [(_across(place[row["sequence"]], len(place)), row) for row in rows]
    upper = [f"{x:.1f} {_up(row['high']):.1f}" for x, row in corners]
    lower = [f"{x:.1f} {_up(row['low']):.1f}" for x, row in reversed(corners)]
    points = []
    for x, row in corners:
        label = f"{setup}, {row['commit'][:_SHORT]}: {row['mean']:.3f} ({row['low']:.3f} to {row['high']:.3f})"
        points.append(Mark(round(x, 1), round(_up(row["mean"]), 1), 0, 0, label))
    return Line(
        name=setup,
        path="M" + "L".join(f"{x:.1f} {_up(row['mean']):.1f}" for x, row in corners),
        band=f"M{'L'.join([*upper, *lower])}z" if len(points) > 1 else "",
        points=points,
    )


def _cost_chart(id_: str, title: str, what: str, totals: dict[str, Totals]) -> Chart:
    costs = [found.cost_usd for found in totals.values()]
    most, step = max(costs), _PLOT_WIDTH / max(len(totals), 1)
    width = min(step * 0.75, _WIDEST_BAR)
    bars, rows = [], []
    for at, (name, each) in enumerate(totals.items()):
        # The highest bar is as high as the chart.
        share = each.cost_usd / (most or 1.0)
        bars.append(
            Mark(
                x=round(_LEFT + step * (at + 0.5) - width / 2, 1),
                y=round(_up(share), 1),
                width=round(width, 1),
                height=round(share * _PLOT_HEIGHT, 1),
                label=f"{name}: {format_usd(each.cost_usd)}",
            )
        )
        numbers = (each.texts, each.calls, each.prompt_tokens, each.completion_tokens)
        rows.append((name, *(f"{number:,}" for number in numbers), format_usd(each.cost_usd)))
    return Chart(
        id=id_,
        title=title,
        description=f"US dollars by {what}; {format_usd(sum(costs))} in all.",
        x_ticks=choose_labels(list(totals), are_bars=True),
        y_ticks=[AxisTick(round(_up(share), 1), format_usd(most * share)) for share in (0, 0.5, 1)] if most else [],
        head=(what, "texts", "calls", "tokens read", "written", "US dollars"),
        rows=rows,
        bars=bars,
    )


_HISTORY_COLUMNS = ["sequence", "id", "event", "cause", "cause_ids", "written_by", "commit", "written_at", "cost_usd"]
_MOST, _MOST_CAUSES = 20, 3
_WRITERS = {WrittenBy.LLM: "a model", WrittenBy.EXTRACTIVE: "the code", WrittenBy.PLACEHOLDER: "a template"}


class TextChange(Struct, frozen=True):
    """One row of the history: the event, its cause, and the documents that were the cause."""

    day: str
    commit: str
    what: str
    why: str
    causes: Sequence[str]
    more_causes: int
    written_from: str
    usd: float


class TextHistory(Struct, frozen=True):
    """The newest changes, the number of earlier ones, and the cost of all."""

    changes: Sequence[TextChange]
    earlier: int
    usd: float


def history_of(layout: HomeLayout, repo: str, id_: str) -> TextHistory:
    """The history of a document's text; empty before the first build."""
    parts = tables_of(layout).read_parts("document_history", repo, columns=_HISTORY_COLUMNS, having=("id", id_))
    rows = sorted((row for part in parts for row in part.to_pylist()), key=lambda row: -row["sequence"])
    return TextHistory(
        changes=[_change(row) for row in rows[:_MOST]],
        earlier=max(0, len(rows) - _MOST),
        usd=math.fsum(row["cost_usd"] for row in rows),
    )


def _change(row: dict[str, Any]) -> TextChange:
    causes = [id_ for id_ in row["cause_ids"] if id_ != row["id"]]
    is_written = row["event"] == HistoryEvent.WRITTEN
    return TextChange(
        day=str(row["written_at"])[:_DAY],
        commit=row["commit"][:_SHORT],
        what=row["event"],
        why=row["cause"] or "",
        causes=causes[:_MOST_CAUSES],
        more_causes=max(0, len(causes) - _MOST_CAUSES),
        written_from=_WRITERS[WrittenBy(row["written_by"])] if is_written else "",
        usd=row["cost_usd"],
    )
