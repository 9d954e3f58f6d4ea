"""A file is resolved again exactly where something changed that it had asked for, and it reads nothing else."""

from functools import lru_cache
from typing import Any

import pytest
from msgspec import json
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.file import FileStatus, SourceFile
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.scopes import Row
from codesum_pipeline.foundation.data_model.symbol import FileFacts
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.foundation.store.rows import to_table
from codesum_pipeline.graph.resolution import Resolution, resolve_files
from codesum_pipeline.graph.resolvers import cells, families
from codesum_pipeline.graph.resolvers.cells import places_of
from codesum_pipeline.graph.resolvers.families import (
    LoadedFiles,
    _DeclaredFamily,
    families_of,
    indexed_paths,
    load_files,
)
from codesum_pipeline.graph.resolvers.file_edges import EdgeTable, edges_of_file
from codesum_pipeline.graph.resolvers.lookup_table import LookupTable
from codesum_pipeline.graph.resolvers.python.python_resolver import PythonResolver, telling_names
from codesum_pipeline.languages.declarations.python.module_paths import ModulePaths
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline_tests.graph.code_mixes import CodeMix, Sources
from codesum_pipeline_tests.graph.declared_mixes import MIXES
from codesum_pipeline_tests.graph.python_mixes import PYTHON
from codesum_pipeline_tests.graph.strict_reading import Allowed, StrictFiles, StrictPaths
from codesum_pipeline_tests.graph.strict_tables import poison

# What resolving gives of each file.
Resolved = dict[str, Any]


@lru_cache(maxsize=5000)
def _facts_of(path: str, source: str) -> Row:
    language = language_of_path(path)
    parsed = parse_file(path, language, source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)
    assert parsed.facts.language == "python" or not path.endswith(".py"), source
    row: Row = to_table([parsed.facts], FileFacts).to_pylist()[0]
    return row


def _load(sources: Sources) -> tuple[LoadedFiles, list[SourceFile]]:
    places = [
        SourceFile(
            path, "", len(text), "", language_of_path(path), FileStatus.INDEXED, None, path.startswith("tests/"), False
        )
        for path, text in sorted(sources.items())
    ]
    return load_files([_facts_of(path, sources[path]) for path in sorted(sources)]), places


def _resolve(sources: Sources, last: Resolution | None) -> tuple[Resolution, Resolved]:
    """Resolve what must be; the resolution is that which the next build reads."""
    loaded, places = _load(sources)
    found = families_of(loaded, places, indexed_paths(places), root=".")
    resolution, tables = resolve_files(found, last, loaded.guard, settings="", compiled=sources.keys())
    assert loaded.guard.failures == ()
    return decode(json.encode(resolution), Resolution), {path: _shown(table) for path, table in tables.items()}


def _shown(table: EdgeTable) -> Any:
    aliases = sorted(table.aliases, key=repr)
    return [*table.edges()], table.calls, aliases, dict(table.outcomes)


def _path(document_id: str) -> str:
    return document_id.partition(SEPARATOR)[0]


def _seeds(count: int, *, quick: int) -> list[Any]:
    return [seed if seed < quick else pytest.param(seed, marks=pytest.mark.slow) for seed in range(count)]


@pytest.mark.parametrize("seed", _seeds(40, quick=2))
def test_after_any_changes_edges_and_records_are_those_of_a_clean_build(seed: int) -> None:
    resolved, total, links = _follow_changes(CodeMix.of_seed(seed, PYTHON), 100)

    assert links > total / 4
    assert resolved < total / 2


@pytest.mark.parametrize("seed", _seeds(8, quick=1))
@pytest.mark.parametrize("family", MIXES)
def test_after_any_changes_edges_and_records_of_a_family_are_those_of_a_clean_build(family: str, seed: int) -> None:
    resolved, total, links = _follow_changes(CodeMix.of_seed(seed, MIXES[family]), 100 if seed else 20)

    assert links > total / 20
    assert resolved < total * 0.8


def _follow_changes(mix: CodeMix, changes: int) -> tuple[int, int, int]:
    """How many files were resolved after all changes, how many clean builds did, and how many edges of theirs lead to
    another file."""
    last, known = _resolve(mix.sources, None)
    resolved = total = links = 0
    for _ in range(changes):
        mix.change()
        sources = mix.sources
        last, found = _resolve(sources, last)
        known = {path: edges for path, edges in known.items() if path in sources} | found
        clean, expected = _resolve(sources, None)
        assert known == expected, sources
        assert last == clean
        resolved, total = resolved + len(found), total + len(expected)
        edges = (edge for edges, *_ in expected.values() for edge in edges)
        links += sum(_path(edge.src_id) != _path(edge.dst) and not edge.is_external for edge in edges)
    return resolved, total, links


