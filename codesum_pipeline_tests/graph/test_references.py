"""References say who uses what; nothing else of the graph changes because of them."""

from collections.abc import Mapping

import pytest

from codesum_pipeline.foundation.data_model.edge import Context, Edge, EdgeKind, GraphStats
from codesum_pipeline.foundation.data_model.file import FileStatus, SourceFile
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.foundation.settings.stage_settings import ContextSettings
from codesum_pipeline.foundation.store.rows import from_table, to_table
from codesum_pipeline.graph.contexts import SymbolPlace
from codesum_pipeline.graph.graph_step import rank_and_sample
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline_tests.graph.mixed_project import PROJECT
from codesum_pipeline_tests.graph.sources import graph_of

PROJECTS: Mapping[str, Mapping[str, str]] = {
    "a project in several languages": PROJECT,
    "handlers, types and constants": {
        "a.py": "from b import LIMIT, Store, helper\n\ndef run(x: Store):\n    return map(helper, [LIMIT, x.load()])\n",
        "b.py": "LIMIT = 3\n\ndef helper(): pass\n\nclass Store:\n    def load(self): helper()\n",
    },
}


@pytest.mark.parametrize("name", PROJECTS)
def test_statistics_and_contexts_are_those_of_the_graph_without_references(name: str) -> None:
    graph = graph_of(PROJECTS[name])
    counted = [edge for edge in graph.edges if edge.kind is not EdgeKind.REFERENCE]
    files, symbols = [], []
    for path, source in PROJECTS[name].items():
        language = language_of_path(path) or "text"
        is_test = path.startswith("tests/") or "/tests/" in path
        files.append(SourceFile(path, "", len(source), "", language, FileStatus.INDEXED, None, is_test, False))
        parsed = parse_file(path, language, source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)
        symbols += [SymbolPlace(symbol.id, symbol.type, symbol.parent_id) for symbol in parsed.symbols]

    tables = to_table(symbols, SymbolPlace), to_table(counted, Edge)
    stats, contexts = rank_and_sample(files, *tables, root=".", settings=ContextSettings()).values()

    assert len(counted) < len(graph.edges)
    assert (graph.stats, graph.contexts) == (
        tuple(from_table(stats, GraphStats)),
        tuple(from_table(contexts, Context)),
    )
