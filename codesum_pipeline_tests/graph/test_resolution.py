"""Which calls become edges, by which rule, and which must not."""

import pytest

from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline_tests.graph.sources import calls_of, edges_of, external_calls_of

TARGET = "def target(): pass\n"
ENGINE = "class Engine:\n    def start(self): pass\n    def twin(self) -> 'Engine': pass\n"


@pytest.mark.parametrize(
    ("sources", "edge", "reason"),
    [
        pytest.param(
            {"pkg/__init__.py": "", "pkg/a.py": TARGET, "main.py": "from pkg.a import target\ndef f(): target()\n"},
            ("main.py::f", "pkg/a.py::target"),
            "ast:import",
            id="absolute import of a name",
        ),
        pytest.param(
            {"pkg/__init__.py": "", "pkg/a.py": TARGET, "pkg/b.py": "from .a import target\ndef f(): target()\n"},
            ("pkg/b.py::f", "pkg/a.py::target"),
            "ast:import",
            id="relative import",
        ),
        pytest.param(
            {
                "pkg/__init__.py": "",
                "pkg/a.py": TARGET,
                "pkg/sub/__init__.py": "",
                "pkg/sub/b.py": "from ..a import target\ndef f(): target()\n",
            },
            ("pkg/sub/b.py::f", "pkg/a.py::target"),
            "ast:import",
            id="relative import from a package above",
        ),
        pytest.param(
            {"pkg/__init__.py": "", "pkg/a.py": TARGET, "main.py": "from pkg.a import target as t\ndef f(): t()\n"},
            ("main.py::f", "pkg/a.py::target"),
            "ast:import",
            id="alias of a name",
        ),
        pytest.param(
            {"pkg/__init__.py": "", "pkg/a.py": TARGET, "main.py": "import pkg.a as p\ndef f(): p.target()\n"},
            ("main.py::f", "pkg/a.py::target"),
            "ast:import",
            id="alias of a module",
        ),
        pytest.param(
            {"pkg/__init__.py": "", "pkg/a.py": TARGET, "main.py": "import pkg.a\ndef f(): pkg.a.target()\n"},
            ("main.py::f", "pkg/a.py::target"),
            "ast:import",
            id="package.module.function",
        ),
        pytest.param(
            {"pkg/__init__.py": "", "pkg/a.py": TARGET, "main.py": "from pkg import a\ndef f(): a.target()\n"},
            ("main.py::f", "pkg/a.py::target"),
            "ast:import",
            id="module.function",
        ),
        pytest.param(
            {"pkg/__init__.py": "", "pkg/a.py": ENGINE, "main.py": "import pkg.a\ndef f(): pkg.a.Engine.start(1)\n"},
            ("main.py::f", "pkg/a.py::Engine::start"),
            "ast:import",
            id="package.module.Class.method",
        ),
        pytest.param(
            {
                "pkg/__init__.py": "from .mid import target",
                "pkg/mid.py": "from ._low import target as target\n",
                "pkg/_low.py": TARGET,
                "main.py": "from pkg import target\ndef f(): target()\n",
            },
            ("main.py::f", "pkg/_low.py::target"),
            "ast:import",
            id="re-exports in a chain",
        ),
        pytest.param(
            {
                "pkg/__init__.py": "from .a import *",
                "pkg/a.py": "__all__ = ['target']\n" + TARGET,
                "main.py": "import pkg\ndef f(): pkg.target()\n",
            },
            ("main.py::f", "pkg/a.py::target"),
            "ast:import",
            id="star import of an exported name",
        ),
        pytest.param(
            {"src/pkg/__init__.py": TARGET, "tests/test_a.py": "import pkg\ndef test(): pkg.target()\n"},
            ("tests/test_a.py::test", "src/pkg/__init__.py::target"),
            "ast:import",
            id="src layout",
        ),
        pytest.param(
            {"src/ns/pkg/a.py": TARGET, "src/main.py": "from ns.pkg.a import target\ndef f(): target()\n"},
            ("src/main.py::f", "src/ns/pkg/a.py::target"),
            "ast:import",
            id="packages without __init__",
        ),
        pytest.param(
            {"scripts/one.py": TARGET, "scripts/two.py": "import one\ndef f(): one.target()\n"},
            ("scripts/two.py::f", "scripts/one.py::target"),
            "ast:import",
            id="scripts in one folder",
        ),
        pytest.param(
            {
                "pkg/__init__.py": "",
                "pkg/a.py": TARGET,
                "main.py": "def f():\n    from pkg.a import target\n    target()\n",
            },
            ("main.py::f", "pkg/a.py::target"),
            "ast:import",
            id="import inside a function",
        ),
        pytest.param(
            {"a.py": TARGET + "def f(): target()\n"},
            ("a.py::f", "a.py::target"),
            "ast:same-file",
            id="same file",
        ),
        pytest.param(
            {"a.py": "def f():\n    def inner(): pass\n    inner()\n"},
            ("a.py::f", "a.py::f::inner"),
            "ast:same-file",
            id="nested function",
        ),
        pytest.param(
            {"a.py": TARGET + "target()\n"},
            ("a.py", "a.py::target"),
            "ast:same-file",
            id="module-level code is called by the file",
        ),
        pytest.param(
            {"a.py": TARGET + "@target\ndef f(): pass\n"},
            ("a.py", "a.py::target"),
            "ast:same-file",
            id="a decorator is a call around the function",
        ),
        pytest.param(
            {"a.py": TARGET + "class A:\n    x = target()\n"},
            ("a.py::A", "a.py::target"),
            "ast:same-file",
            id="a class body calls for the class",
        ),
        pytest.param(
            {"a.py": "class A:\n    def __init__(self): pass\ndef f(): A()\n"},
            ("a.py::f", "a.py::A"),
            "ast:same-file",
            id="a constructor is a call of the class",
        ),
        pytest.param(
            {"a.py": "class A:\n    def m(self): self.n()\n    def n(self): pass\n"},
            ("a.py::A::m", "a.py::A::n"),
            "ast:self",
            id="self",
        ),
        pytest.param(
            {"a.py": "class A:\n    @classmethod\n    def m(cls): cls.n()\n    @classmethod\n    def n(cls): pass\n"},
            ("a.py::A::m", "a.py::A::n"),
            "ast:self",
            id="cls",
        ),
        pytest.param(
            {
                "pkg/__init__.py": "",
                "pkg/base.py": "class Base:\n    def n(self): pass\n",
                "pkg/a.py": "from pkg.base import Base\nclass A(Base):\n    def m(self): self.n()\n",
            },
            ("pkg/a.py::A::m", "pkg/base.py::Base::n"),
            "ast:self",
            id="self through a base in another file",
        ),
        pytest.param(
            {
                "pkg/__init__.py": "",
                "pkg/base.py": "class Root:\n    def m(self): pass\nclass Base(Root): pass\n",
                "pkg/a.py": "from pkg import base\nclass A(base.Base):\n    def m(self): super().m()\n",
            },
            ("pkg/a.py::A::m", "pkg/base.py::Root::m"),
            "ast:super",
            id="super through bases in another file",
        ),
        pytest.param(
            {
                "a.py": "class R:\n    def m(self): pass\nclass X(R): pass\n"
                "class Y(R):\n    def m(self): pass\nclass Z(X, Y):\n    def f(self): self.m()\n"
            },
            ("a.py::Z::f", "a.py::Y::m"),
            "ast:self",
            id="a diamond is searched in Python's order",
        ),
        pytest.param(
            {"a.py": ENGINE + "def f():\n    e = Engine()\n    e.start()\n"},
            ("a.py::f", "a.py::Engine::start"),
            "ast:constructor-type",
            id="local assigned from a constructor",
        ),
        pytest.param(
            {"a.py": ENGINE + "def f(): Engine().start()\n"},
            ("a.py::f", "a.py::Engine::start"),
            "ast:constructor-type",
            id="method of a new object",
        ),
        pytest.param(
            {
                "a.py": ENGINE
                + "class Car:\n    def __init__(self): self.e = Engine()\n    def go(self): self.e.start()\n"
            },
            ("a.py::Car::go", "a.py::Engine::start"),
            "ast:constructor-type",
            id="attribute of self assigned from a constructor",
        ),
        pytest.param(
            {"a.py": ENGINE + "def f(e: Engine): e.start()\n"},
            ("a.py::f", "a.py::Engine::start"),
            "ast:annotation",
            id="annotated parameter",
        ),
        pytest.param(
            {"a.py": ENGINE + "def f(e: 'Engine | None' = None): e.start()\n"},
            ("a.py::f", "a.py::Engine::start"),
            "ast:annotation",
            id="optional annotation in quotes",
        ),
        pytest.param(
            {"a.py": ENGINE + "class Car:\n    e: Engine\n    def go(self): self.e.start()\n"},
            ("a.py::Car::go", "a.py::Engine::start"),
            "ast:annotation",
            id="annotated attribute of a class",
        ),
        pytest.param(
            {"a.py": ENGINE + "def f(es: list[Engine]):\n    for e in es: e.start()\n"},
            ("a.py::f", "a.py::Engine::start"),
            "ast:annotation",
            id="element of an annotated list",
        ),
        pytest.param(
            {"a.py": ENGINE + "def f(es: dict[str, Engine]):\n    return [e.start() for _, e in es.items()]\n"},
            ("a.py::f", "a.py::Engine::start"),
            "ast:annotation",
            id="value of an annotated dict in a comprehension",
        ),
        pytest.param(
            {"a.py": ENGINE + "def make() -> Engine: ...\ndef f():\n    e = make()\n    e.twin().start()\n"},
            ("a.py::f", "a.py::Engine::start"),
            "ast:annotation",
            id="annotated result of a call",
        ),
        pytest.param(
            {"a.py": ENGINE + "def make(): return Engine()\ndef f(): make().start()\n"},
            ("a.py::f", "a.py::Engine::start"),
            "ast:inferred-return",
            id="result that is always a new object",
        ),
        pytest.param(
            {
                "a.py": ENGINE
                + "class Car:\n    @property\n    def e(self) -> Engine: ...\n    def go(self): self.e.start()\n"
            },
            ("a.py::Car::go", "a.py::Engine::start"),
            "ast:annotation",
            id="property",
        ),
        pytest.param(
            {
                "a.py": "from typing import Self\nclass A:\n    def __enter__(self) -> Self: ...\n"
                "    def run(self): pass\ndef f():\n    with A() as a: a.run()\n"
            },
            ("a.py::f", "a.py::A::run"),
            "ast:inferred-return",
            id="what a with statement binds",
        ),
        pytest.param(
            {
                "a.py": "_a = None\nclass A:\n    def run(self): pass\ndef get():\n    global _a\n    _a = A()\n"
                "def f(): _a.run()\n"
            },
            ("a.py::f", "a.py::A::run"),
            "ast:constructor-type",
            id="global assigned in a function",
        ),
        pytest.param(
            {
                "a.py": "from typing import overload\n@overload\ndef g(x: int) -> int: ...\n"
                "@overload\ndef g(x: str) -> str: ...\ndef g(x): return x\ndef f(): g(1)\n"
            },
            ("a.py::f", "a.py::g"),
            "ast:same-file",
            id="overloads give an edge to the implementation",
        ),
    ],
)
def test_a_call_is_followed_to_its_target(sources: dict[str, str], edge: tuple[str, str], reason: str) -> None:
    assert calls_of(sources).get(edge) == reason


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def f(target): target()\n", id="parameter"),
        pytest.param("def f():\n    for target in things: target()\n", id="loop variable"),
        pytest.param("def f():\n    with thing() as target: target()\n", id="with"),
        pytest.param("def f():\n    try: pass\n    except thing as target: target()\n", id="except"),
        pytest.param("def f(): return [target() for target in things]\n", id="comprehension"),
        pytest.param("def f(): return lambda target: target()\n", id="lambda"),
        pytest.param("def f():\n    if target := thing(): target()\n", id="walrus"),
        pytest.param("def f():\n    target = thing()\n    target()\n", id="local"),
        pytest.param("def f():\n    target()\n    target = 1\n", id="local bound later"),
        pytest.param("def f():\n    import target\n    target()\n", id="import inside the function"),
        pytest.param("def f(x):\n    match x:\n        case [target]: target()\n", id="match"),
        pytest.param("def f(x):\n    a, (b, *target) = x\n    target()\n", id="unpacking"),
        pytest.param("def f(target):\n    def g(): target()\n", id="enclosing function"),
        pytest.param("target = decorate(target)\ndef f(): target()\n", id="rebound in the file"),
        pytest.param("def f(): target()\ndel target\n", id="deleted"),
        pytest.param("def f():\n    class target: pass\n    def g(target): target()\n", id="parameter before class"),
    ],
)
def test_a_shadowed_name_gives_no_edge_to_what_it_hides(source: str) -> None:
    calls = calls_of({"a.py": TARGET + source})

    assert not {edge for edge in calls if edge[1] == "a.py::target"}