@pytest.mark.parametrize("seed", _seeds(60, quick=4))
def test_a_file_reads_nothing_of_others_that_its_record_lacks(seed: int) -> None:
    loaded, places = _load(CodeMix.of_seed(seed, PYTHON).sources)
    files = loaded.python
    telling = {path: telling_names(files[path]) for path in files}
    paths = ModulePaths(places, files, root=".")
    for path in files:
        plain = edges_of_file(PythonResolver(files, paths, telling), files[path])
        assert plain.lookups is not None
        allowed = Allowed(plain.lookups)

        strict_paths = StrictPaths(places, files, root=".")
        strict_paths.allowed = allowed
        told = {
            one: {name: place for name, place in names.items() if allowed.has_method(name)}
            for one, names in telling.items()
        }
        strict_files = StrictFiles(files, path, allowed)
        strict = edges_of_file(PythonResolver(strict_files, strict_paths, told), strict_files[path])

        assert _shown(strict) == _shown(plain)


@pytest.mark.parametrize("seed", _seeds(8, quick=1))
@pytest.mark.parametrize("family", MIXES)
def test_a_file_of_a_family_reads_nothing_of_others_that_its_record_lacks(family: str, seed: int) -> None:
    sources = CodeMix.of_seed(seed, MIXES[family]).sources

    for path in CodeMix.of_seed(seed, MIXES[family]).files:
        loaded, places = _load(sources)
        (of_path,) = (one for one in families_of(loaded, places, indexed_paths(places), root=".") if path in one.rows)
        assert isinstance(of_path, _DeclaredFamily)
        resolver = of_path._resolver
        plain = edges_of_file(resolver, resolver.files[path])
        assert plain.lookups is not None

        poison(resolver, path)
        strict = edges_of_file(resolver, resolver.files[path])

        assert _shown(strict) == _shown(plain)


PARTS = """\
from kinds import *

class Engine:
    def start(self): pass

class Base:
    def run(self): pass

class Thing(Base):
    def __init__(self):
        self.engine = Engine()

    @property
    def again(self) -> "Thing":
        return self

def make():
    return Thing()

def drawn():
    yield Thing()

def spare(x):
    return x
"""
USES = {
    "an attribute": "import parts\nparts.Thing().engine.start()\n",
    "a base": "from parts import Thing\nThing().run()\n",
    "a result": "from parts import make\nmake().run()\n",
    "what is drawn": "import parts\nfor one in parts.drawn(): one.run()\n",
    "a property": "from parts import Thing\nThing().again.run()\n",
    "a star import of a star import": "from parts import *\nkind_of()\n",
    "a unique method": "import parts\ndef f(x): x.leave_for_good()\n",
    "a module": "import later\nlater.go()\n",
}
OTHERS = {"kinds.py": "def kind_of(): pass\n", "far.py": "class Far:\n    def leave_for_good(self): pass\n"}
ONLY = "def f(x): return x\n"


