"""When, why, in which run and at which commit each text was written: append-only.

Provenance is kept out of the documents, so that the same content always gives
the same rows. A row is appended when a text changes, comes or goes. Removals
come first and children before parents, so that a cause always has a smaller
sequence number than its effect.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.model.documents import LEVELS, HistoryEvent, HistoryRow, Level, TextRow
from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.model.ids import ROOT_MODULE, SEPARATOR
from codesum_pipeline.store.rows import from_table, to_table
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Changes:
    """How many texts changed or came, and how many went."""

    written: int
    removed: int


def append_history(workspace: Workspace) -> Changes:
    """Bring `document_history` up to the texts that stand now."""
    tables, key = workspace.tables, workspace.key
    history = tables.read_or_empty("document_history", key)
    latest = _latest(history)
    texts = {level: _text_hashes(workspace, level) for level in LEVELS}
    present = {id_ for found in texts.values() for id_ in found}
    changed = {
        level: [id_ for id_, text_hash in found.items() if latest.get(id_) != text_hash]
        for level, found in texts.items()
    }
    gone = [id_ for id_, text_hash in latest.items() if text_hash is not None and id_ not in present]
    if gone or any(changed.values()):
        added = _rows_of_change(workspace, history, gone, changed)
        tables.write("document_history", key, pa.concat_tables([history, to_table(added, HistoryRow)]))
    elif history.num_rows == 0:
        tables.write("document_history", key, history)
    return Changes(written=sum(map(len, changed.values())), removed=len(gone))


def _latest(history: pa.Table) -> dict[str, str | None]:
    """The hash of each document's last text, None where it was removed; rows are sorted by their sequence."""
    ids, events, hashes = (history.column(name).to_pylist() for name in ("id", "event", "text_hash"))
    return {
        id_: text_hash if event == HistoryEvent.WRITTEN else None
        for id_, event, text_hash in zip(ids, events, hashes, strict=True)
    }


def _text_hashes(workspace: Workspace, level: Level) -> dict[str, str]:
    names = ["id", "text_hash"]
    table = workspace.tables.read(texts_table(level), workspace.key, columns=names)
    return dict(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def _rows_of_change(
    workspace: Workspace, history: pa.Table, gone: Sequence[str], changed: Mapping[Level, Sequence[str]]
) -> list[HistoryRow]:
    """Removals, then what was written, numbered after the rows of `history`."""
    (snapshot,) = workspace.tables.read_rows("snapshot", workspace.key, Snapshot)
    now = workspace.timestamp()
    last = {row.id: row for row in from_table(_with_ids(history, gone), HistoryRow)}
    rows = [_removal(last[id_], workspace.run_id, snapshot.commit, now) for id_ in sorted(gone)]
    written = [
        row
        for level, ids in changed.items()
        if ids
        for row in from_table(_with_ids(workspace.tables.read(texts_table(level), workspace.key), ids), TextRow)
    ]
    rows += [_written(row) for row in sorted(written, key=_children_first)]
    first = (pc.max(history.column("sequence")).as_py() or 0) + 1
    return [replace(row, sequence=number) for number, row in enumerate(rows, start=first)]


def _with_ids(table: pa.Table, ids: Sequence[str]) -> pa.Table:
    return table.filter(pc.is_in(table.column("id"), value_set=pa.array(ids, pa.string())))


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
        cost_usd=row.cost_usd,
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
