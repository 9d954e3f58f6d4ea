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
from codesum_pipeline.summaries.plan import PlanReport

_KEPT: Mapping[str, Any] = {"action": PlanAction.KEEP.value, "cause": None, "cause_ids": [], "context_changed": False}


def settle_plan(workspace: Workspace, report: PlanReport) -> PlanReport:
    """Turn the `plan` that was carried out into the one that would be made now: every document is kept."""
    plan, schema = workspace.tables.read("plan", workspace.key), TABLES["plan"].schema
    plan = plan.filter(pc.not_equal(plan.column("action"), PlanAction.REMOVE.value))
    for name, value in _KEPT.items():
        field = schema.field(name)
        column = pa.array([value] * plan.num_rows, field.type)
        plan = plan.set_column(schema.get_field_index(name), field, column)
    written = workspace.tables.write("plan", workspace.key, plan)
    levels = Counter(plan.column("level").to_pylist())
    return replace(
        report,
        rows=written.rows,
        by_action={level: {PlanAction.KEEP: levels[level]} if levels[level] else {} for level in Level},
        by_cause={},
        contexts_changed=0,
        table_hash=written.table_hash,
    )