@pytest.mark.parametrize(
    "sources",
    [
        pytest.param(
            {"a.py": "if x:\n    def g(): pass\nelse:\n    def g(): pass\ndef f(): g()\n"},
            id="two definitions",
        ),
        pytest.param(
            {
                "a.py": "def g(): pass\n",
                "b.py": "try:\n    from a import g\nexcept ImportError:\n    def g(): pass\ng()\n",
            },
            id="import with a fallback",
        ),
        pytest.param(
            {"a.py": "class A:\n    def m(self): pass\nclass B:\n    def m(self): pass\ndef f(x: A | B): x.m()\n"},
            id="union of classes",
        ),
        pytest.param(
            {
                "a.py": "class A:\n    def m(self): pass\nclass B:\n    def m(self): pass\n"
                "def f(c):\n    x = A() if c else B()\n    x.m()\n"
            },
            id="one of two constructors",
        ),
        pytest.param(
            {"a.py": "class A:\n    def m(self): pass\nclass B:\n    def m(self): pass\ndef f(x): x.m()\n"},
            id="two classes have the method",
        ),
        pytest.param(
            {"a.py": "class A:\n    def m(self): self.m = 1\n    def f(self): self.m()\n"}, id="method or attribute"
        ),
        pytest.param(
            {"one/src/u.py": TARGET, "two/src/u.py": TARGET, "main.py": "import u\nu.target()\n"},
            id="two roots offer the module",
        ),
    ],
)
def test_an_ambiguous_name_gives_no_edge(sources: dict[str, str]) -> None:
    assert {edge for edge in calls_of(sources) if not edge[1].endswith(("::A", "::B"))} == set()


