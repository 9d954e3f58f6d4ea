"""The steps of a build in order: the same functions that the assets call."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from codesum_pipeline.graph.build import build_call_graph
from codesum_pipeline.indexes.candidate import write_candidate
from codesum_pipeline.indexes.dense import embed_documents
from codesum_pipeline.indexes.publish import publish_candidate
from codesum_pipeline.indexes.sparse import index_terms
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.parsing.symbols import parse_symbols
from codesum_pipeline.settings import load_settings
from codesum_pipeline.source.snapshot import take_snapshot
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.documents import assemble_documents
from codesum_pipeline.summaries.levels import write_classes, write_files, write_functions, write_modules
from codesum_pipeline.summaries.plan import plan_summaries
from codesum_pipeline.wiring import Home

STEPS: Mapping[str, Callable[[Workspace], Any]] = {
    "repo_snapshot": take_snapshot,
    "symbols": parse_symbols,
    "call_graph": build_call_graph,
    "summary_plan": plan_summaries,
    "function_summaries": write_functions,
    "class_summaries": write_classes,
    "file_summaries": write_files,
    "module_summaries": write_modules,
    "summary_documents": assemble_documents,
    "dense_index": embed_documents,
    "sparse_index": index_terms,
    "index_candidate": write_candidate,
    "published_index": publish_candidate,
}

Reports = Mapping[str, Any]


def open_home(home: Path, **settings: Any) -> Home:
    """A home with these settings, and nothing from the environment."""
    return Home(load_settings({"home": home, **settings}, environ={}))


def workspace_of(home: Home, entry: RepositoryEntry, *, run_id: str = "run", force: bool = False) -> Workspace:
    """A workspace of `entry`, registered if it is not."""
    if entry.key not in {known.key for known in home.registry.entries()}:
        home.registry.add(entry)
    return home.workspace(entry.key, run_id=run_id, force=force, now=lambda: datetime(2026, 1, 1, tzinfo=UTC))


def build(workspace: Workspace, *, until: str | None = None) -> Reports:
    """Run the steps in order, up to and with `until`; their reports by name."""
    reports: dict[str, Any] = {}
    for name, step in STEPS.items():
        reports[name] = step(workspace)
        if name == until:
            break
    return reports
