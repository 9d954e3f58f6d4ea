"""The steps of a build in order: what does each one's work, and what its report says when nothing is left to do."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from codesum_pipeline.building.failures import read_failures
from codesum_pipeline.building.reuse import Settle, Step, is_current, is_remembered
from codesum_pipeline.evaluation.gate import publish_unless_worse
from codesum_pipeline.evaluation.step import EvaluationReport, evaluate_candidate, is_evaluated
from codesum_pipeline.graph.build import GraphReport, build_call_graph
from codesum_pipeline.indexes.candidate import CandidateReport, write_candidate
from codesum_pipeline.indexes.dense import DenseReport, embed_documents
from codesum_pipeline.indexes.publish import PublishReport
from codesum_pipeline.indexes.sparse import SparseReport, index_terms
from codesum_pipeline.indexes.version_folder import MANIFEST
from codesum_pipeline.overviews.page import OVERVIEW_VERSION
from codesum_pipeline.overviews.step import OverviewReport, write_overview
from codesum_pipeline.parsing.symbols import ParseReport, parse_symbols
from codesum_pipeline.scip.taking import snapshot_with_indexes
from codesum_pipeline.source.snapshot import SnapshotReport
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.by_model.meter import asked_of_nobody, note_avoided
from codesum_pipeline.summaries.documents import DocumentsReport, assemble_documents
from codesum_pipeline.summaries.level_build import LevelReport
from codesum_pipeline.summaries.levels import write_classes, write_files, write_functions, write_modules
from codesum_pipeline.summaries.plan import PlanReport, plan_summaries
from codesum_pipeline.summaries.preview import settle_plan

# Provenance: it goes into a text's row when the text is written, and a text is written for other reasons.
_PROVENANCE = frozenset({"snapshot", "document_history"})


def _nothing_parsed(report: ParseReport) -> ParseReport:
    return replace(report, parsed=0, carried=report.files, lines_parsed=0)


def _nothing_resolved(report: GraphReport) -> GraphReport:
    return replace(report, files_resolved=0)


def _nothing_written(report: LevelReport) -> LevelReport:
    asked = report.asked and asked_of_nobody(report.asked)
    return replace(report, written=0, kept=report.rows, removed=0, by_cause={}, rewrites=(), asked=asked)


def _all_written(report: LevelReport) -> bool:
    """Whether a model has nothing left to write that it may."""
    return report.asked is None or report.asked.pending == 0


def _note_avoided(ws: Workspace, report: LevelReport) -> None:
    if report.asked:
        note_avoided(ws, report.level, report.asked.avoided)


def _nothing_changed(report: DocumentsReport) -> DocumentsReport:
    return replace(report, texts_changed=0, texts_removed=0)


def _nothing_embedded(report: DenseReport) -> DenseReport:
    return replace(report, embedded=0, resumed=0, carried=report.rows, billed_tokens=0, cost_usd=0.0)


def _nothing_tokenized(report: SparseReport) -> SparseReport:
    return replace(report, tokenized=0, carried=report.rows)


def _nothing_rewritten(report: OverviewReport) -> OverviewReport:
    return replace(report, written=False)


def _statistics_file(ws: Workspace, _report: GraphReport) -> Sequence[Path]:
    return [ws.layout.graph_index(ws.key) / "stats.json"]


def _version_files(_ws: Workspace, report: CandidateReport) -> Sequence[Path]:
    return sorted(path for path in Path(report.folder).rglob("*") if path.is_file())


def _published_manifest(ws: Workspace, _report: OverviewReport) -> Sequence[Path]:
    """By the name that readers resolve: another file once that points at another version."""
    return [ws.layout.published(ws.key) / MANIFEST]


# What stops a model rests on what the levels read and on settings; the plan says why a text is written.
_STAMPS = _PROVENANCE | {"plan"}

# It looks at the repository, which no table tells about.
REPO_SNAPSHOT = Step("repo_snapshot", snapshot_with_indexes, SnapshotReport, remember=lambda _report: False)
SYMBOLS = Step("symbols", parse_symbols, ParseReport, idle=_nothing_parsed)
CALL_GRAPH = Step("call_graph", build_call_graph, GraphReport, idle=_nothing_resolved, files=_statistics_file)
FUNCTION_SUMMARIES = Step(
    "function_summaries",
    write_functions,
    LevelReport,
    idle=_nothing_written,
    # The plan says for which cause a text is written; whether it must be is decided by what the plan is made from.
    stamps=_STAMPS,
    remember=_all_written,
    account=_note_avoided,
)
CLASS_SUMMARIES = Step(
    "class_summaries",
    write_classes,
    LevelReport,
    idle=_nothing_written,
    stamps=_STAMPS,
    remember=_all_written,
    account=_note_avoided,
)
FILE_SUMMARIES = Step(
    "file_summaries",
    write_files,
    LevelReport,
    idle=_nothing_written,
    stamps=_STAMPS,
    remember=_all_written,
    account=_note_avoided,
)
MODULE_SUMMARIES = Step(
    "module_summaries",
    write_modules,
    LevelReport,
    idle=_nothing_written,
    stamps=_STAMPS,
    remember=_all_written,
    account=_note_avoided,
)
SUMMARY_DOCUMENTS = Step(
    "summary_documents",
    assemble_documents,
    DocumentsReport,
    idle=_nothing_changed,
    stamps=frozenset({"snapshot", "plan"}),
)
SUMMARY_PLAN = Step(
    "summary_plan",
    plan_summaries,
    PlanReport,
    settle=Settle(
        (FUNCTION_SUMMARIES, CLASS_SUMMARIES, FILE_SUMMARIES, MODULE_SUMMARIES, SUMMARY_DOCUMENTS), settle_plan
    ),
)
DENSE_INDEX = Step("dense_index", embed_documents, DenseReport, idle=_nothing_embedded)
SPARSE_INDEX = Step("sparse_index", index_terms, SparseReport, idle=_nothing_tokenized)
INDEX_CANDIDATE = Step("index_candidate", write_candidate, CandidateReport, files=_version_files)
# Whether it is wanted, and of which questions, shapes no index and so stands in no memo.
RETRIEVAL_EVALUATION = Step(
    "retrieval_evaluation", evaluate_candidate, EvaluationReport, remember=lambda _report: False
)
# It compares with what readers see and sweeps what killed builds left, in milliseconds.
PUBLISHED_INDEX = Step("published_index", publish_unless_worse, PublishReport, remember=lambda _report: False)
# The page is of the version that the name points at: it is looked for again once that is another one.
REPO_OVERVIEW = Step(
    "repo_overview",
    write_overview,
    OverviewReport,
    idle=_nothing_rewritten,
    files=_published_manifest,
    version=OVERVIEW_VERSION,
)

STEPS: tuple[Step[Any], ...] = (
    REPO_SNAPSHOT,
    SYMBOLS,
    CALL_GRAPH,
    SUMMARY_PLAN,
    FUNCTION_SUMMARIES,
    CLASS_SUMMARIES,
    FILE_SUMMARIES,
    MODULE_SUMMARIES,
    SUMMARY_DOCUMENTS,
    DENSE_INDEX,
    SPARSE_INDEX,
    INDEX_CANDIDATE,
    RETRIEVAL_EVALUATION,
    PUBLISHED_INDEX,
    REPO_OVERVIEW,
)


def has_left_over(ws: Workspace) -> bool:
    """Whether the last build left texts that a model may write in a later one."""
    levels = (FUNCTION_SUMMARIES, CLASS_SUMMARIES, FILE_SUMMARIES, MODULE_SUMMARIES)
    return not all(is_remembered(step, ws) for step in levels)


def is_standing(ws: Workspace) -> bool:
    """Whether no step failed on an item, and those that remember their last run would only repeat their reports."""
    looking = (REPO_SNAPSHOT, RETRIEVAL_EVALUATION, PUBLISHED_INDEX)
    if read_failures(ws.layout.memos(ws.key)).keys() & {step.name for step in STEPS}:
        return False
    return all(is_current(step, ws) for step in STEPS if step not in looking) and is_evaluated(ws)
