"""The call graph of one repository, made anew from the facts of all its files.

Nothing is carried over: one new name can change what a call in any other file
means, and the whole is quick.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codesum_pipeline.graph.contexts import Documents, SymbolPlace, find_contexts
from codesum_pipeline.graph.declared.definitions import DeclaredFile, load_declared
from codesum_pipeline.graph.declared.projects import Projects
from codesum_pipeline.graph.edges import Coverage, find_edges
from codesum_pipeline.graph.facts import FileScopes, load_file
from codesum_pipeline.graph.importance import graph_stats
from codesum_pipeline.graph.module_paths import ModulePaths
from codesum_pipeline.graph.resolver import Resolver
from codesum_pipeline.model.files import FilePlace, FileStatus, SourceFile
from codesum_pipeline.model.graph import Context, Edge, EdgeKind, GraphStats
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.model.options import GraphOptions
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.model.symbols import SymbolType
from codesum_pipeline.parsing.parsed import NO_REFERENCES
from codesum_pipeline.parsing.project_files import is_project_file, project_text
from codesum_pipeline.store.atomic import write_text_atomically
from codesum_pipeline.store.workspace import Workspace

GRAPH_VERSION = "2"

PROGRESS_EVERY = 200


@dataclass(frozen=True, slots=True)
class LoadedFiles:
    """What parsers have read for the graph, by path: Python's files, those of declared languages, project files."""

    python: Mapping[str, FileScopes]
    declared: Mapping[str, DeclaredFile]
    projects: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GraphReport:
    """What was found; `table_hash` covers edges, statistics and contexts."""

    table_hash: str
    files: int
    symbols: int
    calls: int
    imports: int
    inherits: int
    external_edges: int
    components: int
    communities: int
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Graph:
    """A repository's graph, as the tables hold it."""

    edges: tuple[Edge, ...]
    stats: tuple[GraphStats, ...]
    contexts: tuple[Context, ...]
    coverage: Coverage


def build_call_graph(ws: Workspace, *, progress: Progress = no_progress) -> GraphReport:
    """Read files, symbols and facts; write edges, graph_stats, contexts and `stats.json`."""
    files = ws.tables.read_rows("files", ws.key, FilePlace)
    facts = ws.tables.read("file_facts", ws.key, columns=["file_path", "language", "exports", "references"]).to_pylist()
    rows = ws.tables.read("symbols", ws.key, columns=["id", "type", "parent_id"]).to_pylist()
    symbols = [SymbolPlace(row["id"], SymbolType(row["type"]), row["parent_id"]) for row in rows]
    loaded = load_files(facts, progress=progress)
    graph = make_graph(files, symbols, loaded, root=ws.entry.root_module, options=ws.options.graph, progress=progress)
    written = (
        ws.tables.write_rows("edges", ws.key, graph.edges, Edge),
        ws.tables.write_rows("graph_stats", ws.key, graph.stats, GraphStats),
        ws.tables.write_rows("contexts", ws.key, graph.contexts, Context),
    )
    if ws.tables.base is None:
        write_text_atomically(ws.layout.graph_index(ws.key) / "stats.json", stats_json(graph.stats))
    table_hash = hash_of([table.table_hash for table in written])
    return _report(graph, table_hash, files=len(loaded.python) + len(loaded.declared), symbols=len(symbols))


def load_files(facts: Sequence[Mapping[str, Any]], *, progress: Progress = no_progress) -> LoadedFiles:
    """The files that say something to the graph; the others have no references."""
    python, declared, projects = {}, {}, {}
    for done, row in enumerate(facts):
        if done % PROGRESS_EVERY == 0:
            progress("reading references", done, len(facts))
        path, references, exports = row["file_path"], row["references"], row["exports"]
        if references == NO_REFERENCES:
            continue
        if row["language"] == "python":
            python[path] = load_file(path, references, None if exports is None else tuple(exports))
        elif is_project_file(path):
            projects[path] = project_text(references)
        else:
            declared[path] = load_declared(path, references)
    return LoadedFiles(python, declared, projects)


def make_graph(
    files: Sequence[SourceFile | FilePlace],
    symbols: Sequence[SymbolPlace],
    loaded: LoadedFiles,
    *,
    root: str,
    options: GraphOptions,
    progress: Progress = no_progress,
) -> Graph:
    """The whole graph from the facts alone; the order of the arguments' items does not matter."""
    indexed = {file.path for file in files if file.status is FileStatus.INDEXED}
    parsed = {path: loaded.python[path] for path in sorted(loaded.python) if path in indexed}
    declared = {path: loaded.declared[path] for path in sorted(loaded.declared) if path in indexed}
    projects = Projects(indexed, {path: text for path, text in loaded.projects.items() if path in indexed})
    resolver = Resolver(parsed, ModulePaths(files, parsed, root=root))
    edges, coverage = find_edges(resolver, declared, projects, progress=progress)
    progress("ranking", 0, 2)
    stats = graph_stats({*(symbol.id for symbol in symbols), *indexed}, edges)
    progress("sampling contexts", 1, 2)
    tests = {file.path for file in files if file.is_test}
    contexts = find_contexts(Documents(symbols, indexed, tests, root), edges, options)
    progress("sampling contexts", 2, 2)
    return Graph(tuple(edges), tuple(stats), tuple(contexts), coverage)


def stats_json(stats: Sequence[GraphStats]) -> str:
    """`{id: {in_degree, pagerank}}`, one line each, sorted by id."""
    lines = (
        f"{json.dumps(row.id, ensure_ascii=False)}: "
        f"{json.dumps({'in_degree': row.in_degree, 'pagerank': row.pagerank})}"
        for row in sorted(stats, key=lambda row: row.id)
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _report(graph: Graph, table_hash: str, *, files: int, symbols: int) -> GraphReport:
    kinds = Counter(edge.kind for edge in graph.edges)
    return GraphReport(
        table_hash=table_hash,
        files=files,
        symbols=symbols,
        calls=kinds[EdgeKind.CALL],
        imports=kinds[EdgeKind.IMPORT],
        inherits=kinds[EdgeKind.INHERIT],
        external_edges=sum(edge.is_external for edge in graph.edges),
        components=len({row.component for row in graph.stats}),
        communities=len({row.community for row in graph.stats}),
        coverage=graph.coverage,
    )
