"""The step that reads a repository's facts and writes its graph."""

import gc
import json
import random
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.edge import Context, Edge, GraphStats
from codesum_pipeline.foundation.data_model.scopes import Scope, ScopedFile
from codesum_pipeline.graph import graph_step as step
from codesum_pipeline.graph.graph_step import build_call_graph
from codesum_pipeline.graph.resolvers.python.python_resolver import split_shape
from codesum_pipeline_tests.graph.sources import graph_of
from codesum_pipeline_tests.graph.tables import build_graph, graph_workspace
from codesum_pipeline_tests.support.homes import build

FILES = {
    "src/shop/__init__.py": "from .cart import Cart\n",
    "src/shop/cart.py": "from shop.prices import total\nclass Cart:\n    def sum(self):\n        return total(self)\n",
    "src/shop/prices.py": "def total(cart):\n    return unknown(cart)\n",
    "tests/test_cart.py": "from shop import Cart\n\ndef test_sum():\n    assert Cart().sum() == 0\n",
    "README.md": "# Shop\n",
}


def test_edges_statistics_and_contexts_are_written(git_repo: Any, make_workspace: Any) -> None:
    workspace = make_workspace(git_repo(FILES).path)

    report = build(workspace, until="call_graph")["call_graph"]

    edges = workspace.tables.read_rows("edges", "project", Edge)
    contexts = {context.id: context for context in workspace.tables.read_rows("contexts", "project", Context)}
    calls = {(edge.src_id, edge.dst) for edge in edges if edge.kind == "call"}
    assert calls == {
        ("src/shop/cart.py::Cart::sum", "src/shop/prices.py::total"),
        ("tests/test_cart.py::test_sum", "src/shop/cart.py::Cart"),
        ("tests/test_cart.py::test_sum", "src/shop/cart.py::Cart::sum"),
    }
    assert contexts["src/shop/prices.py::total"].called_by == ("src/shop/cart.py::Cart::sum",)
    assert (report.calls, report.imports, report.inherits) == (3, 3, 0)
    assert (report.coverage.call_sites, report.coverage.resolved, report.coverage.unknown) == (4, 3, 1)


def test_stats_json_names_every_symbol_and_file(git_repo: Any, make_workspace: Any) -> None:
    workspace = make_workspace(git_repo(FILES).path)

    build(workspace, until="call_graph")

    stats = json.loads((workspace.layout.graph_index("project") / "stats.json").read_text("utf-8"))
    rows = workspace.tables.read_rows("graph_stats", "project", GraphStats)
    assert stats == {row.id: {"in_degree": row.in_degree, "pagerank": row.pagerank} for row in rows}
    assert list(stats) == sorted(stats)
    assert stats["src/shop/prices.py::total"]["in_degree"] == 1
    assert "README.md" in stats


def test_the_same_facts_give_the_same_bytes(git_repo: Any, make_workspace: Any) -> None:
    workspace = make_workspace(git_repo(FILES).path)
    build(workspace, until="call_graph")
    path = workspace.layout.graph_index("project") / "stats.json"
    first = (build_call_graph(workspace), path.read_bytes())

    assert (build_call_graph(workspace), path.read_bytes()) == first


def test_the_order_of_files_does_not_matter() -> None:
    names = list(FILES)
    graph = graph_of(FILES)

    for seed in range(5):
        random.Random(seed).shuffle(names)
        assert graph_of({name: FILES[name] for name in names}) == graph


@pytest.mark.slow
def test_nothing_that_many_files_were_resolved_with_outlives_the_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step, "_MANY_FILES", 2)
    gc.collect()
    before = _scopes_alive()
    gc.disable()
    try:
        build_graph(graph_workspace(tmp_path / "home"), FILES)
        after = _scopes_alive()
    finally:
        gc.enable()

    assert after <= before
    assert split_shape.cache_info().currsize == 0


def _scopes_alive() -> set[int]:
    return {id(found) for found in gc.get_objects() if isinstance(found, ScopedFile | Scope)}