@pytest.mark.parametrize("name", ["get", "append", "join", "items", "read", "split", "close"])
def test_a_method_that_common_types_have_is_never_found_by_name_alone(name: str) -> None:
    source = f"class A:\n    def {name}(self): pass\ndef f(x): x.{name}()\n"

    assert calls_of({"a.py": source}) == {}


def test_a_function_does_not_see_the_class_around_it() -> None:
    source = "def n(): pass\nclass A:\n    def n(self): pass\n    def m(self): n()\n"

    assert calls_of({"a.py": source}) == {("a.py::A::m", "a.py::n"): "ast:same-file"}


def test_builtins_are_outside_and_give_no_edge() -> None:
    sources = {"a.py": "def f(xs): return ', '.join(sorted(map(str, xs)))\n"}

    assert calls_of(sources) == {}
    assert external_calls_of(sources) == set()


def test_a_module_of_the_standard_library_is_not_a_file_of_that_name() -> None:
    sources = {"logging.py": "def getLogger(): pass\n", "pkg/__init__.py": "import logging\nlogging.getLogger()\n"}

    assert calls_of(sources) == {}
    assert external_calls_of(sources) == {("pkg/__init__.py", "logging.getLogger")}


def test_external_calls_are_named_by_the_full_dotted_name() -> None:
    source = "import requests as r\nfrom os import path\ndef f():\n    s = r.Session()\n    s.get(path.join('a'))\n"

    assert external_calls_of({"a.py": source}) == {
        ("a.py::f", "requests.Session"),
        ("a.py::f", "requests.Session.get"),
        ("a.py::f", "os.path.join"),
    }


