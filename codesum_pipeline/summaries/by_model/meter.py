"""The avoided-work meter: the calls that writing every text anew would take, by the reason why they were not made.

Every document of a level counts once, with what the plan predicted for its
call. Where the plan predicted nothing, its size gives an estimate that is about
as good: most of a prompt is the same for every document.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.model.documents import Gate, Level, PlanAction, PlanRow, TextRow, WrittenBy
from codesum_pipeline.model.ledger import AttemptOutcome, AvoidanceReason, AvoidedRow, CallTotals, LedgerRow
from codesum_pipeline.store.rows import values_of
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.by_model.prices import Estimator, predicted_call
from codesum_pipeline.summaries.outline import DocumentTree


class TextOrigins(Struct):
    """The documents of a level by where their text came from: a call, the cache, the last build."""

    asked: set[str] = field(default_factory=set)
    cached: set[str] = field(default_factory=set)
    same_body: set[str] = field(default_factory=set)
    standing: set[str] = field(default_factory=set)

    def cause_of(self, planned: PlanRow, written_by: WrittenBy, gate: Gate | None) -> AvoidanceReason:
        """Why a planned document took no call; its text's writer and gate are those of the finished level."""
        is_function, id_ = planned.level is Level.FUNCTION, planned.id
        held = (
            (AvoidanceReason.PLACEHOLDER, written_by is WrittenBy.PLACEHOLDER),
            (AvoidanceReason.ASKED, id_ in self.asked),
            (AvoidanceReason.CACHE, id_ in self.cached),
            (AvoidanceReason.SAME_BODY, id_ in self.same_body),
            (AvoidanceReason.CUT_OFF, id_ in self.standing and planned.action is not PlanAction.KEEP),
            (AvoidanceReason.GATE, planned.gate is not None or gate is not None),
            (AvoidanceReason.GRAPH, is_function and planned.context_changed),
        )
        return next((cause for cause, holds in held if holds), AvoidanceReason.UNCHANGED)


def read_meter(
    workspace: Workspace, level: Level, outline: DocumentTree, estimator: Estimator, texts: pa.Table, seen: TextOrigins
) -> dict[AvoidanceReason, CallTotals]:
    """What calls for all documents of a level would take, by the reason why they took none, or `ASKED`."""
    # A store of its own: the step is no reader of this table, since no text is made from it.
    tables = TableStore(workspace.tables.root)
    planned = {row.id: row for row in tables.read_rows("plan", workspace.key, PlanRow) if row.level is level}
    shown = _shown_characters(tables, workspace.key, level)
    found: dict[AvoidanceReason, CallTotals] = {}
    for id_, written_by, gate in zip(
        *(values_of(texts, TextRow, n) for n in ("id", "written_by", "gate")), strict=True
    ):
        row = planned[id_]
        children = outline.children.get(id_, ())
        saving = (
            predicted_call(row) if row.predicted_input_tokens else estimator.of_size(shown.get(id_, 0), len(children))
        )
        cause = seen.cause_of(row, written_by, gate)
        found[cause] = found.get(cause, CallTotals()) + saving
    return dict(sorted(found.items()))


def idle(found: Mapping[AvoidanceReason, CallTotals]) -> dict[AvoidanceReason, CallTotals]:
    """The same level in a next run that finds nothing changed."""
    settled: dict[AvoidanceReason, CallTotals] = {}
    for cause, saving in found.items():
        now = cause if cause in (AvoidanceReason.PLACEHOLDER, AvoidanceReason.GATE) else AvoidanceReason.UNCHANGED
        settled[now] = settled.get(now, CallTotals()) + saving
    return settled


def note_avoided(workspace: Workspace, level: Level, found: Mapping[AvoidanceReason, CallTotals]) -> None:
    """Write a level's meter into the table `avoided`; a level that is written again in the same run replaces it."""
    before = workspace.tables.read_rows_or_empty("avoided", workspace.key, AvoidedRow)
    kept = [row for row in before if (row.run_id, row.level) != (workspace.run_id, level)]
    moment = workspace.timestamp()
    rows = [
        AvoidedRow(
            run_id=workspace.run_id,
            noted_at=moment,
            level=level,
            cause=cause,
            calls=saving.calls,
            input_tokens=saving.input_tokens,
            output_tokens=saving.output_tokens,
            usd=saving.usd,
        )
        for cause, saving in found.items()
    ]
    workspace.tables.write_rows("avoided", workspace.key, [*kept, *rows], AvoidedRow)


def _shown_characters(tables: TableStore, key: str, level: Level) -> dict[str, int]:
    """About how much of its own a document shows; of classes, folders and parsed files it is their children."""
    if level is Level.FUNCTION:
        table, id_, column = "symbols", "id", "canonical_source"
    elif level is Level.FILE:
        table, id_, column = "files", "path", "size"
    else:
        return {}
    rows = tables.read(table, key, columns=[id_, column])
    values = rows.column(column)
    lengths = pc.utf8_length(values) if level is Level.FUNCTION else values
    return dict(zip(rows.column(id_).to_pylist(), lengths.to_pylist(), strict=True))


class LevelCalls(Struct, frozen=True):
    """Sums over the attempts of a run at one level.

    `texts` were written by calls, `found` came from the cache. `pending` are documents that a later run may write.
    `predicted_usd` and `predicted_usd_with_cache` are the plan's prices of the documents that took a call, without the
    provider's prompt cache and with it; `avoided` is what the other documents would have taken, by reason.
    """

    pending: int
    gates: Mapping[Gate, int]
    avoided: Mapping[AvoidanceReason, CallTotals]
    texts: int = 0
    found: int = 0
    predicted_usd: float = 0.0
    predicted_usd_with_cache: float = 0.0
    secrets_masked: Mapping[str, int] = field(default_factory=dict)
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float = 0.0
    latency_p50_s: float = 0.0
    latency_p95_s: float = 0.0
    failures: Mapping[str, int] = field(default_factory=dict)

    def with_attempts(self, rows: Sequence[LedgerRow]) -> "LevelCalls":
        """With the sums over the attempts of one run at the level."""
        heard = [row.latency_s for row in rows if row.outcome in (AttemptOutcome.GOOD, AttemptOutcome.INVALID)] or [0.0]
        failures = Counter(row.failure or "interrupted" for row in rows if row.outcome is not AttemptOutcome.GOOD)
        return replace(
            self,
            attempts=len(rows),
            input_tokens=sum(row.prompt_tokens for row in rows),
            output_tokens=sum(row.completion_tokens for row in rows),
            cached_tokens=sum(row.cached_tokens for row in rows),
            cost_usd=sum(row.cost_usd for row in rows),
            latency_p50_s=float(np.percentile(heard, 50)),
            latency_p95_s=float(np.percentile(heard, 95)),
            failures=dict(sorted(failures.items())),
        )


def calls_of_unchanged(before: LevelCalls) -> LevelCalls:
    """The report of a run that finds the level unchanged."""
    return LevelCalls(before.pending, before.gates, idle(before.avoided))
