"""Edges beside a compiler's index: what it overrules, what it fills in, and where it is not heard."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.ways_in.cli.troubles import index_troubles
from codesum_pipeline_tests.support.homes import Reports, build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.scip_indexes import HandMadeIndex, python_symbol

_SOURCES = {
    "one.py": "class Base:\n    def run(self):\n        return 1\n\n\ndef make():\n    return Base()\n",
    "two.py": "class Other:\n    def run(self):\n        return 2\n\n    def recount_stock(self):\n        return 3\n",
    "use.py": "from one import make\n\n\ndef first(thing):\n    return thing.run()\n"
    "\n\ndef second():\n    return make()\n",
}
# The syntax can only guess: one class has such a method.
_GUESSED = {**_SOURCES, "use.py": "import two\n\n\ndef first(thing):\n    return thing.recount_stock()\n"}
_BASE, _RUN, _MAKE = (python_symbol("one", name) for name in ("Base#", "Base#run().", "make()."))
_OTHER, _OTHER_RUN, _ONLY = (
    python_symbol("two", name) for name in ("Other#", "Other#run().", "Other#recount_stock().")
)


def _definitions(sources: Mapping[str, str] = _SOURCES) -> HandMadeIndex:
    return (
        HandMadeIndex(sources)
        .module("one.py", python_symbol("one"))
        .define("one.py", "Base", _BASE, lines=3)
        .define("one.py", "run", _RUN, lines=2)
        .define("one.py", "make", _MAKE, lines=2)
        .refer("one.py", "Base", _BASE, 1)
        .module("two.py", python_symbol("two"))
        .define("two.py", "Other", _OTHER, lines=6)
        .define("two.py", "run", _OTHER_RUN, lines=2)
        .define("two.py", "recount_stock", _ONLY, lines=2)
        .module("use.py", python_symbol("use"))
        .define("use.py", "first", python_symbol("use", "first()."), lines=2)
        .define("use.py", "second", python_symbol("use", "second()."), lines=2)
    )


def _built(folder: Path, sources: Mapping[str, str], index: HandMadeIndex | None) -> tuple[Workspace, Reports]:
    repo = GitRepo.create(folder / "project", sources)
    if index is not None:
        (repo.path / "index.scip").write_bytes(index.content())
    ws = workspace_of(open_home(folder / "home"), RepositoryEntry("p", str(repo.path)))
    return ws, build(ws, until="call_graph")


def _edges(ws: Workspace, kind: str = "call") -> dict[tuple[str, str], tuple[str, float]]:
    rows = ws.tables.read("edges", ws.key).to_pylist()
    return {(row["src_id"], row["dst"]): (row["reason"], row["confidence"]) for row in rows if row["kind"] == kind}


_TRUSTED = ("scip:scip-python", 1.0)
_DOUBTFUL = ("scip:scip-python", 0.97)


def test_an_index_fills_in_what_the_syntax_leaves_open(tmp_path: Path) -> None:
    index = _definitions().refer("use.py", "run", _RUN).refer("use.py", "make", _MAKE, 1)

    ws, reports = _built(tmp_path, _SOURCES, index)

    edges = _edges(ws)
    assert edges["use.py::first", "one.py::Base::run"] == _TRUSTED
    assert edges["use.py::second", "one.py::make"] == _TRUSTED
    assert ("python", "only the index", "ambiguous", 1) in reports["call_graph"].compiled.lines or (
        "python", "only the index", "unknown", 1,
    ) in reports["call_graph"].compiled.lines  # fmt: skip
    assert reports["call_graph"].compiled.trusted_edges == 3


def test_an_index_overrules_what_the_syntax_says(tmp_path: Path) -> None:
    sources = {
        "a.py": "class A:\n    def go(self):\n        return 1\n",
        "b.py": "from a import A\n\n\nclass B(A):\n    def go(self):\n        return 2\n",
        "use.py": "from a import A\n\n\ndef first(thing: A):\n    return thing.go()\n",
    }
    go = python_symbol("b", "B#go().")
    index = HandMadeIndex(sources).module("a.py", python_symbol("a")).define("b.py", "go", go, lines=2)

    without, _ = _built(tmp_path / "without", sources, None)
    beside, reports = _built(tmp_path / "beside", sources, index.refer("use.py", "go", go))

    assert _edges(without) == {("use.py::first", "a.py::A::go"): ("ast:annotation", 0.93)}
    assert _edges(beside) == {("use.py::first", "b.py::B::go"): _TRUSTED}
    assert ("python", "another target", "ast:annotation", 1) in reports["call_graph"].compiled.lines
    (call,) = reports["call_graph"].compiled.calls
    assert (call.caller_id, call.by_index != call.by_syntax) == ("use.py::first", True)
    told = [each.what for each in index_troubles(open_home(tmp_path / "beside" / "home"), "p")]
    assert f"  use.py::first calls {call.callee}: {call.by_index} by the index, {call.by_syntax} by the syntax" in told


def test_a_guess_that_the_index_contradicts_is_no_edge(tmp_path: Path) -> None:
    outside = "scip-python python library 2.0 `library.things`/Thing#recount_stock()."
    index = HandMadeIndex(_GUESSED).refer("use.py", "recount_stock", outside).module("two.py", python_symbol("two"))

    ws, reports = _built(tmp_path, _GUESSED, index)

    edges = _edges(ws)
    assert ("use.py::first", "two.py::Other::recount_stock") not in edges
    assert edges["use.py::first", "library.things.Thing.recount_stock"] == _TRUSTED
    assert ("python", "outside by the index", "ast:unique-name", 1) in reports["call_graph"].compiled.lines
    (call,) = reports["call_graph"].compiled.calls
    assert call.by_syntax == "two.py::Other::recount_stock" != call.by_index


def test_an_index_that_says_nothing_of_a_call_leaves_it_to_the_syntax(tmp_path: Path) -> None:
    ws, _ = _built(tmp_path, _SOURCES, _definitions())

    assert _edges(ws)["use.py::second", "one.py::make"] == ("ast:import", 0.98)


def test_a_file_of_another_text_keeps_the_edges_of_its_syntax(tmp_path: Path) -> None:
    index = _definitions().refer("use.py", "run", _RUN)
    edited = {**_SOURCES, "use.py": "# One line more.\n" + _SOURCES["use.py"]}

    ws, reports = _built(tmp_path, edited, index)

    assert [path for path, _ in reports["symbols"].compiled.ignored] == ["use.py"]
    assert _edges(ws)["use.py::second", "one.py::make"] == ("ast:import", 0.98)
    assert ("use.py::first", "one.py::Base::run") not in _edges(ws)


def test_beside_an_imported_file_of_another_text_an_index_is_heard_on_open_questions_alone(tmp_path: Path) -> None:
    index = _definitions().refer("use.py", "run", _OTHER_RUN).refer("use.py", "make", _MAKE, 1)
    edited = {**_SOURCES, "one.py": _SOURCES["one.py"] + "\n\ndef more():\n    pass\n# " + "x" * 20 + "\n"}
    edited["one.py"] = "\n" + edited["one.py"]

    ws, _ = _built(tmp_path, edited, index)

    edges = _edges(ws)
    assert edges["use.py::first", "two.py::Other::run"] == _DOUBTFUL
    # Its definition is in a file that the index was not made from.
    assert edges["use.py::second", "one.py::make"] == ("ast:import", 0.98)


def test_in_a_file_that_misnames_symbols_of_the_repository_an_index_does_not_overrule(tmp_path: Path) -> None:
    index = _definitions().refer("use.py", "run", _RUN).refer("use.py", "make", _OTHER_RUN, 1)

    ws, reports = _built(tmp_path, _SOURCES, index)

    assert reports["symbols"].compiled.misnamed == 1
    assert _edges(ws)["use.py::first", "one.py::Base::run"] == _DOUBTFUL
    assert _edges(ws)["use.py::second", "one.py::make"] == ("ast:import", 0.98)


def test_a_property_that_is_called_is_not_what_is_called(tmp_path: Path) -> None:
    sources = {
        "a.py": "class A:\n    @property\n    def kind(self):\n        return list\n"
        "\n    def go(self):\n        return self.kind()\n"
    }
    kind = python_symbol("a", "A#kind().")
    index = HandMadeIndex(sources).define("a.py", "kind", kind).refer("a.py", "kind", kind, 1)

    ws, _ = _built(tmp_path, sources, index)

    assert ("a.py::A::go", "a.py::A::kind") not in _edges(ws)


def test_of_overloads_the_implementation_is_called(tmp_path: Path) -> None:
    sources = {
        "a.py": "from typing import overload\n\n\n@overload\ndef f(x: int) -> int: ...\n"
        "@overload\ndef f(x: str) -> str: ...\n"
        "def f(x):\n    return x\n\n\ndef g():\n    return f(1)\n"
    }
    f = python_symbol("a", "f().")
    # Indexers have the symbol where it is first declared.
    index = HandMadeIndex(sources).define("a.py", "f", f).refer("a.py", "f", f, 3)

    ws, _ = _built(tmp_path, sources, index)

    assert _edges(ws)["a.py::g", "a.py::f"] == _TRUSTED


def test_relationships_become_bases_and_overrides(tmp_path: Path) -> None:
    sources = {
        "a.py": "class A:\n    def run(self):\n        return 1\n",
        "b.py": "from a import A as Base\n\n\nclass B(Base):\n    def run(self):\n        return 2\n",
    }
    a, run = python_symbol("a", "A#"), python_symbol("a", "A#run().")
    b, again = python_symbol("b", "B#"), python_symbol("b", "B#run().")
    index = (
        HandMadeIndex(sources)
        .define("a.py", "A", a)
        .define("a.py", "run", run)
        .refer("b.py", "A", a)
        .define("b.py", "B", b, bases=[a])
        .define("b.py", "run", again, bases=[run])
    )

    ws, _ = _built(tmp_path, sources, index)

    inherits = _edges(ws, "inherit")
    assert inherits["b.py::B::run", "a.py::A::run"] == _TRUSTED
    assert inherits["b.py::B", "a.py::A"][1] in (0.98, 1.0)
    # A method that overrides another one does not call it.
    contexts = {row["id"]: row for row in ws.tables.read("contexts", ws.key).to_pylist()}
    assert contexts["b.py::B::run"]["calls"] == []
    assert contexts["b.py::B::run"]["dependencies"] == ["a.py::A::run"]


def test_modules_that_are_named_become_imports(tmp_path: Path) -> None:
    index = _definitions().refer("use.py", "one", python_symbol("one"))

    ws, _ = _built(tmp_path, _SOURCES, index)

    assert _edges(ws, "import")["use.py", "one.py"] == _TRUSTED


def test_calls_in_a_language_that_no_parser_reads_are_references(tmp_path: Path) -> None:
    sources = {"lib/a.nim": "int twice(int x) {\n  return x * 2;\n}\n\nint four() {\n  return twice(2);\n}\n"}
    twice, four = "scip-nim pub demo 1.0 lib/`a.dart`/twice().", "scip-nim pub demo 1.0 lib/`a.dart`/four()."
    index = (
        HandMadeIndex(sources, tool="scip-nim")
        .define("lib/a.nim", "twice", twice, lines=3, text="Doubles a number.")
        .define("lib/a.nim", "four", four, lines=3)
        .refer("lib/a.nim", "twice", twice, 1)
    )

    ws, reports = _built(tmp_path, sources, index)

    symbols = {row["id"]: row for row in ws.tables.read("symbols", ws.key).to_pylist()}
    assert sorted(symbols) == ["lib/a.nim::four", "lib/a.nim::twice"]
    assert symbols["lib/a.nim::twice"]["docstring"] == "Doubles a number."
    assert symbols["lib/a.nim::twice"]["canonical_source"] == "int twice(int x) {\n  return x * 2;\n}"
    assert (symbols["lib/a.nim::four"]["start_line"], symbols["lib/a.nim::four"]["end_line"]) == (5, 7)
    assert _edges(ws)["lib/a.nim::four", "lib/a.nim::twice"] == ("scip:scip-nim", 1.0)
    assert reports["symbols"].functions == 2


def test_an_index_decides_about_calls_in_a_language_that_is_read_by_a_table(tmp_path: Path) -> None:
    sources = {
        "lib/a.dart": "class One {\n  int twice(int x) => x * 2;\n}\n\nint four(One a) {\n  return a.twice(2);\n}\n",
        "lib/b.dart": "class Two {\n  int twice(int x) => x + x;\n}\n",
    }
    twice, four = "scip-dart pub demo 1.0 lib/`a.dart`/One#twice().", "scip-dart pub demo 1.0 lib/`a.dart`/four()."
    index = (
        HandMadeIndex(sources, tool="scip-dart")
        .define("lib/a.dart", "twice", twice)
        .define("lib/a.dart", "four", four, lines=3)
        .refer("lib/a.dart", "twice", twice, 1)
    )

    ws, reports = _built(tmp_path, sources, index)

    assert _edges(ws)["lib/a.dart::four", "lib/a.dart::One::twice"] == ("scip:scip-dart", 1.0)
    assert reports["symbols"].functions == 3


def test_what_a_macro_makes_becomes_a_symbol_of_its_file(tmp_path: Path) -> None:
    sources = {"src/lib.rs": "getters! { name }\n\npub fn show(x: &Thing) -> String {\n    x.name()\n}\n"}
    name, show = "rust-analyzer cargo demo 0.1.0 Thing#name().", "rust-analyzer cargo demo 0.1.0 show()."
    index = (
        HandMadeIndex(sources, tool="rust-analyzer")
        .define("src/lib.rs", "name", name)
        .define("src/lib.rs", "show", show, lines=3)
        .refer("src/lib.rs", "name", name, 1)
    )

    ws, _ = _built(tmp_path, sources, index)

    symbols: dict[str, Any] = {row["id"]: row for row in ws.tables.read("symbols", ws.key).to_pylist()}
    assert "src/lib.rs::Thing::name" in symbols
    assert symbols["src/lib.rs::Thing::name"]["start_line"] == 1
    assert _edges(ws)["src/lib.rs::show", "src/lib.rs::Thing::name"] == ("scip:rust-analyzer", 1.0)


def test_a_generated_member_is_a_symbol_where_it_is_made_from(tmp_path: Path) -> None:
    sources = {"A.java": "class A {\n  int size;\n  int twice() {\n    return getSize() * 2;\n  }\n}\n"}
    a, size, get, twice = (
        f"semanticdb maven demo 1.0 {end}" for end in ("A#", "A#size.", "A#getSize().", "A#twice().")
    )
    index = (
        HandMadeIndex(sources, tool="scip-java")
        .define("A.java", "A", a, lines=6)
        .define("A.java", "size", size)
        .define("A.java", "size", get, text="```java\npublic int getSize()\n```\nGenerated.")
        .define("A.java", "twice", twice, lines=3)
        .refer("A.java", "getSize", get)
    )

    ws, _ = _built(tmp_path, sources, index)

    symbols = {row["id"]: row for row in ws.tables.read("symbols", ws.key).to_pylist()}
    made = symbols["A.java::A::getSize"]
    assert (made["signature"], made["docstring"], made["start_line"]) == ("public int getSize()", "Generated.", 2)
    assert made["parent_id"] == "A.java::A"
    assert _edges(ws)["A.java::A::twice", "A.java::A::getSize"] == ("scip:scip-java", 1.0)