def test_what_a_base_outside_the_repository_has_is_called_there() -> None:
    source = "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertTrue(1)\n"

    assert external_calls_of({"a.py": source}) == {("a.py::T::test", "unittest.TestCase.assertTrue")}


def test_an_unknown_base_may_have_anything() -> None:
    source = "class Low:\n    def m(self): pass\nclass A(make(), Low):\n    def f(self): self.m()\n"

    assert calls_of({"a.py": source}) == {}


def test_a_test_folder_does_not_lend_its_packages_to_the_rest() -> None:
    sources = {
        "src/app/__init__.py": "import django\ndjango.setup()\n",
        "tests/data/django/__init__.py": "def setup(): ...",
    }

    assert external_calls_of(sources) == {("src/app/__init__.py", "django.setup")}


def test_an_import_is_an_edge_between_files_or_to_an_outside_package() -> None:
    sources = {
        "pkg/__init__.py": "from .a import f\n",
        "pkg/a.py": "from __future__ import annotations\nimport os.path\nfrom pkg import b\nfrom pkg import f as g\n",
        "pkg/b.py": "",
    }

    assert edges_of(sources, EdgeKind.IMPORT) == {
        ("pkg/__init__.py", "pkg/a.py"),
        ("pkg/a.py", "os"),
        ("pkg/a.py", "pkg/b.py"),
        ("pkg/a.py", "pkg/__init__.py"),
    }


