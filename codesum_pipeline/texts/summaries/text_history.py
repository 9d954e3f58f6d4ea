"""When, why, in which run and at which commit each text was written: append-only, but for compactions.

Provenance is kept out of the documents, so that the same content always gives
the same rows. A row is appended when a text changes, comes or goes, and when it was
written again and reads as it did: the plan says why. Removals come first and
children before parents, so that a cause always has a smaller sequence number
than its effect. So one text's cause can be followed to its beginning.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import LEVELS, Cause, HistoryEvent, HistoryRow, Level, TextRow
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.file import Snapshot
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE, SEPARATOR
from codesum_pipeline.foundation.data_model.nearest_names import nearest_names
from codesum_pipeline.foundation.store.rows import (
    column_names,
    from_table,
    make_nulls,
    rows_with,
    schema_of,
    to_table,
    tuples_of,
)
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.foundation.store.table_parts import paths_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.summaries.text_changes import is_in_files

_HASHES = ("text_hash", "summary_hash")
# Columns that the tables of texts do not have.
_NOT_OF_TEXTS = ("sequence", "event", "compaction")


def append_history(workspace: Workspace, paths: Collection[str] | None = None) -> tuple[int, int]:
    """Append what changed since the last rows of `document_history`: in all files and folders, or in some. How many
    texts changed or came, and how many went."""
    tables, key = workspace.tables, workspace.key
    numbers = tables.read_or_empty("document_history", key, columns=["sequence", "id"])
    paths, columns = paths if len(numbers) else None, ["id", "event", *_HASHES]
    if paths is None:
        history = tables.read_or_empty("document_history", key, columns=columns)
    else:
        rows = pc.indices_nonzero(is_in_files(numbers.column("id"), paths)).to_numpy().astype(np.int64)
        history = tables.read_at("document_history", key, rows, columns=columns)
    latest = _latest_rows(history)
    changed: dict[Level, list[str]] = {}
    again: list[str] = []
    stay = np.zeros(len(latest), dtype=np.bool_)
    for level in LEVELS:
        texts = tables.read_files(texts_table(level), key, paths, columns=["id", *_HASHES])
        rows = pc.index_in(texts.column("id"), value_set=latest.column("id"))
        stay[rows.drop_null().to_numpy()] = True
        before = latest.take(rows)
        is_other, is_from_other = (
            pc.fill_null(pc.not_equal(texts.column(name), before.column(name)), True) for name in _HASHES
        )
        changed[level] = texts.column("id").filter(is_other).to_pylist()
        again += texts.column("id").filter(pc.and_not(is_from_other, is_other)).to_pylist()
    same = _planned_causes(workspace, again)
    gone = latest.filter(pc.and_not(pc.is_valid(latest.column("text_hash")), pa.array(stay))).column("id").to_pylist()
    if gone or same or any(changed.values()):
        last_number = pc.max(numbers.column("sequence")).as_py() or 0
        tables.append("document_history", key, _rows_of_change(workspace, last_number, gone, changed, same))
    elif numbers.num_rows == 0:
        tables.write_rows("document_history", key, [], HistoryRow)
    return sum(map(len, changed.values())), len(gone)


def _latest_rows(history: pa.Table) -> pa.Table:
    """Id and hashes of the last row of each document; a removed one has no text."""
    rows = without_compactions(history).select(["id", "event", *_HASHES]).combine_chunks()
    # They are sorted by their sequence, and in a value set the first of equal ids counts.
    newest_first = rows.take(pa.array(range(rows.num_rows - 1, -1, -1), pa.int64()))
    firsts = pc.index_in(pc.unique(newest_first.column("id")), value_set=newest_first.column("id"))
    latest = newest_first.take(firsts)
    is_removed = pc.equal(latest.column("event"), HistoryEvent.REMOVED.value)
    hashes = pc.if_else(is_removed, pa.scalar(None, pa.string()), latest.column("text_hash"))
    return pa.table([latest.column("id"), hashes, latest.column("summary_hash")], names=["id", *_HASHES])


def without_compactions(history: pa.Table) -> pa.Table:
    """The rows about documents."""
    return history.filter(pc.not_equal(history.column("event"), HistoryEvent.COMPACTED.value))


def _planned_causes(workspace: Workspace, ids: Collection[str]) -> dict[str, tuple[Cause, tuple[str, ...]]]:
    """Why documents were to be written; those that the plan has no cause for are left out."""
    if not ids:
        return {}
    names = ["id", "cause", "cause_ids"]
    plan = rows_with(workspace.tables.read("plan", workspace.key, columns=names), ids)
    return {id_: (Cause(cause), tuple(cause_ids)) for id_, cause, cause_ids in tuples_of(plan, names) if cause}


def _rows_of_change(
    workspace: Workspace,
    last_number: int,
    gone: Sequence[str],
    changed: Mapping[Level, Sequence[str]],
    same: Mapping[str, tuple[Cause, tuple[str, ...]]],
) -> pa.Table:
    """Removals, then what was written, then what was written again to the same words, numbered after `last_number`."""
    (snapshot,) = workspace.tables.read_rows("snapshot", workspace.key, Snapshot)
    now = workspace.timestamp()
    last: dict[str, HistoryRow] = {}
    if gone:
        history = workspace.tables.read("document_history", workspace.key)
        last = {row.id: row for row in from_table(rows_with(history, gone), HistoryRow)}

    def noted(row: HistoryRow, event: HistoryEvent, cause: Cause | None, ids: tuple[str, ...]) -> HistoryRow:
        return replace(
            row,
            event=event,
            cause=cause,
            cause_ids=ids,
            run_id=workspace.run_id,
            commit=snapshot.commit,
            written_at=now,
            cost_usd=0.0,
        )

    removals = [noted(last[id_], HistoryEvent.REMOVED, None, ()) for id_ in sorted(gone)]
    same_texts = from_table(_written(workspace, {level: list(same) for level in LEVELS} if same else {}), HistoryRow)
    again = [noted(row, HistoryEvent.SAME_TEXT, *same[row.id]) for row in same_texts]
    rows = pa.concat_tables([to_table(removals, HistoryRow), _written(workspace, changed), to_table(again, HistoryRow)])
    numbers = pa.array(range(last_number + 1, last_number + 1 + rows.num_rows), pa.int64())
    return rows.set_column(0, schema_of(HistoryRow).field("sequence"), numbers)


def _written(workspace: Workspace, changed: Mapping[Level, Sequence[str]]) -> pa.Table:
    """The texts that changed, children first, not numbered yet."""
    names = [name for name in column_names(HistoryRow) if name not in _NOT_OF_TEXTS]
    tables = [schema_of(TextRow).empty_table().select(names)]
    for level, ids in changed.items():
        if ids:
            paths = {*paths_of(pa.array(ids, pa.string())).to_pylist()}
            texts = workspace.tables.read_files(texts_table(level), workspace.key, paths, columns=names)
            some = rows_with(texts, ids).combine_chunks()
            places = [_children_first(id_) for id_ in some.column("id").to_pylist()]
            order = sorted(range(len(places)), key=places.__getitem__)
            tables.append(some.take(pa.array(order, pa.int64())))
    rows = pa.concat_tables(tables)
    others = {
        "sequence": pa.repeat(pa.scalar(0, pa.int64()), rows.num_rows),
        "event": pa.repeat(pa.scalar(HistoryEvent.WRITTEN.value), rows.num_rows),
        "compaction": make_nulls(rows.num_rows, schema_of(HistoryRow).field("compaction").type),
    }
    columns = [others[name] if name in others else rows.column(name) for name in column_names(HistoryRow)]
    return pa.Table.from_arrays(columns, schema=schema_of(HistoryRow))


def _children_first(id_: str) -> tuple[int, int, str]:
    depth = 0 if id_ == ROOT_MODULE else id_.count("/") + 1
    return -id_.count(SEPARATOR), -depth, id_


# A chain is as long as the levels are deep; a wide one is cut for the reader.
MAX_CAUSES_SHOWN = 5


class ExplainStep(Struct, frozen=True):
    """One rewrite of the chain; `depth` 0 is that of the document in question. `more_causes` counts those left out.

    With `is_edge`, the row's id is no rewrite but a neighbour in the graph that made the context another one; with
    `is_unwritten`, it is a cause whose own text was not written. Of both, commit and run are those that brought them.
    """

    depth: int
    row: HistoryRow
    more_causes: int
    is_edge: bool = False
    is_unwritten: bool = False


def explain_text(workspace: Workspace, doc_id: str) -> tuple[ExplainStep, ...]:
    """The last rewrite of a document's text and, below it, what caused it; depth first.

    A rewrite to the same words is followed by the rewrite that first gave these words.
    """
    history = workspace.tables.read_rows("document_history", workspace.key, HistoryRow)
    rows: dict[str, list[HistoryRow]] = {}
    about_documents = (row for row in history if row.event is not HistoryEvent.COMPACTED)
    for row in sorted(about_documents, key=lambda row: row.sequence):
        rows.setdefault(row.id, []).append(row)
    if doc_id not in rows:
        near = nearest_names(doc_id, [*rows], most=3, least_likeness=0.5)
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
        named = replace(row, id=id_, level=_level_of(rows, id_, row), cause=None, cause_ids=(), cost_usd=0.0)
        if row.cause is Cause.GRAPH:
            # A neighbour's text may be as old as the index: it is the edge to it that is new.
            steps.append(ExplainStep(depth + 1, named, 0, is_edge=True))
            continue
        earlier = [
            other
            for other in rows.get(id_, ())
            if other.sequence < row.sequence and (is_looked_at or other.event is not HistoryEvent.SAME_TEXT)
        ]
        if earlier:
            _descend(rows, earlier[-1], depth + 1, steps)
        else:
            steps.append(ExplainStep(depth + 1, named, 0, is_unwritten=True))
    if is_looked_at:
        written = [other for other in rows[row.id] if other.event is HistoryEvent.WRITTEN]
        # The rows of a removed document may have been compacted.
        if written:
            _descend(rows, written[-1], depth + 1, steps)


def _level_of(rows: Mapping[str, Sequence[HistoryRow]], id_: str, otherwise: HistoryRow) -> Level:
    known = rows.get(id_)
    return known[-1].level if known else otherwise.level