@pytest.mark.parametrize(
    ("path", "old", "new", "affected"),
    [
        ("parts.py", "= Engine()", "= 1", ["an attribute"]),
        ("parts.py", "= Engine()", "= Engine(1)", []),
        (
            "parts.py",
            "class Thing(Base)",
            "class Thing(Engine)",
            ["a base", "an attribute", "a property", "a result", "what is drawn"],
        ),
        ("parts.py", "return Thing()", "return Engine()", ["a result"]),
        ("parts.py", "def make()", "def make() -> Engine", ["a result"]),
        ("parts.py", "yield Thing()", "yield Engine()", ["what is drawn"]),
        ("parts.py", "    @property\n", "", ["a property"]),
        ("parts.py", '-> "Thing"', '-> "Engine"', ["a property"]),
        ("parts.py", "def spare(x)", "def spare(x, y)", []),
        ("parts.py", "return x", "return make(x)", []),
        ("parts.py", "def spare", "def fresh(): pass\n\ndef spare", []),
        ("parts.py", "class Engine", "other = [spare(x) for x in (lambda y: y)(1)]\n\nclass Engine", []),
        ("parts.py", "from kinds", "\n\n\nfrom kinds", []),
        ("parts.py", "def spare", "def kind_of", ["a star import of a star import"]),
        ("parts.py", "from kinds import *", "", ["a star import of a star import"]),
        ("kinds.py", "def kind_of", "__all__ = []\ndef kind_of", ["a star import of a star import"]),
        ("kinds.py", "kind_of", "sort_of", ["a star import of a star import"]),
        ("far.py", "class Far", "class Near", ["a unique method"]),
        ("parts.py", "def start", "def leave_for_good", ["a unique method", "an attribute"]),
        ("later.py", "", "def go(): pass\n", ["a module"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_change_is_seen_by_the_files_that_asked_for_it(path: str, old: str, new: str, affected: list[str]) -> None:
    users = {f"uses/{use}.py": text for use, text in USES.items()}
    sources = {"parts.py": PARTS, **OTHERS, **users}
    last, _ = _resolve(sources, None)

    changed = {**sources, path: sources.get(path, "").replace(old, new, 1)}
    assert changed != sources
    found = _resolve(changed, last)[1]

    assert {one for one in found if one in users} == {f"uses/{use}.py" for use in affected}


@pytest.mark.parametrize("packages", [3, 12])
def test_what_a_new_function_costs_does_not_grow_with_the_repository(packages: int) -> None:
    sources = {"core.py": PARTS}
    for number in range(packages):
        sources |= {
            f"package_{number}/__init__.py": f"from package_{number}.maker import *\n",
            f"package_{number}/maker.py": "import core\n\ndef build():\n    return core.Thing()\n",
            f"package_{number}/user.py": f"from package_{number} import build\nbuild().run()\n",
        }
    last, _ = _resolve(sources, None)

    of_core = _resolve({**sources, "core.py": f"{PARTS}\ndef fresh(): pass\n"}, last)[1]
    of_package = _resolve(
        {**sources, "package_1/maker.py": "def fresh(): pass\n" + sources["package_1/maker.py"]}, last
    )[1]
    of_file = _resolve({**sources, "package_1/fresh.py": "def fresh(): pass\n"}, last)[1]

    assert [*map(sorted, (of_core, of_package, of_file))] == [
        ["core.py"],
        ["package_1/__init__.py", "package_1/maker.py"],
        ["package_1/fresh.py"],
    ]


@pytest.mark.parametrize(
    ("path", "text", "is_read"),
    [
        ("main.go", "package main\n", False),
        ("Main.java", "class Main {}\n", False),
        ("main.zig", "fn f() void {}\n", True),
    ],
)
def test_another_file_has_the_names_of_a_family_read_where_its_imports_name_files(
    path: str, text: str, is_read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    last, _ = _resolve({path: text}, None)
    made: list[str] = []
    resolver = families.DeclaredResolver
    monkeypatch.setattr(families, "DeclaredResolver", lambda *about: (made.append(path), resolver(*about))[1])

    found = _resolve({path: text, "NOTES.md": "Notes.\n"}, last)[1]

    assert (found, bool(made)) == ({}, is_read)


WEB = {
    "parts.ts": """\
import { Engine } from "./engine";
export class Thing extends Engine {
  engine = new Engine();
  turn(n: number): Thing { return this; }
}
export function make() { return new Thing(); }
export function spare(x) { return x; }
const hidden = 1;
""",
    "engine.ts": "export class Engine { start() {} leaveForGood() {} }\n",
    "all.ts": "export * from './parts';\n",
}
WEB_USES = {
    "a field": "import { Thing } from './parts';\nnew Thing().engine.start();\n",
    "a base": "import { Thing } from './parts';\nnew Thing().leaveForGood();\n",
    "a result": "import { make } from './all';\nmake().turn(1);\n",
    "a unique method": "import './engine';\nfunction f(x) { x.leaveForGood(); }\n",
    "a module": "import { go } from './later';\ngo();\n",
}


@pytest.mark.parametrize(
    ("path", "old", "new", "affected"),
    [
        ("parts.ts", "engine = new Engine()", "engine = 1", ["a field"]),
        ("parts.ts", "engine = new Engine()", "engine = new Other()", ["a field"]),
        ("parts.ts", "extends Engine ", "", ["a base", "a field", "a result"]),
        ("parts.ts", "return new Thing()", "return new Engine()", ["a result"]),
        ("parts.ts", "turn(n: number)", "turn(n: number, m: number)", ["a result"]),
        ("parts.ts", "spare(x)", "spare(x, y)", []),
        ("parts.ts", "return x;", "const y = make(x); return y;", []),
        ("parts.ts", "const hidden", "export function fresh() {}\nconst hidden", []),
        ("parts.ts", "import", "\n\n\nimport", []),
        ("all.ts", "export", "export * from './engine';\nexport", ["a result"]),
        ("engine.ts", "leaveForGood", "leaveForNow", ["a base", "a unique method"]),
        ("parts.ts", "turn(", "leaveForGood(", ["a base", "a result", "a unique method"]),
        ("later.ts", "", "export function go() {}\n", ["a module"]),
        ("README.md", "", "A text.\n", []),
        ("far.go", "", "package far\n\nfunc Thing() {}\n", []),
        ("package.json", "", '{"name": "other", "version": "2"}\n', []),
        ("tsconfig.json", "", '{"compilerOptions": {"paths": {"./later": ["./parts"]}}}\n', []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_change_of_a_module_is_seen_by_the_modules_that_asked_for_it(
    path: str, old: str, new: str, affected: list[str]
) -> None:
    users = {f"{use.replace(' ', '_')}.ts": text for use, text in WEB_USES.items()}
    sources = WEB | users
    last, _ = _resolve(sources, None)

    changed = {**sources, path: sources.get(path, "").replace(old, new, 1)}
    assert changed != sources
    found = _resolve(changed, last)[1]

    assert {one for one in found if one in users} == {f"{use.replace(' ', '_')}.ts" for use in affected}


@pytest.mark.parametrize("packages", [3, 12])
def test_what_a_new_name_costs_in_a_module_or_package_does_not_grow_with_the_repository(packages: int) -> None:
    sources = {"go.mod": "module example.org/m\n", "core/core.go": "package core\n\nfunc Make() {}\n"}
    for number in range(packages):
        sources |= {
            f"p{number}/make.go": f'package p{number}\n\nimport "example.org/m/core"\n\nfunc F() {{ core.Make() }}\n',
            f"p{number}/use.go": f"package p{number}\n\nfunc G() {{ F() }}\n",
            f"web/p{number}/index.js": "export * from './make';\nexport function own() {}\n",
            f"web/p{number}/make.js": "export function make() { return 1; }\n",
            f"web/p{number}/use.js": "import { make } from '.';\nmake();\n",
        }
    last, _ = _resolve(sources, None)

    found = [
        sorted(_resolve({**sources, path: sources.get(path, "package p1\n") + text}, last)[1])
        for path, text in {
            "core/core.go": "\nfunc Fresh() {}\n",
            "p1/make.go": "\nfunc Fresh() {}\n",
            "p1/fresh.go": "\nfunc Fresh() {}\n",
            "web/p1/use.js": "\nfunction fresh() {}\n",
            "web/p1/index.js": "\nexport function fresh() {}\n",
        }.items()
    ]

    assert found == [["core/core.go"], ["p1/make.go"], ["p1/fresh.go"], ["web/p1/use.js"], ["web/p1/index.js"]]


@pytest.mark.parametrize("most", [10, 10_000], ids=["more than are kept", "as many as are kept"])
def test_a_file_that_asks_for_more_than_is_kept_is_resolved_again_after_any_change(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "MOST_CELLS", most)
    names = [f"name_{number}" for number in range(20)]
    user = "import parts\n" + "".join(f"parts.{name}()\n" for name in names)
    sources = {"parts.py": "".join(f"def {name}(): pass\n" for name in names), "user.py": user, "far.py": ONLY}
    last, _ = _resolve(sources, None)

    assert _resolve(sources, last)[1] == {}
    changed = _resolve({**sources, "far.py": ONLY.replace("x", "y")}, last)[1]
    assert sorted(changed) == ["far.py", "user.py"] if most < 20 else ["far.py"]


def test_records_that_do_not_fit_together_are_not_used() -> None:
    last, _ = _resolve(OTHERS | {"user.py": "import far\nfar.Far()\n"}, None)
    table = last.lookups

    assert table.is_whole
    assert not replace(table, cells=table.cells[:-1]).is_whole
    assert not replace(table, cells=table.cells[:24]).is_whole
    assert not replace(table, numbers={"user.py": b"\0\0\0"}).is_whole
    assert not replace(table, modules=(*table.modules, "far")).is_whole
    assert LookupTable().is_whole


@pytest.mark.parametrize(("depth", "innermost"), [(2, "m/l1/l1"), (3_000, None)], ids=["as they are", "as hashes"])
def test_places_of_scopes_in_scopes_are_distinct_and_short(depth: int, innermost: str | None) -> None:
    loaded, _ = _load({"a.py": f"f = {'lambda: ' * depth}1\n"})
    places = places_of(loaded.python["a.py"])

    assert len({*places}) == depth + 1
    assert max(map(len, places)) <= 1_000
    assert innermost in (None, places[-1])
