"""The steps of a build in order: the function that does each step's work, and its report when nothing is left to do."""

from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from codesum_pipeline.builds.steps.reuse import R, Settle, StageFunction, Step
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.foundation.worker_processes.pool import fork_with
from codesum_pipeline.graph.graph_step import GraphReport, build_call_graph
from codesum_pipeline.indexes.file_formats.version_folder import MANIFEST
from codesum_pipeline.indexes.lanes.dense import DenseReport, embed_documents
from codesum_pipeline.indexes.lanes.sparse import SparseReport, index_terms
from codesum_pipeline.indexes.publishing.candidate import CandidateReport, write_candidate
from codesum_pipeline.indexes.publishing.publish import PublishReport
from codesum_pipeline.search.evaluation.evaluation_step import EvaluationReport, judge_candidate, publish_unless_held
from codesum_pipeline.search.overviews.found_in_parts import OVERVIEW_VERSION
from codesum_pipeline.search.overviews.page import OverviewReport, write_overview
from codesum_pipeline.source.files.snapshot import SnapshotReport
from codesum_pipeline.symbols.parsing.symbols_step import ParseReport, parse_symbols
from codesum_pipeline.symbols.scip.taking import snapshot_with_indexes
from codesum_pipeline.texts.summaries import writers
from codesum_pipeline.texts.summaries.by_model.predicted_prices import calls_of_unchanged, note_avoided
from codesum_pipeline.texts.summaries.documents_step import DocumentsReport, assemble_documents
from codesum_pipeline.texts.summaries.level_build import LevelReport
from codesum_pipeline.texts.summaries.level_step import write_level
from codesum_pipeline.texts.summaries.rewrite_plan import PlanReport, plan_summaries, settle_plan

# Workers that have parsed write texts next.
fork_with(writers.__name__)

# Provenance: it goes into a text's row when the text is written, and a text is written for other reasons.
_PROVENANCE = frozenset({"snapshot", "document_history"})


def _nothing_written(report: LevelReport) -> LevelReport:
    calls = report.asked and calls_of_unchanged(report.asked)
    return replace(report, written=0, kept=report.rows, removed=0, by_cause={}, rewrites=(), asked=calls)


def _all_written(report: LevelReport) -> bool:
    """Whether a model has nothing left to write that it may."""
    return report.asked is None or report.asked.pending == 0


def _note_avoided(ws: Workspace, report: LevelReport) -> None:
    if report.asked:
        note_avoided(ws, report.level, report.asked.avoided)


def _step(name: str, run: StageFunction[R], report: type[R], **more: Any) -> Step[R]:
    """A step, with the tables that it reads and writes."""
    tables = packaged_table(__package__, "steps")[name]
    return Step(name, run, report, reads=tuple(tables["reads"]), writes=tuple(tables["writes"]), **more)


def _level_step(level: Level) -> Step[LevelReport]:
    """The step that writes the texts of a level."""
    return _step(
        f"{level}_summaries",
        partial(write_level, level=level),
        LevelReport,
        idle=_nothing_written,
        # A model's gates depend on what the levels read and on settings; the plan only says why a text is written.
        # Whether it must be written follows from the plan's own inputs.
        stamps=_PROVENANCE | {"plan"},
        remember=_all_written,
        account=_note_avoided,
    )


REPO_SNAPSHOT = _step(
    "repo_snapshot",
    snapshot_with_indexes,
    SnapshotReport,
    # It reads the repository, whose state is in no table.
    remember=lambda _report: False,
)
SYMBOLS = _step(
    "symbols",
    parse_symbols,
    ParseReport,
    idle=lambda report: replace(report, parsed=0, carried=report.files),
)
CALL_GRAPH = _step(
    "call_graph",
    build_call_graph,
    GraphReport,
    idle=lambda report: replace(report, files_resolved=0),
    files=lambda ws, _report: [ws.layout.graph_index(ws.key) / "stats.json"],
)
_LEVELS = tuple(map(_level_step, LEVELS))
SUMMARY_DOCUMENTS = _step(
    "summary_documents",
    assemble_documents,
    DocumentsReport,
    idle=lambda report: replace(report, texts_changed=0, texts_removed=0),
    stamps=frozenset({"snapshot", "plan"}),
)
SUMMARY_PLAN = _step(
    "summary_plan", plan_summaries, PlanReport, settle=Settle((*_LEVELS, SUMMARY_DOCUMENTS), settle_plan)
)
DENSE_INDEX = _step(
    "dense_index",
    embed_documents,
    DenseReport,
    idle=lambda report: replace(report, embedded=0, resumed=0, carried=report.rows, billed_tokens=0, cost_usd=0.0),
)
SPARSE_INDEX = _step(
    "sparse_index", index_terms, SparseReport, idle=lambda report: replace(report, tokenized=0, carried=report.rows)
)
INDEX_CANDIDATE = _step(
    "index_candidate",
    write_candidate,
    CandidateReport,
    files=lambda _ws, report: sorted(path for path in Path(report.folder).rglob("*") if path.is_file()),
)
# Its questions are taken from the repository's docstrings and history. Whether it is wanted, and with which questions,
# shapes no index and so is in no memo.
RETRIEVAL_EVALUATION = _step("retrieval_evaluation", judge_candidate, EvaluationReport, remember=lambda _report: False)
# It compares with what readers see and sweeps what killed builds left, in milliseconds.
PUBLISHED_INDEX = _step("published_index", publish_unless_held, PublishReport, remember=lambda _report: False)
REPO_OVERVIEW = _step(
    "repo_overview",
    write_overview,
    OverviewReport,
    idle=lambda report: replace(report, written=False),
    # The page is of the version that the name points at: it is looked for again once that is another one.
    files=lambda ws, _report: [ws.layout.published(ws.key) / MANIFEST, ws.layout.start_names(ws.key)],
    version=OVERVIEW_VERSION,
)

STEPS: tuple[Step[Any], ...] = (
    *(REPO_SNAPSHOT, SYMBOLS, CALL_GRAPH, SUMMARY_PLAN),
    *_LEVELS,
    *(SUMMARY_DOCUMENTS, DENSE_INDEX, SPARSE_INDEX, INDEX_CANDIDATE),
    *(RETRIEVAL_EVALUATION, PUBLISHED_INDEX, REPO_OVERVIEW),
)
