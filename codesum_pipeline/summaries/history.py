"""When, why, in which run and at which commit each text was written: append-only.

Provenance is kept out of the documents, so that the same content always gives
the same rows. A row is appended when a text changes, comes or goes. Removals
come first and children before parents, so that a cause always has a smaller
sequence number than its effect.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from codesum_pipeline.model.documents import LEVELS, HistoryEvent, HistoryRow, TextRow
from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.model.ids import ROOT_MODULE, SEPARATOR
from codesum_pipeline.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Changes:
    """How many texts changed or came, and how many went."""

    written: int
    removed: int


def append_history(workspace: Workspace, texts: Mapping[str, TextRow]) -> Changes:
    """Bring `document_history` up to the texts that stand now."""
    history = workspace.tables.read_rows_or_empty("document_history", workspace.key, HistoryRow)
    latest = latest_rows(history)
    gone = [row for row in latest.values() if row.event is HistoryEvent.WRITTEN and row.id not in texts]
    changed = [row for row in texts.values() if not _stands(latest.get(row.id), row)]
    if not gone and not changed:
        if not history:
            workspace.tables.write_rows("document_history", workspace.key, [], HistoryRow)
        return Changes(0, 0)
    (snapshot,) = workspace.tables.read_rows("snapshot", workspace.key, Snapshot)
    next_number = max((row.sequence for row in history), default=0) + 1
    now = workspace.timestamp()
    added = [_removal(row, workspace.run_id, snapshot.commit, now) for row in sorted(gone, key=lambda row: row.id)]
    added += [_written(row) for row in sorted(changed, key=_children_first)]
    numbered = [replace(row, sequence=number) for number, row in enumerate(added, start=next_number)]
    workspace.tables.write_rows("document_history", workspace.key, [*history, *numbered], HistoryRow)
    return Changes(written=len(changed), removed=len(gone))


def latest_rows(history: list[HistoryRow]) -> dict[str, HistoryRow]:
    """The last row of each document."""
    return {row.id: row for row in sorted(history, key=lambda row: row.sequence)}


def _stands(last: HistoryRow | None, row: TextRow) -> bool:
    return last is not None and last.event is HistoryEvent.WRITTEN and last.text_hash == row.text_hash


def _children_first(row: TextRow) -> tuple[int, int, int, str]:
    depth = 0 if row.id == ROOT_MODULE else row.id.count("/") + 1
    return (LEVELS.index(row.level), -row.id.count(SEPARATOR), -depth, row.id)


def _written(row: TextRow) -> HistoryRow:
    return HistoryRow(
        sequence=0,
        id=row.id,
        level=row.level,
        event=HistoryEvent.WRITTEN,
        cause=row.cause,
        cause_ids=row.cause_ids,
        writer=row.writer,
        written_by=row.written_by,
        summary_hash=row.summary_hash,
        text_hash=row.text_hash,
        run_id=row.run_id,
        commit=row.commit,
        written_at=row.written_at,
        cost_usd=0.0,
    )


def _removal(last: HistoryRow, run_id: str, commit: str, now: str) -> HistoryRow:
    return replace(
        last,
        event=HistoryEvent.REMOVED,
        cause=None,
        cause_ids=(),
        run_id=run_id,
        commit=commit,
        written_at=now,
        cost_usd=0.0,
    )
