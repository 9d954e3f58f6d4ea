"""The tree of symbols does not depend on the order in which a file defines them."""

from itertools import permutations
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.languages.declarations.cases import parse
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

# Definitions of one file whose names say what they belong to, by the end of its name.
PIECES: dict[tuple[str, str], tuple[str, ...]] = {
    ("elixir", "ex"): (
        "defmodule A do\n  def f(x), do: x + 1\nend\n",
        "defmodule A.B do\n  def g(x), do: x + 2\nend\n",
        "defmodule A.B.C do\n  defstruct [:x]\n  def h(x), do: x + 3\nend\n",
    ),
    ("ruby", "rb"): (
        "module A\n  def f(x)\n    x + 1\n  end\nend\n",
        "class A::B\n  def g(x)\n    x + 2\n  end\nend\n",
        "class A::B::C\n  def h(x)\n    x + 3\n  end\nend\n",
    ),
    ("cpp", "cpp"): (
        "class A {\n public:\n  int f(int x) { return x + 1; }\n  class B;\n};\n",
        "class A::B {\n public:\n  int g(int x) { return x + 2; }\n  struct C;\n};\n",
        "struct A::B::C {\n  int h(int x) { return x + 3; }\n};\n",
    ),
    ("c-sharp", "cs"): (
        "namespace A { class K { int F(int x) { return x + 1; } } }\n",
        "namespace A.B { class L { int G(int x) { return x + 2; } } }\n",
        "namespace A.B.C { class M { int H(int x) { return x + 3; } } }\n",
    ),
    ("php", "php"): (
        "namespace A { class K { function f($x) { return $x + 1; } } }\n",
        "namespace A\\B { class L { function g($x) { return $x + 2; } } }\n",
        "namespace A\\B\\C { class M { function h($x) { return $x + 3; } } }\n",
    ),
    ("kotlin", "kt"): (
        "class A {\n    class B {\n        fun h(x: Int): Int {\n            return x + 3\n        }\n    }\n}\n",
        "fun A.f(x: Int) = x + 1\n",
        "fun A.B.g(x: Int) = x + 2\n",
    ),
    ("swift", "swift"): (
        "struct A {\n    func f(x: Int) -> Int { return x + 1 }\n}\n",
        "extension A {\n    struct B { func g(x: Int) -> Int { return x + 2 } }\n}\n",
        "extension A.B {\n    struct C { func h(x: Int) -> Int { return x + 3 } }\n}\n",
    ),
    ("scala", "scala"): (
        "object E { def f(x: Int) = { x + 1 } }\n",
        "class A(val y: Int) { class B { def g(x: Int) = { x + 2 } } }\n",
        "trait D extends A { def h(x: Int) = { x + 3 } }\n",
    ),
    ("rust", "rs"): (
        "struct A { x: i32 }\n",
        "impl A { fn f(&self, x: i32) -> i32 { x + 1 } }\n",
        "mod b { pub struct B; impl B { pub fn g(x: i32) -> i32 { x + 2 } } }\n",
    ),
    ("go", "go"): (
        "type A struct{ x int }\n",
        "func (a *A) F(x int) int {\n\treturn x + 1\n}\n",
        "type B interface{ G(x int) int }\n",
    ),
    ("lua", "lua"): (
        "A = {}\n",
        "A.B = {}\nfunction A.f(x)\n  return x + 1\nend\n",
        "function A.B.g(x)\n  return x + 2\nend\n",
    ),
    ("javascript", "js"): (
        "class A { f(x) { return x + 1; } }\n",
        "A.B = class { g(x) { return x + 2; } };\n",
        "A.B.prototype.h = function (x) { return x + 3; };\n",
    ),
    ("typescript", "ts"): (
        "namespace A { export class K { f(x: number) { return x + 1; } } }\n",
        "namespace A.B { export class L { g(x: number) { return x + 2; } } }\n",
        "namespace A.B.C { export class M { h(x: number) { return x + 3; } } }\n",
    ),
}
HEADS = {"php": "<?php\n", "go": "package a\n\n"}
ORDERS = tuple(permutations(range(3)))
EVERY = pytest.mark.parametrize(("language", "end"), list(PIECES), ids=[language for language, _ in PIECES])


def source_of(language: str, end: str, order: tuple[int, ...]) -> str:
    pieces = PIECES[language, end]
    return HEADS.get(language, "") + "\n".join(pieces[number] for number in order)


@EVERY
def test_every_order_gives_the_same_tree(language: str, end: str) -> None:
    trees = [
        {symbol.id: symbol.parent_id for symbol in parse(language, source_of(language, end, order)).symbols}
        for order in ORDERS
    ]

    assert trees[0]
    assert trees == [trees[0]] * len(ORDERS)


@EVERY
def test_a_parent_has_the_name_of_what_it_holds_without_the_last_parts(language: str, end: str) -> None:
    for order in ORDERS:
        symbols = {symbol.id: symbol for symbol in parse(language, source_of(language, end, order)).symbols}
        for symbol in symbols.values():
            if symbol.parent_id is not None:
                assert f"{symbols[symbol.parent_id].qualified_name}." in symbol.qualified_name
                assert symbol.parent_id.count(SEPARATOR) < symbol.id.count(SEPARATOR)


def test_a_repository_with_definitions_in_any_order_is_indexed(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo")
    orders = [(language, end, number) for language, end in PIECES for number in range(len(ORDERS))]
    files = {f"{end}/order{number}.{end}": source_of(language, end, ORDERS[number]) for language, end, number in orders}
    repo.commit(files)
    workspace = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("orders", str(repo.path)))

    reports = build(workspace)

    assert reports["symbols"].failed == 0
    assert reports["summary_documents"].by_level["file"] == len(files)
    assert reports["published_index"].published
