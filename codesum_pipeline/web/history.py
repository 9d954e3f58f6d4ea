"""The history of a document's text: when it was written, why, by whom, and what it cost."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from codesum_pipeline.model.documents import HistoryEvent, WrittenBy
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.tables import TableStore

_COLUMNS = ["sequence", "id", "event", "cause", "cause_ids", "written_by", "commit", "written_at", "cost_usd"]
_MOST, _MOST_CAUSES = 20, 3
_SHORT, _DAY = 10, len("2026-01-31")
_WRITERS = {WrittenBy.LLM: "a model", WrittenBy.EXTRACTIVE: "the code", WrittenBy.PLACEHOLDER: "a template"}


@dataclass(frozen=True, slots=True)
class TextChange:
    """One row: what became of the text, why, and the documents that were the cause."""

    day: str
    commit: str
    what: str
    why: str
    causes: Sequence[str]
    more_causes: int
    written_from: str
    usd: float


@dataclass(frozen=True, slots=True)
class TextHistory:
    """The newest changes, how many came before them, and what all cost together."""

    changes: Sequence[TextChange]
    earlier: int
    usd: float


def history_of(layout: HomeLayout, repo: str, id_: str) -> TextHistory:
    """Empty for what no build has written yet."""
    parts = TableStore(layout.warehouse).read_parts("document_history", repo, columns=_COLUMNS, having=("id", id_))
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