def test_a_base_is_an_edge_between_classes_or_to_an_outside_name() -> None:
    sources = {
        "a.py": "import abc\nclass A(abc.ABC): pass\nclass B(A, Exception): pass\n",
        "b.py": "import a\nclass C(a.B[int]): pass\n",
    }

    assert edges_of(sources, EdgeKind.INHERIT) == {
        ("a.py::A", "abc.ABC"),
        ("a.py::B", "a.py::A"),
        ("b.py::C", "a.py::B"),
    }


def test_cycles_of_imports_names_and_bases_end() -> None:
    sources = {
        "a.py": "from b import *\nfrom b import x\nx = x\nclass A(A): pass\nx()\nA().m()\n",
        "b.py": "from a import *\nfrom a import x\ndef f(): return f()\nf().g()\n",
    }

    assert set(calls_of(sources)) == {("a.py", "a.py::A"), ("b.py", "b.py::f"), ("b.py::f", "b.py::f")}


def test_a_chain_of_a_thousand_names_ends() -> None:
    links = "".join(f"x{n + 1} = x{n}\n" for n in range(1000))
    source = f"def x0(): pass\n{links}x1000()\n" + "y" + ".a()" * 3000 + "\n" + "(" * 300 + "x0" + ")" * 300 + "()\n"

    assert ("a.py", "a.py::x0") in calls_of({"a.py": source})


BOX = "class Box:\n    def fold_edges(self): pass\n"


def test_a_method_that_one_class_alone_has_is_found_by_name_where_its_file_is_imported() -> None:
    sources = {"box.py": BOX, "main.py": "import box\ndef f(x): x.fold_edges()\n"}

    assert calls_of(sources) == {("main.py::f", "box.py::Box::fold_edges"): "ast:unique-name"}


@pytest.mark.parametrize(
    "sources",
    [
        pytest.param({"box.py": BOX, "main.py": "def f(x): x.fold_edges()\n"}, id="its file is not imported"),
        pytest.param(
            {"box.py": BOX, "main.py": "import box\nclass Other:\n    def m(self): self.fold_edges()\n"},
            id="the object is of another class",
        ),
        pytest.param(
            {"box.py": BOX, "main.py": "import box\nclass Other:\n    fold_edges = 1\ndef f(x): x.fold_edges()\n"},
            id="another class has an attribute of that name",
        ),
        pytest.param(
            {"box.py": BOX, "main.py": "import box, numpy\ndef f(): numpy.x.fold_edges()\n"},
            id="the object is from outside",
        ),
        pytest.param(
            {"box.py": "class Box:\n    def as_dict(self): pass\n", "main.py": "import box\ndef f(x): x.as_dict()\n"},
            id="well-known packages have such a method",
        ),
    ],
)
def test_a_name_alone_is_not_enough_where(sources: dict[str, str]) -> None:
    assert calls_of(sources) == {}
