"""What a repository's evaluations found and what its texts cost, as charts."""

from collections.abc import Sequence
from typing import Any

from codesum_pipeline.evaluation.evaluate import ALL, CODE_ONLY, NDCG
from codesum_pipeline.evaluation.records import EVERY_CATEGORY
from codesum_pipeline.llm.ledger import every_attempt
from codesum_pipeline.llm.totals import Totals, total_by
from codesum_pipeline.model.documents import LEVELS
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.web.charts import Chart, Line, Point, amounts, bars, labels, line, shares
from codesum_pipeline.web.rendering import usd

# As many as are told apart on a screen; the table behind has all that are drawn.
_MOST_EVALUATIONS, _MOST_DAYS = 60, 60
_COLUMNS = ["sequence", "evaluated_at", "commit", "setup", "category", "metric", "questions", "mean", "low", "high"]
_SETUPS = (ALL.name, CODE_ONLY.name)
_SHORT, _DAY = 10, len("2026-01-31")


def evaluation_chart(layout: HomeLayout, repo: str) -> Chart | None:
    """How well the repository's own questions were answered, evaluation after evaluation; None without one."""
    rows = _evaluations(layout, repo)
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
        said="nDCG@10 of each evaluation, from 0 to 1, with 95 % intervals: of all lanes, and of code alone.",
        x_ticks=labels([days[sequence] for sequence in sequences], are_bars=False),
        y_ticks=shares(),
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
    """What calls of models for its texts cost, by day and by level; nothing where no model was asked."""
    rows = every_attempt(TableStore(layout.warehouse), layout.state(repo), repo)
    by_day = total_by((row.started_at[:_DAY], row) for row in rows)
    found = total_by((row.level.value, row) for row in rows)
    by_level: dict[str, Totals] = {level.value: found[level.value] for level in LEVELS if level.value in found}
    days = dict(list(by_day.items())[-_MOST_DAYS:])
    return [
        _cost_chart("cost-days", "What its texts cost by day", "day", days),
        _cost_chart("cost-levels", "What its texts cost by level", "level", by_level),
    ] if rows else []  # fmt: skip


def _evaluations(layout: HomeLayout, repo: str) -> list[dict[str, Any]]:
    import pyarrow.compute as pc

    table = TableStore(layout.warehouse).read_or_empty("evaluations", repo, columns=_COLUMNS)
    is_headline = pc.and_(pc.equal(table["metric"], NDCG), pc.equal(table["category"], EVERY_CATEGORY))
    rows: list[dict[str, Any]] = table.filter(pc.and_(is_headline, pc.greater(table["questions"], 0))).to_pylist()
    return [row for row in rows if row["setup"] in _SETUPS]


def _line(setup: str, rows: Sequence[dict[str, Any]], place: dict[int, int]) -> Line:
    points = [
        Point(
            at=place[row["sequence"]],
            value=row["mean"],
            low=row["low"],
            high=row["high"],
            said=f"{setup}, {row['commit'][:_SHORT]}: {row['mean']:.3f} ({row['low']:.3f} to {row['high']:.3f})",
        )
        for row in rows
    ]
    return line(setup, points, places=len(place))


def _cost_chart(id_: str, title: str, what: str, totals: dict[str, Totals]) -> Chart:
    most = max(found.cost_usd for found in totals.values())
    spent = sum(found.cost_usd for found in totals.values())
    return Chart(
        id=id_,
        title=title,
        said=f"US dollars by {what}; {usd(spent)} in all.",
        x_ticks=labels(list(totals), are_bars=True),
        y_ticks=amounts(most, [usd(most * share) for share in (0, 0.5, 1)]),
        head=(what, "texts", "calls", "tokens read", "written", "US dollars"),
        rows=[
            (
                name,
                *(f"{number:,}" for number in (each.texts, each.calls, each.prompt_tokens, each.completion_tokens)),
                usd(each.cost_usd),
            )
            for name, each in totals.items()
        ],
        bars=bars([(each.cost_usd, f"{name}: {usd(each.cost_usd)}") for name, each in totals.items()]),
    )
