"""A graph straight from sources of any language: parser and graph, without tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codesum_pipeline.foundation.data_model.edge import Alias, AliasKind, Context, Edge, EdgeKind, GraphStats
from codesum_pipeline.foundation.data_model.file import FileStatus, SourceFile
from codesum_pipeline.foundation.data_model.guard import Failure
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import FileFacts
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.foundation.settings.stage_settings import ContextSettings
from codesum_pipeline.foundation.store.rows import from_table, to_table
from codesum_pipeline.graph.contexts import SymbolPlace
from codesum_pipeline.graph.graph_step import rank_and_sample
from codesum_pipeline.graph.resolution import Coverage, resolve_files
from codesum_pipeline.graph.resolvers.families import LoadedFiles, families_of, indexed_paths, load_files
from codesum_pipeline.symbols.parsing.parsers import parse_file

Calls = set[tuple[str, str]]
Edges = dict[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Graph:
    """A repository's graph, as the tables hold it."""

    edges: tuple[Edge, ...]
    stats: tuple[GraphStats, ...]
    contexts: tuple[Context, ...]
    coverage: Coverage
    failures: tuple[Failure, ...]
    aliases: tuple[Alias, ...] = ()


def make_graph(
    files: Sequence[SourceFile],
    symbols: Sequence[SymbolPlace],
    loaded: LoadedFiles,
    *,
    root: str = ".",
    settings: ContextSettings | None = None,
) -> Graph:
    """The whole graph from the facts alone."""
    families = families_of(loaded, files, indexed_paths(files), root=root)
    resolution, tables = resolve_files(families, None, loaded.guard, settings="")
    edges = sorted(
        (edge for table in tables.values() for edge in table.edges()),
        key=lambda edge: (edge.src_id, edge.dst, edge.is_external, edge.kind),
    )
    found = rank_and_sample(
        files,
        to_table(symbols, SymbolPlace),
        to_table(edges, Edge),
        root=root,
        settings=settings or ContextSettings(),
    )
    stats, contexts = from_table(found["graph_stats"], GraphStats), from_table(found["contexts"], Context)
    aliases = tuple(alias for table in tables.values() for alias in table.aliases)
    coverage = Coverage.of(resolution.files)
    return Graph(tuple(edges), tuple(stats), tuple(contexts), coverage, loaded.guard.failures, aliases)


def graph_of(sources: Mapping[str, str], *, root: str = ".", settings: ContextSettings | None = None) -> Graph:
    """The graph of files given by path; files whose names say so are tests."""
    files, symbols, facts = [], [], []
    for path, source in sources.items():
        language = language_of_path(path) or "text"
        is_test = path.startswith("tests/") or "/tests/" in path
        files.append(SourceFile(path, "", len(source), "", language, FileStatus.INDEXED, None, is_test, False))
        parsed = parse_file(path, language, source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)
        symbols += [SymbolPlace(symbol.id, symbol.type, symbol.parent_id) for symbol in parsed.symbols]
        facts.append(parsed.facts)
    graph = make_graph(files, symbols, load_files(to_table(facts, FileFacts).to_pylist()), root=root, settings=settings)
    assert graph.failures == ()
    return graph


def calls_of(sources: Mapping[str, str]) -> Edges:
    """Call edges inside the repository: (caller, callee) with the reason."""
    edges = graph_of(sources).edges
    return {(e.src_id, e.dst): e.reason for e in edges if e.kind is EdgeKind.CALL and not e.is_external}


def external_calls_of(sources: Mapping[str, str]) -> Calls:
    """Call edges that leave the repository."""
    edges = graph_of(sources).edges
    return {(e.src_id, e.dst) for e in edges if e.kind is EdgeKind.CALL and e.is_external}


def edges_of(sources: Mapping[str, str], kind: EdgeKind) -> Calls:
    """(source, target) of all edges of a kind."""
    return {(e.src_id, e.dst) for e in graph_of(sources).edges if e.kind is kind}


def references_of(sources: Mapping[str, str]) -> Calls:
    """Edges to what is used without being called."""
    return edges_of(sources, EdgeKind.REFERENCE)


def imports_of(sources: Mapping[str, str]) -> Calls:
    """Import edges, to files of the repository and to packages outside."""
    return edges_of(sources, EdgeKind.IMPORT)


def bases_of(sources: Mapping[str, str]) -> Calls:
    """Inheritance edges."""
    return edges_of(sources, EdgeKind.INHERIT)


def other_names_of(sources: Mapping[str, str]) -> set[tuple[str, str]]:
    """What definitions are called besides their names, each with the definition."""
    return {(one.name, one.target) for one in graph_of(sources).aliases if one.kind is not AliasKind.EXPORT}
