"""The plan of a build that finds everything written."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.model.documents import Level, PlanAction
from codesum_pipeline.store.schemas import TABLES
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.by_model.planning import LevelForecast
from codesum_pipeline.summaries.plan import PlanReport

_KEPT: Mapping[str, Any] = {"action": PlanAction.KEEP.value, "cause": None, "cause_ids": [], "context_changed": False}
# Of what is stopped they are said again.
_PREDICTED = ("predicted_input_tokens", "predicted_output_tokens", "predicted_usd")


def settle_plan(workspace: Workspace, report: PlanReport) -> PlanReport:
    """Turn the `plan` that was carried out into the one that would be made now: every document is kept."""
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
        forecast={level: _settled(found, plan, level) for level, found in report.forecast.items()},
        table_hash=written.table_hash,
    )


def _settled(found: LevelForecast, plan: pa.Table, level: Level) -> LevelForecast:
    """What is stopped is as before; all that was asked for is there."""
    rows = plan.filter(pc.equal(plan.column("level"), level.value))
    tokens, answers = (pc.sum(rows.column(name)).as_py() or 0 for name in _PREDICTED[:2])
    return replace(
        found,
        calls=0,
        usd=0.0,
        usd_with_cache=0.0,
        kept_texts=found.kept_texts + found.calls,
        input_tokens=tokens,
        output_tokens=answers,
    )
