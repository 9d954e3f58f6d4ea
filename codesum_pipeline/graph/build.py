"""The call graph of one repository, from the facts of all its files.

What a file's calls mean is worked out again where the file changed, or where
anything changed that other files' names are found by.
"""

import gc
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.graph.compiled.edges import Disagreement, SyntaxRows, read_compiled, with_compiled
from codesum_pipeline.graph.contexts import ContextSubjects, SymbolPlace, find_contexts
from codesum_pipeline.graph.edges import EdgeTable
from codesum_pipeline.graph.families import families_of, indexed_paths
from codesum_pipeline.graph.importance import graph_stats
from codesum_pipeline.graph.loading import load_files
from codesum_pipeline.graph.python.annotations import parse_annotation
from codesum_pipeline.graph.python.resolver import split_shape
from codesum_pipeline.graph.reasons import Reason
from codesum_pipeline.graph.reexports import handed_on, imports_in, reexport_edges
from codesum_pipeline.graph.resolution import Coverage, Resolution, resolve
from codesum_pipeline.model.expressions import chain_of, type_of
from codesum_pipeline.model.files import FilePlace, SourceFile
from codesum_pipeline.model.graph import CallRow, Context, Edge, EdgeKind, GraphStats
from codesum_pipeline.model.guard import Failure, FailureGuard
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.model.ids import SEPARATOR
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.model.symbols import SymbolType
from codesum_pipeline.parsing.testing import read_tests_in_code
from codesum_pipeline.settings.stages import ContextSettings
from codesum_pipeline.store.atomic import write_text_atomically
from codesum_pipeline.store.memory import give_back
from codesum_pipeline.store.rows import column_names, from_table, to_table
from codesum_pipeline.store.workspace import Workspace

GRAPH_VERSION = "8"

_FACTS = ["file_path", "language", "exports", "references"]
_PLACES = ["id", "type", "parent_id"]
# Edges that are values at one time, on their way into a table: bounds the memory.
_EDGES_AT_ONCE = 1 << 13
# Where fewer files were resolved, what is left of them is not worth looking through all objects for.
_MANY_FILES = 500


class GraphReport(Struct, frozen=True):
    """What was found; `table_hash` covers edges, statistics and contexts.

    `files_resolved` are those whose references were looked up; the others' edges stood.
    """

    table_hash: str
    files: int
    files_resolved: int
    symbols: int
    calls: int
    imports: int
    inherits: int
    external_edges: int
    components: int
    communities: int
    coverage: Coverage
    failed: int
    failures: tuple[Failure, ...]
    compiled: Disagreement = field(default_factory=Disagreement)


def build_call_graph(ws: Workspace, *, progress: Progress = no_progress) -> GraphReport:
    """Read files, symbols, facts and what compilers' indexes say; write edges, graph_stats, contexts and `stats.json`,
    and beside an index what the syntax says without it."""
    places = ws.tables.read_rows("files", ws.key, FilePlace)
    last = Resolution.standing(ws)
    found = _resolved(ws, places, last, progress)
    if found.resolved >= _MANY_FILES:
        _let_go()
    symbols = ws.tables.read("symbols", ws.key, columns=_PLACES)
    tables = {"edges": found.edges, "syntax_edges": found.own.edges, "call_sites": found.own.sites}
    written = {table: ws.tables.write(table, ws.key, rows) for table, rows in tables.items()}
    documents = _documents_hash(ws)
    if last is not None and last.tables["edges"] == written["edges"].table_hash and last.documents == documents:
        written |= {table: ws.tables.keep(table, ws.key) for table in ("graph_stats", "contexts")}
        stats = ws.tables.read("graph_stats", ws.key)
    else:
        others = _ranked_and_sampled(ws, places, symbols, found.edges, progress)
        written |= {table: ws.tables.write(table, ws.key, rows) for table, rows in others.items()}
        stats = others["graph_stats"]
    hashes = {table: one.table_hash for table, one in written.items()}
    if not ws.tables.is_scratch:
        write_text_atomically(ws.layout.graph_index(ws.key) / "stats.json", stats_json(stats))
        found.resolution.model_copy(update={"documents": documents, "tables": hashes}).write(ws)
    compared = ("edges", "graph_stats", "contexts")
    report = _report(
        found.edges, stats, found.resolution, hash_of([hashes[table] for table in compared]), found.guard,
        resolved=found.resolved, symbols=len(symbols),
    )  # fmt: skip
    return replace(report, compiled=found.disagreement)


