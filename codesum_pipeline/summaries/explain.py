"""Why a document reads as it does: the chain of causes of its last rewrite."""

import difflib

from msgspec import Struct

from codesum_pipeline.model.documents import HistoryEvent, HistoryRow
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.store.workspace import Workspace

# A chain is as long as the levels are deep; a wide one is cut for the reader.
MAX_CAUSES_SHOWN = 10


class ExplainStep(Struct, frozen=True):
    """One rewrite of the chain; `depth` 0 is that of the document in question. `more_causes` counts those left out."""

    depth: int
    row: HistoryRow
    more_causes: int


def explain(workspace: Workspace, doc_id: str) -> tuple[ExplainStep, ...]:
    """The last rewrite of a document's text and, below it, what caused it; depth first.

    A rewrite to the same words is followed by the rewrite that first gave these words.
    """
    history = workspace.tables.read_rows("document_history", workspace.key, HistoryRow)
    rows: dict[str, list[HistoryRow]] = {}
    about_documents = (row for row in history if row.event is not HistoryEvent.COMPACTED)
    for row in sorted(about_documents, key=lambda row: row.sequence):
        rows.setdefault(row.id, []).append(row)
    if doc_id not in rows:
        near = difflib.get_close_matches(doc_id, rows, n=3, cutoff=0.5)
        hint = f"; near: {', '.join(near)}" if near else ""
        raise ConfigurationError(f"repository {workspace.key!r} has no document {doc_id!r}{hint}")
    steps: list[ExplainStep] = []
    _descend(rows, rows[doc_id][-1], 0, steps)
    return tuple(steps)


def _descend(rows: dict[str, list[HistoryRow]], row: HistoryRow, depth: int, steps: list[ExplainStep]) -> None:
    causes = [id_ for id_ in row.cause_ids if id_ != row.id]
    steps.append(ExplainStep(depth, row, max(0, len(causes) - MAX_CAUSES_SHOWN)))
    is_looked_at = row.event is HistoryEvent.SAME_TEXT
    for id_ in causes[:MAX_CAUSES_SHOWN]:
        earlier = [
            found
            for found in rows.get(id_, ())
            if found.sequence < row.sequence and (is_looked_at or found.event is not HistoryEvent.SAME_TEXT)
        ]
        if earlier:
            _descend(rows, earlier[-1], depth + 1, steps)
    if is_looked_at:
        written = [found for found in rows[row.id] if found.event is HistoryEvent.WRITTEN]
        # The rows of a removed document may have been compacted.
        if written:
            _descend(rows, written[-1], depth + 1, steps)
