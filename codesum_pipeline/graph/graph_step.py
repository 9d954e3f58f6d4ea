"""The call graph of one repository, from the facts of all its files.

What a file's calls mean is worked out again where the file changed, or where
anything changed that other files' names are found by.
"""

import gc
import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, islice
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.edge import Alias, AliasKind, CallRow, Edge, EdgeKind
from codesum_pipeline.foundation.data_model.expression import chain_of, type_of
from codesum_pipeline.foundation.data_model.file import FilePlace, SourceFile
from codesum_pipeline.foundation.data_model.guard import Failure, FailureGuard
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.possible_values import Reason
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.settings.stage_settings import ContextSettings
from codesum_pipeline.foundation.store.atomic import write_text_atomically
from codesum_pipeline.foundation.store.memory import release_memory
from codesum_pipeline.foundation.store.rows import column_names, from_table, schema_of, to_table
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.table_parts import rows_of_files
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.graph.compiled_edges import Disagreement, read_compiled, with_compiled
from codesum_pipeline.graph.contexts import ContextSubjects, SymbolPlace, find_contexts
from codesum_pipeline.graph.importance import graph_stats
from codesum_pipeline.graph.resolution import Coverage, Resolution, resolve_files
from codesum_pipeline.graph.resolvers.families import families_of, indexed_paths, load_files
from codesum_pipeline.graph.resolvers.file_edges import EdgeTable
from codesum_pipeline.graph.resolvers.late_facts import read_facts
from codesum_pipeline.graph.resolvers.python.python_resolver import split_shape
from codesum_pipeline.graph.resolvers.python.python_types import parse_annotation
from codesum_pipeline.symbols.parsing.testing import read_tests_in_code

GRAPH_VERSION = "17"

Row = TypeVar("Row", bound=Struct)

_PLACES = column_names(SymbolPlace)
_CONNECTIONS = ["src_id", "dst", "is_external", "kind", "count"]
# Rows that are values at one time, on their way into a table: bounds the memory.
_ROWS_AT_ONCE = 1 << 13
# Where fewer files were resolved, what is left of them is not worth looking through all objects for.
_MANY_FILES = 500


class GraphReport(Struct, frozen=True):
    """The results; `table_hash` covers edges, statistics and contexts.

    `files_resolved` counts the files that this build resolved; the edges of the others are those of the last build.
    """

    table_hash: str
    files: int
    files_resolved: int
    symbols: int
    calls: int
    imports: int
    inherits: int
    references: int
    external_edges: int
    communities: int
    coverage: Coverage
    failed: int
    failures: tuple[Failure, ...]
    compiled: Disagreement = field(default_factory=Disagreement)


def build_call_graph(ws: Workspace, *, progress: Progress = no_progress) -> GraphReport:
    """Read files, symbols, facts and what compilers' indexes say; write edges, aliases, graph_stats, contexts and
    `stats.json`, and beside an index what the syntax says without it."""
    places = ws.tables.read_rows("files", ws.key, FilePlace)
    last = Resolution.of_last_build(ws)
    found = _resolved(ws, places, last, progress)
    if found.resolved >= _MANY_FILES:
        _let_go()
    symbols = ws.tables.read("symbols", ws.key, columns=_PLACES)
    written = {
        table: ws.tables.replace_files(table, ws.key, rows, found.replaced) for table, rows in found.tables.items()
    }
    edges = ws.tables.read("edges", ws.key, columns=_CONNECTIONS)
    documents = _documents_hash(ws)
    if last is not None and last.tables["edges"] == written["edges"].table_hash and last.documents == documents:
        written |= {table: ws.tables.keep(table, ws.key) for table in ("graph_stats", "contexts")}
        stats = ws.tables.read("graph_stats", ws.key)
    else:
        others = rank_and_sample(
            places, symbols, edges, root=ws.entry.root_module, settings=ws.settings,
            tests=read_tests_in_code(ws.tables, ws.key), progress=progress,
        )  # fmt: skip
        written |= {table: ws.tables.write(table, ws.key, rows) for table, rows in others.items()}
        stats = others["graph_stats"]
    hashes = {table: one.table_hash for table, one in written.items()}
    if not ws.tables.is_scratch:
        write_text_atomically(ws.layout.graph_index(ws.key) / "stats.json", stats_json(stats))
        replace(found.resolution, documents=documents, tables=hashes).write(ws)
    kinds = Counter({row["values"]: row["counts"] for row in pc.value_counts(edges.column("kind")).to_pylist()})
    return GraphReport(
        table_hash=hash_of([hashes[table] for table in ("edges", "graph_stats", "contexts")]),
        files=len(found.resolution.files),
        files_resolved=found.resolved,
        symbols=len(symbols),
        calls=kinds[EdgeKind.CALL],
        imports=kinds[EdgeKind.IMPORT],
        inherits=kinds[EdgeKind.INHERIT],
        references=kinds[EdgeKind.REFERENCE],
        external_edges=pc.sum(edges.column("is_external")).as_py() or 0,
        communities=pc.count_distinct(stats.column("community")).as_py(),
        coverage=Coverage.of(found.resolution.files),
        failed=len(found.guard.failed),
        failures=found.guard.failures,
        compiled=found.disagreement,
    )


class _ResolvedGraph(Struct, frozen=True):
    """The result of resolving: failures, what is known of each file, and rows of tables that take the place of those of
    the `replaced` files, or of all. `resolved` counts the files that were resolved in this build."""

    guard: FailureGuard
    resolution: Resolution
    tables: dict[str, pa.Table]
    replaced: set[str] | None
    resolved: int
    disagreement: Disagreement