class _ResolvedGraph(Struct, frozen=True):
    """The failures, what is known of each file, all edges, and those of the syntax where there are others; `resolved`
    files were looked at."""

    guard: FailureGuard
    resolution: Resolution
    edges: pa.Table
    own: SyntaxRows
    resolved: int
    disagreement: Disagreement


def _resolved(
    ws: Workspace, places: Sequence[FilePlace], last: Resolution | None, progress: Progress
) -> _ResolvedGraph:
    """All edges; what was read for them is let go."""
    compiled = read_compiled(ws.tables, ws.key)
    loaded = load_files(ws.tables.read("file_facts", ws.key, columns=_FACTS).to_pylist())
    families = families_of(loaded, places, indexed_paths(places), root=ws.entry.root_module)
    resolution, tables = resolve(
        families, last, loaded.guard, settings=ws.fingerprint(""), compiled=compiled.keys(), progress=progress
    )
    own = _edges(ws, last, resolution, tables)
    if not compiled:
        return _ResolvedGraph(
            loaded.guard, resolution, _with_reexports(ws, own), SyntaxRows.none(), len(tables), Disagreement()
        )
    sites = _call_sites(ws, last, resolution, tables)
    languages = {
        path: row["language"] for rows in (loaded.python.rows, loaded.declared.rows) for path, row in rows.items()
    }
    edges, disagreement = with_compiled(SyntaxRows(own, sites), compiled, languages)
    resolution = resolution.model_copy(update={"own_edges": "syntax_edges"})
    return _ResolvedGraph(
        loaded.guard, resolution, _with_reexports(ws, edges), SyntaxRows(own, sites), len(tables), disagreement
    )


def _with_reexports(ws: Workspace, edges: pa.Table) -> pa.Table:
    """All edges, with those to what files hand on from further away."""
    imports = imports_in(edges)
    ids = partial(_symbol_ids, ws)
    found = reexport_edges(handed_on(ws.tables, ws.key, imports=lambda: imports, ids=ids), set(imports))
    return pa.concat_tables([edges, to_table(found, Edge)]) if found else edges


def _symbol_ids(ws: Workspace) -> list[str]:
    ids: list[str] = ws.tables.read("symbols", ws.key, columns=["id"]).column("id").to_pylist()
    return ids


def _let_go() -> None:
    """Free what resolving left: scopes that refer to one another, and what was read of texts that many files share.

    The few of these that live on would keep most of the memory around them from other steps.
    """
    for read in (parse_annotation, split_shape, chain_of, type_of):
        read.cache_clear()
    gc.collect()
    give_back()


def _edges(ws: Workspace, last: Resolution | None, now: Resolution, resolved: Mapping[str, EdgeTable]) -> pa.Table:
    """The edges of the files that were resolved, and those that the last build found for the others."""
    new = pa.concat_tables([to_table([], Edge), *(to_table(some, Edge) for some in _in_batches(resolved.values()))])
    if last is None:
        return new
    old = ws.tables.read(last.own_edges, ws.key)
    old = old.filter(pc.not_equal(old.column("reason"), str(Reason.REEXPORT)))
    standing = pa.array(now.files.keys() - resolved.keys(), pa.string())
    sources = pc.list_element(pc.split_pattern(old.column("src_id"), SEPARATOR, max_splits=1), 0)
    return pa.concat_tables([old.filter(pc.is_in(sources, value_set=standing)), new])


def _call_sites(ws: Workspace, last: Resolution | None, now: Resolution, resolved: Mapping[str, EdgeTable]) -> pa.Table:
    """The calls of the files about which an index counts, as the syntax has them."""
    parts = [
        to_table([], CallRow),
        *(to_table(table.call_rows(), CallRow) for table in resolved.values() if table.calls),
    ]
    if last is not None:
        old = ws.tables.read("call_sites", ws.key)
        standing = [path for path, file in now.files.items() if file.has_sites and path not in resolved]
        parts.append(old.filter(pc.is_in(old.column("file_path"), value_set=pa.array(standing, pa.string()))))
    return pa.concat_tables(parts)


