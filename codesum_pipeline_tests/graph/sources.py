"""A graph straight from sources: parser and graph, without tables."""

from collections.abc import Mapping

from codesum_pipeline.graph.build import Graph, make_graph
from codesum_pipeline.graph.contexts import SymbolPlace
from codesum_pipeline.graph.loading import load_files
from codesum_pipeline.model.files import FileStatus, SourceFile
from codesum_pipeline.model.graph import EdgeKind
from codesum_pipeline.parsing.parsers import PARSERS
from codesum_pipeline.settings.stages import ContextSettings

Calls = set[tuple[str, str]]


def graph_of(sources: Mapping[str, str], *, root: str = ".", settings: ContextSettings | None = None) -> Graph:
    """The graph of Python files given by path; files whose names say so are tests."""
    files, symbols, facts = [], [], []
    for path, source in sources.items():
        is_python = path.endswith((".py", ".pyi"))
        language = "python" if is_python else "text"
        is_test = path.startswith("tests/") or "/tests/" in path
        files.append(SourceFile(path, "", len(source), "", language, FileStatus.INDEXED, None, is_test, False))
        if is_python:
            parsed = PARSERS["python"].parse(source.encode(), path)
            symbols += [SymbolPlace(symbol.id, symbol.type, symbol.parent_id) for symbol in parsed.symbols]
            facts.append(
                {
                    "file_path": path,
                    "language": "python",
                    "exports": parsed.facts.exports,
                    "references": parsed.facts.references,
                }
            )
    graph = make_graph(files, symbols, load_files(facts), root=root, settings=settings or ContextSettings())
    assert graph.failures == ()
    return graph


def calls_of(sources: Mapping[str, str]) -> dict[tuple[str, str], str]:
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
