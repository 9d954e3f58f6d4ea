"""Tables of a repository's evaluations and costs, and the history of a document's text."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import LEVELS, HistoryEvent, WrittenBy
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.tables import tables_of
from codesum_pipeline.search.evaluation.evaluate import ALL, CODE_ONLY, NDCG
from codesum_pipeline.search.evaluation.records import EVERY_CATEGORY
from codesum_pipeline.texts.llm.ledger_readings import every_attempt
from codesum_pipeline.texts.llm.totals import Totals, add_up_calls_by
from codesum_pipeline.ways_in.web.rendering import format_usd

# The newest are enough for a page.
_MOST_EVALUATIONS, _MOST_DAYS = 60, 60
_COLUMNS = ["sequence", "evaluated_at", "commit", "setup", "category", "metric", "questions", "mean", "low", "high"]
_SETUPS = (ALL.name, CODE_ONLY.name)
_SHORT, _DAY = 10, len("2026-01-31")


class NumberTable(Struct, frozen=True):
    """Numbers of a repository in rows below a `head`."""

    title: str
    description: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def evaluation_table(layout: HomeLayout, repo: str) -> NumberTable | None:
    """The scores of the repository's own questions, newest first; None without evaluations."""
    table = tables_of(layout).read_or_empty("evaluations", repo, columns=_COLUMNS)
    is_headline = pc.and_(pc.equal(table["metric"], NDCG), pc.equal(table["category"], EVERY_CATEGORY))
    rows = table.filter(pc.and_(is_headline, pc.greater(table["questions"], 0))).to_pylist()
    rows = [row for row in rows if row["setup"] in _SETUPS]
    newest = sorted({row["sequence"] for row in rows})[-_MOST_EVALUATIONS:]
    shown = sorted((row for row in rows if row["sequence"] in newest), key=lambda row: (-row["sequence"], row["setup"]))
    return NumberTable(
        title="How well its own questions are answered",
        description="nDCG@10 of each evaluation, from 0 to 1, with 95 % intervals: of all lanes, and of code alone.",
        head=("evaluated", "commit", "by", "questions", "nDCG@10", "95 % interval"),
        rows=[
            (
                str(row["evaluated_at"])[:_DAY],
                row["commit"][:_SHORT],
                row["setup"],
                f"{row['questions']:,}",
                f"{row['mean']:.3f}",
                f"{row['low']:.3f} to {row['high']:.3f}",
            )
            for row in shown
        ],
    ) if shown else None  # fmt: skip


def cost_tables(layout: HomeLayout, repo: str) -> list[NumberTable]:
    """The costs of models' calls for its texts, by day and by level; none if no model was called."""
    rows = every_attempt(tables_of(layout), layout.state(repo), repo)
    by_day = add_up_calls_by((row.started_at[:_DAY], row) for row in rows)
    found = add_up_calls_by((row.level, row) for row in rows)
    by_level: dict[str, Totals] = {level.value: found[level.value] for level in LEVELS if level.value in found}
    days = dict(list(by_day.items())[-_MOST_DAYS:])
    return [_cost_table("day", days), _cost_table("level", by_level)] if rows else []


def _cost_table(what: str, totals: Mapping[str, Totals]) -> NumberTable:
    costs = (found.cost_usd for found in totals.values())
    rows = []
    for name, each in totals.items():
        numbers = (each.texts, each.calls, each.prompt_tokens, each.completion_tokens)
        rows.append((name, *(f"{number:,}" for number in numbers), format_usd(each.cost_usd)))
    return NumberTable(
        title=f"What its texts cost by {what}",
        description=f"US dollars by {what}; {format_usd(sum(costs))} in all.",
        head=(what, "texts", "calls", "tokens read", "written", "US dollars"),
        rows=rows,
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