def _resolved(
    ws: Workspace, places: Sequence[FilePlace], last: Resolution | None, progress: Progress
) -> _ResolvedGraph:
    """Find all edges. The files that are read for this are not kept in memory."""
    compiled = read_compiled(ws.tables, ws.key)
    loaded = load_files(read_facts(ws))
    families = families_of(loaded, places, indexed_paths(places), root=ws.entry.root_module)
    resolution, found = resolve_files(
        families, last, loaded.guard, settings=ws.fingerprint(""), compiled=compiled.keys(), progress=progress
    )
    unchanged = set() if last is None else resolution.files.keys() - found.keys()
    rows = {
        "edges": _rows_of((table.edges() for table in found.values()), Edge),
        "call_sites": _rows_of((table.calls for table in found.values()), CallRow),
        "aliases": _rows_of((table.aliases for table in found.values()), Alias),
    }
    syntax_edges, disagreement, replaced = to_table([], Edge), Disagreement(), None
    if last is not None and not compiled and last.own_edges == "edges":
        replaced = {*found, *(last.files.keys() - unchanged)}
    elif last is not None:
        old_tables = {"edges": last.own_edges, "call_sites": "call_sites", "aliases": "aliases"}
        for table, old in old_tables.items():
            rows[table] = pa.concat_tables([rows[table], _rows_of_files(ws, old, unchanged)])
    if compiled:
        languages = {path: row["language"] for path, row in (loaded.python.rows | loaded.declared.rows).items()}
        syntax_edges, resolution = rows["edges"], replace(resolution, own_edges="syntax_edges")
        rows["edges"], disagreement = with_compiled(syntax_edges, rows["call_sites"], compiled, languages)
    tables = rows | {"edges": _with_reexports(rows["edges"], rows["aliases"]), "syntax_edges": syntax_edges}
    return _ResolvedGraph(loaded.guard, resolution, tables, replaced, len(found), disagreement)


def _rows_of(resolved: Iterable[Iterable[Row]], row_type: type[Row]) -> pa.Table:
    """The rows of the files that were resolved; few of them are values at one time."""
    rows = chain.from_iterable(resolved)
    batches = iter(lambda: [*islice(rows, _ROWS_AT_ONCE)], [])
    return pa.concat_tables([to_table([], row_type), *(to_table(batch, row_type) for batch in batches)])


def _rows_of_files(ws: Workspace, table: str, paths: Collection[str]) -> pa.Table:
    """The rows that the last build found for some files."""
    found = rows_of_files(ws.tables.read(table, ws.key), TABLES[table], paths)
    is_of_edges = TABLES[table].schema == schema_of(Edge)
    return found.filter(pc.field("reason") != str(Reason.REEXPORT)) if is_of_edges else found


def _with_reexports(edges: pa.Table, aliases: pa.Table) -> pa.Table:
    """Add an import edge from each file that re-exports a document to the file that defines it, unless there is one."""
    imports = edges.filter((pc.field("kind") == str(EdgeKind.IMPORT)) & ~pc.field("is_external"))
    known = {*zip(imports.column("src_id").to_pylist(), imports.column("dst").to_pylist(), strict=True)}
    table = EdgeTable()
    exported = from_table(aliases.filter(pc.field("kind") == str(AliasKind.EXPORT)), Alias)
    for path, target in {(one.file_path, one.target.partition(SEPARATOR)[0]) for one in exported}:
        if path != target and (path, target) not in known:
            table.add(path, target, EdgeKind.IMPORT, Reason.REEXPORT)
    return pa.concat_tables([edges, to_table([*table.edges()], Edge)])


def _let_go() -> None:
    """Free what resolving left: scopes that refer to one another, and what was read of texts that many files share.

    The few of these that live on would keep most of the memory around them from other steps.
    """
    for read in (parse_annotation, split_shape, chain_of, type_of):
        read.cache_clear()
    gc.collect()
    release_memory()


def _documents_hash(ws: Workspace) -> str:
    """The hash of what statistics and contexts are made from besides edges and settings."""
    read = {
        "symbols": [*_PLACES, "is_test"],
        "files": column_names(FilePlace),
        "file_facts": ["file_path", "is_test"],
    }
    return hash_of([ws.tables.content_hash(table, ws.key, columns=columns) for table, columns in read.items()])


def rank_and_sample(
    files: Sequence[SourceFile | FilePlace],
    symbols: pa.Table,
    edges: pa.Table,
    *,
    root: str,
    settings: ContextSettings,
    tests: Collection[str] = (),
    progress: Progress = no_progress,
) -> dict[str, pa.Table]:
    """The statistics of every symbol and file, and the context of every document, by table; from rows of `SymbolPlace`
    and `Edge`. `tests` are paths and ids of what the code says is a test. References count for neither."""
    indexed = indexed_paths(files)
    edges = edges.filter(pc.field("kind") != str(EdgeKind.REFERENCE))
    progress("ranking", 0, 2)
    stats = graph_stats([*symbols["id"].to_pylist(), *indexed], edges)
    progress("sampling contexts", 1, 2)
    flagged = {*(file.path for file in files if file.is_test), *tests}
    contexts = find_contexts(ContextSubjects(symbols, indexed, flagged, root), edges, settings)
    progress("sampling contexts", 2, 2)
    return {"graph_stats": stats, "contexts": contexts}


def stats_json(stats: pa.Table) -> str:
    """`{id: {in_degree, pagerank}}`, one line each, sorted by id."""
    ids, *others = (stats.column(name).to_pylist() for name in ("id", "in_degree", "pagerank"))
    # All at once: an encoded string contains no line break.
    names = json.dumps(ids, ensure_ascii=False, separators=("\n", ":"))[1:-1].split("\n") if ids else []
    lines = [
        f'{name}: {{"in_degree": {in_degree}, "pagerank": {rank!r}}}'
        for name, in_degree, rank in zip(names, *others, strict=True)
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"
