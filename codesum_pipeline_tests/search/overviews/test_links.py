"""The parts of an overview are linked by calls, imports and bases; references link nothing."""

from pathlib import Path

import pyarrow.compute as pc

from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.search.overviews.overview_inputs import RepositoryView
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

FILES = {
    "a.py": "MOST = 3\n\n\ndef weigh(row):\n    return row[0] + row[1]\n\n\ndef price(row):\n    return row[1] * 2\n",
    "b.py": "from a import MOST, price, weigh\n\n\ndef order(rows):\n    price(rows[0])\n"
    "    return sorted(rows, key=weigh)[:MOST]\n",
}


def test_references_are_no_links(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo", FILES)
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path)))
    build(ws, until="call_graph")
    edges = ws.tables.read("edges", ws.key)
    links = RepositoryView.of(ws, (), ()).links

    others = edges.filter(pc.field("kind") != str(EdgeKind.REFERENCE))
    ws.tables.write("edges", ws.key, others)
    assert others.num_rows == edges.num_rows - 2
    assert RepositoryView.of(ws, (), ()).links == links
    assert links["b.py", "a.py"] > 0


def test_a_repository_without_programs_has_no_links(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo", {"README.md": "# Shop\n"})
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path)))
    build(ws, until="call_graph")

    assert RepositoryView.of(ws, (), ()).links == {}
