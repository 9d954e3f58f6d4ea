"""What a build would do, without doing it: the steps up to the plan, in a scratch folder.

The scratch reads what the home holds and writes nothing there: the mirror is
borrowed through git alternates, the tables are read through.
"""

from dataclasses import dataclass

from codesum_pipeline.graph.build import build_call_graph
from codesum_pipeline.model.documents import PlanRow
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.parsing.symbols import ParseReport, parse_symbols
from codesum_pipeline.scip.taking import lend_indexes, snapshot_with_indexes
from codesum_pipeline.source.mirror import make_scratch
from codesum_pipeline.source.snapshot import SnapshotReport
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.plan import PlanReport, plan_summaries


@dataclass(frozen=True, slots=True)
class PlanPreview:
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