def _in_batches(tables: Iterable[EdgeTable]) -> Iterator[list[Edge]]:
    """The edges of all files, those of some at a time."""
    batch: list[Edge] = []
    for table in tables:
        batch += table.edges()
        if len(batch) >= _EDGES_AT_ONCE:
            yield batch
            batch = []
    yield batch


def _documents_hash(ws: Workspace) -> str:
    """The hash of what statistics and contexts are made from besides edges and settings."""
    read = {
        "symbols": [*_PLACES, "is_test"],
        "files": column_names(FilePlace),
        "file_facts": ["file_path", "is_test"],
    }
    return hash_of([ws.tables.content_hash(table, ws.key, columns=columns) for table, columns in read.items()])


def _ranked_and_sampled(
    ws: Workspace, places: Sequence[FilePlace], symbols: pa.Table, edges: pa.Table, progress: Progress
) -> dict[str, pa.Table]:
    rows = [SymbolPlace(row["id"], SymbolType(row["type"]), row["parent_id"]) for row in symbols.to_pylist()]
    stats, contexts = rank_and_sample(
        places,
        rows,
        from_table(edges, Edge),
        root=ws.entry.root_module,
        settings=ws.settings,
        tests=read_tests_in_code(ws.tables, ws.key),
        progress=progress,
    )
    return {"graph_stats": to_table(stats, GraphStats), "contexts": to_table(contexts, Context)}


def rank_and_sample(
    files: Sequence[SourceFile | FilePlace],
    symbols: Sequence[SymbolPlace],
    edges: Sequence[Edge],
    *,
    root: str,
    settings: ContextSettings,
    tests: Collection[str] = (),
    progress: Progress = no_progress,
) -> tuple[list[GraphStats], list[Context]]:
    """The statistics of every symbol and file, and the context of every document; `tests` are paths and ids of what the
    code says is a test."""
    indexed = indexed_paths(files)
    progress("ranking", 0, 2)
    stats = graph_stats({*(symbol.id for symbol in symbols), *indexed}, edges)
    progress("sampling contexts", 1, 2)
    flagged = {*(file.path for file in files if file.is_test), *tests}
    contexts = find_contexts(ContextSubjects(symbols, indexed, flagged, root), edges, settings)
    progress("sampling contexts", 2, 2)
    return stats, contexts


def stats_json(stats: pa.Table) -> str:
    """`{id: {in_degree, pagerank}}`, one line each, sorted by id."""
    ids, *others = (stats.column(name).to_pylist() for name in ("id", "in_degree", "pagerank"))
    # All at once: no line break stands within an encoded string.
    names = json.dumps(ids, ensure_ascii=False, separators=("\n", ":"))[1:-1].split("\n") if ids else []
    lines = [
        f'{name}: {{"in_degree": {in_degree}, "pagerank": {rank!r}}}'
        for _, name, in_degree, rank in sorted(zip(ids, names, *others, strict=True))
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _report(
    edges: pa.Table,
    stats: pa.Table,
    resolution: Resolution,
    table_hash: str,
    guard: FailureGuard,
    *,
    resolved: int,
    symbols: int,
) -> GraphReport:
    kinds = Counter(edges.column("kind").to_pylist())
    return GraphReport(
        table_hash=table_hash,
        files=len(resolution.files),
        files_resolved=resolved,
        symbols=symbols,
        calls=kinds[EdgeKind.CALL],
        imports=kinds[EdgeKind.IMPORT],
        inherits=kinds[EdgeKind.INHERIT],
        external_edges=pc.sum(edges.column("is_external")).as_py() or 0,
        components=pc.count_distinct(stats.column("component")).as_py(),
        communities=pc.count_distinct(stats.column("community")).as_py(),
        coverage=Coverage.of(resolution.files),
        failed=len(guard.failed),
        failures=guard.failures,
    )
