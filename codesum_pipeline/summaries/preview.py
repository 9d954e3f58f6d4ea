"""Plans without their builds: of a build that is not run, and of one that finds everything written.

A preview runs the steps up to the plan in a scratch folder, which reads what the home holds and writes nothing there:
the mirror is borrowed through git alternates, the tables are read through.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.graph.build import build_call_graph
from codesum_pipeline.model.documents import Level, PlanAction, PlanRow
from codesum_pipeline.model.ledger import CallTotals
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.parsing.symbols import ParseReport, parse_symbols
from codesum_pipeline.scip.taking import lend_indexes, snapshot_with_indexes
from codesum_pipeline.source.mirror import make_scratch
from codesum_pipeline.source.snapshot import SnapshotReport
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.plan import PlanReport, plan_summaries


class PlanPreview(Struct, frozen=True):
    """The plan of a build that was not run, with the reports of the steps before it."""

    rows: tuple[PlanRow, ...]
    snapshot: SnapshotReport
    parsing: ParseReport
    plan: PlanReport


def preview_plan(workspace: Workspace, scratch: Workspace, *, progress: Progress = no_progress) -> PlanPreview:
    """Plan the newest state of a repository; `scratch` is `workspace` with its writes redirected."""
    make_scratch(workspace.layout.mirror(workspace.key), scratch.layout.mirror(workspace.key))
    lend_indexes(workspace, scratch)
    snapshot = snapshot_with_indexes(scratch, progress=progress)
    parsing = parse_symbols(scratch, progress=progress)
    build_call_graph(scratch, progress=progress)
    plan = plan_summaries(scratch, progress=progress)
    rows = scratch.tables.read_rows("plan", workspace.key, PlanRow)
    return PlanPreview(rows=tuple(rows), snapshot=snapshot, parsing=parsing, plan=plan)


_KEPT: Mapping[str, Any] = {"action": PlanAction.KEEP.value, "cause": None, "cause_ids": [], "context_changed": False}
# They stay for documents that a gate stops.
_PREDICTED = ("predicted_input_tokens", "predicted_output_tokens", "predicted_usd")


def settle_plan(workspace: Workspace, report: PlanReport) -> PlanReport:
    """Turn a `plan` that was carried out into the plan of now, which keeps every document."""
    plan, schema = workspace.tables.read("plan", workspace.key), TABLES["plan"].schema
    plan = plan.filter(pc.not_equal(plan.column("action"), PlanAction.REMOVE.value))
    for name, value in _KEPT.items():
        field = schema.field(name)
        column = pa.array([value] * plan.num_rows, field.type)
        plan = plan.set_column(schema.get_field_index(name), field, column)
    is_stopped = pc.is_valid(plan.column("gate"))
    for name in _PREDICTED:
        field = schema.field(name)
        column = pc.if_else(is_stopped, plan.column(name), pa.scalar(0, field.type))
        plan = plan.set_column(schema.get_field_index(name), field, column)
    written = workspace.tables.write("plan", workspace.key, plan)
    levels = Counter(plan.column("level").to_pylist())
    return replace(
        report,
        rows=written.rows,
        by_action={level: {PlanAction.KEEP: levels[level]} if levels[level] else {} for level in Level},
        by_cause={},
        contexts_changed=0,
        # Documents that a gate stops are forecast as before; all others have their texts.
        forecast={
            level: replace(
                found, asked=CallTotals(), kept_texts=found.kept_texts + found.asked.calls, usd_with_cache=0.0
            )
            for level, found in report.forecast.items()
        },
        table_hash=written.table_hash,
    )
