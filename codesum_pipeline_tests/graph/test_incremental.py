"""Only what changed is resolved again, and the graph is the one that a clean build gives."""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.edge import Edge
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.store import table_by_parts
from codesum_pipeline.foundation.store.schemas import TableSpec
from codesum_pipeline.foundation.store.tables import TableStore
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.graph.resolution import TABLES
from codesum_pipeline.graph.resolvers.late_facts import read_facts
from codesum_pipeline_tests.foundation.store.test_table_parts import cut_by
from codesum_pipeline_tests.graph.mixed_project import PROJECT, Files, edited
from codesum_pipeline_tests.graph.tables import build_graph, graph_of, graph_workspace


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_after_any_edits_the_graph_is_that_of_a_clean_build(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    ws, clean = graph_workspace(tmp_path / "home"), graph_workspace(tmp_path / "clean", force=True)
    files = PROJECT

    for _ in range(25 if seed else 12):
        files = edited(files, chance)
        report, expected = build_graph(ws, files), build_graph(clean, files)
        assert graph_of(ws) == graph_of(clean), files
        assert replace(report, files_resolved=expected.files_resolved) == expected


@pytest.mark.parametrize("modulus", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_after_any_edits_a_graph_in_parts_is_that_of_a_clean_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, modulus: int
) -> None:
    cut_by(modulus, monkeypatch)
    chance = random.Random(modulus)
    ws, clean = graph_workspace(tmp_path / "home"), graph_workspace(tmp_path / "clean", force=True)
    files = PROJECT

    for _ in range(8):
        files = edited(files, chance)
        build_graph(ws, files), build_graph(clean, files)
        assert graph_of(ws) == graph_of(clean), files
        for table in TABLES:
            assert ws.tables.path(table, ws.key).read_bytes() == clean.tables.path(table, clean.key).read_bytes()


def test_of_the_facts_of_files_only_those_are_read_that_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_by(1, monkeypatch)
    ws = graph_workspace(tmp_path)
    build_graph(ws, PROJECT)
    read: set[str] = set()
    read_groups = table_by_parts.read_groups

    def recorded(spec: TableSpec, repo: str, file: Any, groups: Any, columns: list[str]) -> pa.Table:
        found = read_groups(spec, repo, file, groups, columns)
        if "references" in columns:
            read.update(found["file_path"].to_pylist())
        return found

    monkeypatch.setattr(table_by_parts, "read_groups", recorded)

    build_graph(ws, _replaced("shop/prices.py", "    basket.", "    new = 1\n    basket."))
    assert {path.rpartition("/")[0] for path in read} == {"shop"}
    assert len(read) < sum(path.startswith("shop/") for path in PROJECT)


@pytest.mark.parametrize("others", [{"a.py": "a = 1\n"}, {}], ids=["with a file more", "with all files but one"])
def test_facts_of_a_table_that_another_build_replaced_are_refused(tmp_path: Path, others: Files) -> None:
    ws, other = graph_workspace(tmp_path / "home"), graph_workspace(tmp_path / "other")
    build_graph(ws, PROJECT)
    build_graph(other, {**PROJECT, **others} if others else dict([*sorted(PROJECT.items())][:-1]))
    short = ws.tables.read

    class Replaced(TableStore):
        """A table whose first columns were read before another build replaced it."""

        def read(self, table: str, repo: str, *, columns: list[str] | None = None) -> pa.Table:
            return short(table, repo, columns=columns)

    row = read_facts(replace(other, tables=Replaced(other.tables.root)))[-1]

    with pytest.raises(BrokenStore, match="was replaced by another build"):
        row["references"]


def _replaced(path: str, old: str, new: str) -> Files:
    assert old in PROJECT[path]
    return {**PROJECT, path: PROJECT[path].replace(old, new, 1)}


@pytest.mark.parametrize(
    ("files", "resolved"),
    [
        pytest.param(PROJECT, 0, id="nothing"),
        pytest.param(_replaced("README.md", "Mixed", "Other"), 0, id="a text"),
        pytest.param({**PROJECT, "shop/NOTES": "Of no language.\n"}, 0, id="a new text"),
        pytest.param(
            _replaced("shop/prices.py", "def ping", "# why\n\ndef ping"),
            1,
            id="a comment that moves lines",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            _replaced("shop/prices.py", "    basket.", "    open(basket).read()\n    basket."), 1, id="a call"
        ),
        pytest.param(
            _replaced("shop/prices.py", "    basket.", "    new = 1\n    basket."),
            1,
            id="a variable",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            _replaced("shop/stores.py", "(lambda y: y)", "(lambda: lambda y: y)()"),
            1,
            id="a lambda",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            _replaced("shop/base.py", "    rest =", "    import json\n        rest ="),
            1,
            id="an inner import",
            marks=pytest.mark.slow,
        ),
        pytest.param(_replaced("web/index.ts", "local.draw", "local.next();\n  local.draw"), 1, id="another language"),
        pytest.param(
            _replaced("web/index.ts", "const local =", "const spare = 1, local ="),
            1,
            id="its variable",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            _replaced("run/main.go", "s.Put(1)", "s.Put(1)\n\ts.Put(2)"), 1, id="a third one", marks=pytest.mark.slow
        ),
        pytest.param(_replaced("shop/cart.py", "found = prices", "found = len"), 1, id="what is returned, unused"),
        pytest.param(
            _replaced("shop/stores.py", "other = ping", "other = len"),
            1,
            id="what an attribute is",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            _replaced("shop/base.py", "def again", "def anew"),
            1,
            id="a method's name",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            _replaced("shop/cart.py", "registry = Cart", "registry = len"),
            3,
            id="a global",
            marks=pytest.mark.slow,
        ),
        pytest.param({**PROJECT, "shop/new.py": "a = 1\n"}, 1, id="a new module"),
        pytest.param(_replaced("web/helper.ts", "): Widget", "): number"), 3, id="a return type"),
        pytest.param(_replaced("web/package.json", "./index.ts", "./widget.ts"), 0, id="a project file"),
        pytest.param(_replaced("go.mod", "org/mod", "org/other"), 1, id="a project file by which a package is found"),
    ],
)
def test_files_are_resolved_again_where_something_changed_that_they_may_see(
    tmp_path: Path, files: Files, resolved: int
) -> None:
    ws, clean = graph_workspace(tmp_path / "home"), graph_workspace(tmp_path / "clean")
    build_graph(ws, PROJECT)

    report = build_graph(ws, files)

    assert report == replace(build_graph(clean, files), files_resolved=resolved)
    assert graph_of(ws) == graph_of(clean)


@pytest.mark.slow
@pytest.mark.parametrize("table", ["edges", "graph_stats", "contexts"])
def test_what_a_killed_build_left_is_not_carried_over(tmp_path: Path, table: str) -> None:
    ws, other = graph_workspace(tmp_path / "home"), graph_workspace(tmp_path / "other")
    complete = build_graph(ws, PROJECT)
    expected = graph_of(ws)
    build_graph(other, _replaced("shop/prices.py", "    basket.", "    cart.open_cart()\n    pong(1)\n    basket."))
    ws.tables.write(table, ws.key, other.tables.read(table, ws.key))

    assert build_graph(ws, PROJECT) == complete
    assert graph_of(ws) == expected


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(
            lambda text: re.sub(rb'(?<="cells":")[^"]*', lambda cells: b"A" * len(cells[0]), text), id="cells"
        ),
        pytest.param(lambda text: text[: len(text) // 2], id="cut"),
        pytest.param(lambda _: b"", id="empty"),
        pytest.param(lambda text: text[text.index(b"\n") + 1 :], id="without a hash"),
        pytest.param(lambda text: b"\xff" + text[1:], id="no text"),
    ],
)
def test_a_damaged_memo_is_not_used(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    ws, clean = graph_workspace(tmp_path / "home"), graph_workspace(tmp_path / "clean", force=True)
    complete = build_graph(ws, PROJECT)
    memo = ws.layout.memos(ws.key) / "call_graph.files.json"
    memo.write_bytes(damage(memo.read_bytes()))
    files = _replaced("shop/cart.py", "registry = Cart", "registry = len")

    assert build_graph(ws, files).files_resolved == complete.files_resolved
    build_graph(clean, files)
    assert graph_of(ws) == graph_of(clean)


@pytest.mark.parametrize(
    "of",
    [
        pytest.param(lambda home: graph_workspace(home, force=True), id="a forced run"),
        pytest.param(lambda home: graph_workspace(home, top_k_callers=1), id="another setting"),
        pytest.param(
            lambda home: replace(graph_workspace(home), versions={"graph": "other"}), id="another version of the graph"
        ),
    ],
)
def test_every_file_is_resolved_by(tmp_path: Path, of: Callable[[Path], Workspace]) -> None:
    complete = build_graph(graph_workspace(tmp_path), PROJECT)

    assert build_graph(of(tmp_path), PROJECT).files_resolved == complete.files_resolved


# The result of `two` is unknown where `one` is asked for first, so that its method is found by its name alone.
CIRCLE = {
    "a.py": "import b\n\ndef first():\n    pass\n",
    "b.py": """\
class Thing:
    def leave_for_good(self):
        pass

def one(n):
    return two(n) if n else Thing()

def two(n):
    return one(n) or two(n)

def use():
    two(1).leave_for_good()
""",
}


def test_what_a_circle_of_names_means_in_a_file_does_not_depend_on_the_calls_of_others(tmp_path: Path) -> None:
    ws = graph_workspace(tmp_path, force=True)
    build_graph(ws, CIRCLE)
    before = _edges_of(ws, "b.py")

    build_graph(ws, {**CIRCLE, "a.py": CIRCLE["a.py"].replace("pass", "b.one(1).leave_for_good()")})

    assert _edges_of(ws, "b.py") == before


@pytest.mark.parametrize(
    ("other", "found"),
    [("def fold(): pass\n", ["box.py::Box::fold_edges"]), ("class Map:\n    def fold_edges(self): pass\n", [])],
    ids=["one class alone has it", "two classes have it"],
)
def test_whether_a_name_alone_tells_a_method_is_known_of_files_that_did_not_change(
    tmp_path: Path, other: str, found: list[str]
) -> None:
    files = {
        "box.py": "class Box:\n    def fold_edges(self): pass\n",
        "main.py": "import box\n\ndef f(x):\n    pass\n",
        "other.py": other,
    }
    ws = graph_workspace(tmp_path)
    build_graph(ws, files)

    report = build_graph(ws, {**files, "main.py": files["main.py"].replace("pass", "x.fold_edges()")})

    assert report.files_resolved == 1
    assert [edge.dst for edge in _edges_of(ws, "main.py::f")] == found


@pytest.mark.parametrize(
    ("files", "path", "old", "new", "user", "used"),
    [
        pytest.param(
            {
                "Cargo.toml": '[package]\nname = "one"\n',
                "src/lib.rs": "mod a;\nmod b;\n",
                "src/a.rs": "#[cfg(not(unix))]\npub fn open() {}\n",
                "src/b.rs": "#[cfg(unix)]\npub fn start() { hand_over(crate::a::open); }\n",
            },
            *("src/a.rs", "not(unix)", "unix", "src/b.rs::start", "src/a.rs::open"),
            id="the condition of a function",
        ),
        pytest.param(
            {"A.swift": "private let LIMIT = 1\n", "B.swift": "func start() -> Int { return LIMIT }\n"},
            *("A.swift", "private ", "", "B.swift::start", "A.swift::LIMIT"),
            id="whether a constant is private",
        ),
        pytest.param(
            {"A.swift": "private func go() {}\n", "B.swift": "func start() { hand(go) }\n"},
            *("A.swift", "private ", "", "B.swift::start", "A.swift::go"),
            id="whether a function is private",
        ),
    ],
)
def test_what_others_may_use_is_seen_by_files_of_declared_languages(
    tmp_path: Path, files: Files, path: str, old: str, new: str, user: str, used: str
) -> None:
    ws, clean = graph_workspace(tmp_path / "home"), graph_workspace(tmp_path / "clean", force=True)
    build_graph(ws, files)
    before = [edge.dst for edge in _edges_of(ws, user)]
    changed = {**files, path: files[path].replace(old, new)}

    build_graph(ws, changed)
    build_graph(clean, changed)

    assert used not in before
    assert used in [edge.dst for edge in _edges_of(ws, user)]
    assert graph_of(ws) == graph_of(clean)


def _edges_of(ws: Workspace, path: str) -> list[Edge]:
    return [edge for edge in ws.tables.read_rows("edges", ws.key, Edge) if edge.src_id.startswith(path)]
