"""A graph straight from sources of any language: parser and graph, without tables."""

from collections.abc import Mapping

from codesum_pipeline.graph.build import Graph, make_graph
from codesum_pipeline.graph.contexts import SymbolPlace
from codesum_pipeline.graph.loading import load_files
from codesum_pipeline.model.files import FileStatus, SourceFile
from codesum_pipeline.model.graph import EdgeKind
from codesum_pipeline.model.hashing import HashPolicy
from codesum_pipeline.parsing.parsers import parse_file
from codesum_pipeline.settings.stages import ContextSettings
from codesum_pipeline.source.languages import language_of_path

Edges = dict[tuple[str, str], str]


def graph_of(sources: Mapping[str, str]) -> Graph:
    """The graph of files given by path."""
    files, symbols, facts = [], [], []
    for path, source in sources.items():
        language = language_of_path(path) or "text"
        files.append(SourceFile(path, "", len(source), "", language, FileStatus.INDEXED, None, False, False))
        parsed = parse_file(path, language, source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)
        symbols += [SymbolPlace(symbol.id, symbol.type, symbol.parent_id) for symbol in parsed.symbols]
        read = parsed.facts
        facts.append({"file_path": path, "language": language, "exports": read.exports, "references": read.references})
    graph = make_graph(files, symbols, load_files(facts), root=".", settings=ContextSettings())
    assert graph.failures == ()
    return graph


def calls_of(sources: Mapping[str, str]) -> Edges:
    """Call edges inside the repository: (caller, callee) with the reason."""
    return _edges(graph_of(sources), EdgeKind.CALL, is_external=False)


def external_calls_of(sources: Mapping[str, str]) -> set[tuple[str, str]]:
    """Call edges that leave the repository."""
    return set(_edges(graph_of(sources), EdgeKind.CALL, is_external=True))


def imports_of(sources: Mapping[str, str]) -> set[tuple[str, str]]:
    """Import edges, to files of the repository and to packages outside."""
    return {(edge.src_id, edge.dst) for edge in graph_of(sources).edges if edge.kind is EdgeKind.IMPORT}


def bases_of(sources: Mapping[str, str]) -> set[tuple[str, str]]:
    """Inheritance edges."""
    return {(edge.src_id, edge.dst) for edge in graph_of(sources).edges if edge.kind is EdgeKind.INHERIT}


def _edges(graph: Graph, kind: EdgeKind, *, is_external: bool) -> Edges:
    return {(e.src_id, e.dst): e.reason for e in graph.edges if e.kind is kind and e.is_external == is_external}
