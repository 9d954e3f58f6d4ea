"""The step that writes the graph, on tables straight from sources."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codesum_pipeline.foundation.data_model.file import FileStatus, SourceFile
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.data_model.symbol import FileFacts, Symbol
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.graph.graph_step import GraphReport, build_call_graph
from codesum_pipeline.graph.resolution import TABLES
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline_tests.support.homes import open_home, workspace_of


def graph_workspace(home: Path, *, force: bool = False, **settings: Any) -> Workspace:
    """A workspace that holds no tables yet."""
    return workspace_of(open_home(home, **settings), RepositoryEntry("project", str(home.parent)), force=force)


def build_graph(ws: Workspace, sources: Mapping[str, str]) -> GraphReport:
    """Write what parsers say of these files; build the graph from it."""
    files: list[SourceFile] = []
    symbols: list[Symbol] = []
    facts: list[FileFacts] = []
    for path, source in sorted(sources.items()):
        language = language_of_path(path) or "text"
        is_test = path.startswith("tests/")
        files.append(SourceFile(path, "", len(source), "", language, FileStatus.INDEXED, None, is_test, False))
        parsed = parse_file(path, language, source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)
        symbols += parsed.symbols
        facts.append(parsed.facts)
    ws.tables.write_rows("files", ws.key, files, SourceFile)
    ws.tables.write_rows("symbols", ws.key, symbols, Symbol)
    ws.tables.write_rows("file_facts", ws.key, facts, FileFacts)
    return build_call_graph(ws)


def graph_of(ws: Workspace) -> dict[str, Any]:
    """All that the step wrote."""
    stats = (ws.layout.graph_index(ws.key) / "stats.json").read_text("utf-8")
    return {"stats.json": stats, **{table: ws.tables.read(table, ws.key).to_pylist() for table in TABLES}}
