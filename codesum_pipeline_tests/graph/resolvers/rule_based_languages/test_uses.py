"""Names that are used without a call in the languages whose calls follow rules, and what only looks so: `uses.toml`."""

import tomllib
from pathlib import Path

import pytest

from codesum_pipeline_tests.graph.sources import calls_of, references_of

LANGUAGES = tomllib.loads(Path(__file__).with_name("uses.toml").read_text("utf-8"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_used_has_its_user_and_what_only_looks_so_has_none(language: str) -> None:
    files, users = LANGUAGES[language]["files"], LANGUAGES[language]["users"]

    assert references_of(files) == {(user, used) for user, all_used in users.items() for used in all_used.split()}


@pytest.mark.parametrize(
    ("files", "used"),
    [
        pytest.param(
            {
                "test/spec.rb": "OPTIONS = 1\n",
                "lib/a.rb": 'module Rack\n  OPTIONS = "OPTIONS".freeze\nend\n',
                "lib/b.rb": "module Rack\n  class Request\n    def options?\n      OPTIONS\n    end\n  end\nend\n",
            },
            set(),
            id="ruby: a constant of a module around hides one of another file",
        ),
        pytest.param(
            {
                "test/spec.rb": "TEMPLATE = 1\n",
                "lib/b.rb": "class Page\n  TEMPLATE = ERB.new(x)\n  def show\n    TEMPLATE\n  end\nend\n",
            },
            set(),
            id="ruby: a constant of the class hides one of another file",
        ),
        pytest.param(
            {"lib/a.rb": "LIMIT = 1\n", "lib/b.rb": "class Page\n  def show\n    LIMIT\n  end\nend\n"},
            {("lib/b.rb::Page::show", "lib/a.rb::LIMIT")},
            id="ruby: a constant that no class has is that of the file",
        ),
        pytest.param(
            {
                "a.kt": "package app\nprivate const val TAG = 1\n",
                "b.kt": "package app\nclass Page {\n  companion object {\n    const val TAG = 2\n  }\n"
                "  fun show() = println(TAG)\n}\n",
            },
            set(),
            id="kotlin: a constant beside a class hides one of another file",
        ),
        pytest.param(
            {
                "a.hpp": "const int file_ = 1;\n",
                "b.hpp": "class Sink {\n  int show() { return use(file_); }\n  Helper file_;\n};\n",
            },
            set(),
            id="cpp: a field hides a constant of another file",
        ),
        pytest.param(
            {
                "a.kt": "package app\nconst val TAG = 1\n",
                "b.kt": "package app\nopen class Base {\n  val TAG = make()\n}\n",
                "c.kt": "package app\nclass Page : Base() {\n  fun show() = println(TAG)\n}\n",
            },
            set(),
            id="kotlin: a field of a base may hide a constant of another file",
        ),
        pytest.param(
            {
                "a.ts": "export const config = 1;\n",
                "b.ts": "import { config } from './a';\nclass Theme {\n  config: Map<string, string>;\n"
                "  show() { return [config]; }\n}\n",
            },
            {("b.ts::Theme::show", "a.ts::config")},
            id="typescript: a field hides nothing",
        ),
        pytest.param(
            {
                "a.zig": "pub var arena = make();\nconst Context = struct {\n    arena: *Arena,\n"
                "    fn free() void {\n        use(arena);\n    }\n};\n",
            },
            {("a.zig::Context::free", "a.zig::arena")},
            id="zig: a field hides nothing",
        ),
        pytest.param(
            {
                "a.ts": "export interface Store { a: number; load(): void }\nexport class Store { load() {} }\n",
                "b.ts": "import { Store } from './a';\nfunction show(x: Store) { x.load(); }\n",
            },
            {("b.ts::show", "a.ts::Store")},
            id="typescript: a class and an interface of its name are one",
        ),
        pytest.param(
            {
                "a.ts": "class Store { load() {} }\ninterface Store { a: number }\nexport default Store;\n",
                "b.ts": "import Store from './a';\nconst show = () => [Store];\n",
            },
            {("a.ts", "a.ts::Store"), ("b.ts::show", "a.ts::Store")},
            id="typescript: a class and a later interface of its name are one, exported as default",
        ),
        pytest.param(
            {
                "a.ts": "interface Page { a: number }\ninterface Page { b: number }\nfunction show(p: Page) {}\n",
            },
            {("a.ts::show", "a.ts::Page")},
            id="typescript: two interfaces of one name are one",
        ),
        pytest.param(
            {
                "a.ex": "defmodule App.Logger do\n  def debug(x), do: x\nend\n",
                "b.ex": "defmodule App.Page do\n  def show(x), do: Logger.level(x)\nend\n",
            },
            set(),
            id="elixir: a module is not known by its last name to one whose name begins alike",
        ),
        pytest.param(
            {
                "a.ex": "defmodule App.Logger do\n  def debug(x), do: x\nend\n",
                "b.ex": "defmodule App.Page do\n  alias App.Logger\n  def show(x), do: Logger.level(x)\nend\n",
            },
            {("b.ex::App::Page::show", "a.ex::App::Logger")},
            id="elixir: an alias makes a module known by its last name",
        ),
        pytest.param(
            {
                "b.exs": "defmodule App.PageTest do\n  defmodule Inner do\n    def f(x), do: x\n  end\n"
                "  def show(x), do: Inner.level(x)\nend\n",
            },
            {("b.exs::App::PageTest::show", "b.exs::App::PageTest::Inner")},
            id="elixir: a module knows those that are written inside of it",
        ),
        pytest.param(
            {
                "a.ex": "defmodule App.Store do\n  defstruct [:a]\nend\n",
                "b.exs": 'defmodule Test.PageTest do\n  alias App.Store\n  describe "show" do\n    test "one" do\n'
                "      assert %Store{} = x\n    end\n  end\nend\n",
            },
            {("b.exs::Test::PageTest::show::one", "a.ex::App::Store")},
            id="elixir: an alias holds in the tests of a group",
        ),
        pytest.param(
            {
                "a.rs": "fn load() {}\nconst LIMIT: u8 = 1;\nfn a() { xs.map(|load| run(load)) }\n"
                "fn b() { xs.map(|(x, &load)| run(load)) }\nfn c() { for load in xs { run(load) } }\n"
                "fn d() { match x { load => run(load), LIMIT => 1 } }\nfn e() { match x { (1, load) => run(load) } }\n"
                "fn f() { xs.map(load) }\n",
            },
            {("a.rs::d", "a.rs::LIMIT"), ("a.rs::f", "a.rs::load")},
            id="rust: names in patterns are variables, constants are not",
        ),
        pytest.param(
            {
                "a.scala": "object O {\n  def load(x: Int) = x\n  def a = xs.map(load => run(load))\n"
                "  def b = x match { case load => run(load) }\n  def c = for ((n, load) <- xs) yield load\n"
                "  def d = for (load <- xs) yield load\n  def e = xs.map(load)\n}\n",
            },
            {("a.scala::O::e", "a.scala::O::load")},
            id="scala: names in patterns are variables",
        ),
        pytest.param(
            {
                "a.swift": "func load(x: Int) {}\nfunc a() { if let load = x { run(load) } }\n"
                "func b() { guard let load = x else { return }; run(load) }\n"
                "func c() { xs.map { load in run(load) } }\nfunc d() { xs.map(load) }\n"
                "func e() { if let x = load { run(x) } }\nfunc f() { if let load { run(load) } }\n",
            },
            {("a.swift::d", "a.swift::load"), ("a.swift::e", "a.swift::load")},
            id="swift: what is bound by a condition or a closure is a variable",
        ),
        pytest.param(
            {
                "a.lua": "local function load() end\nfunction a() for load = 1, 2 do run(load) end end\n"
                "function b() for x = 1, load do run(x) end end\n",
            },
            {("a.lua::b", "a.lua::load")},
            id="lua: the variable of a loop that counts",
        ),
        pytest.param(
            {
                "a.zig": "fn load() void {}\nfn a() void { load: while (true) break :load; }\n"
                "fn b() u8 { return load: { break :load 1; }; }\nfn c() void { run(load); }\n",
            },
            {("a.zig::c", "a.zig::load")},
            id="zig: a label is no function",
        ),
        pytest.param(
            {
                "a.scala": "def load(x: Int) = x\nclass Store\nenum Kind { case Store; case Page(x: Int) }\n"
                "class A(load: Int) { def f() = run(load) }\nclass B { val load = 1; def f() = run(load) }\n"
                "class C { def f() = x match { case load :: rest => run(load) } }\n"
                "class D { def load(x: Int) = x; def f() = run(load) }\nclass E { def f() = run(load) }\n",
            },
            {("a.scala::D::f", "a.scala::D::load"), ("a.scala::E::f", "a.scala::load")},
            id="scala: fields, cases and parts of patterns hide functions and classes",
        ),
        pytest.param(
            {
                "a.swift": "class Store {}\nprotocol P { associatedtype Store; func f(x: Store) }\n"
                "protocol Q { associatedtype X: Store }\n",
            },
            {("a.swift::Q", "a.swift::Store")},
            id="swift: an associated type hides a class",
        ),
        pytest.param(
            {
                "b.swift": "let log = Log.shared\nfunc load(x: Int) {}\nclass Store {}\n",
                "a.swift": "class A {\n  let log = Log.make(), Store = 1\n  var load: Int { 1 }\n"
                "  func f() { log.info(); run(log, load) }\n  func g(x: Store) {}\n}\n"
                "class B {\n  func f() { log.info(); run(load) }\n}\n",
            },
            {
                ("a.swift::A::f", "a.swift::A::load"),
                ("a.swift::A::g", "b.swift::Store"),
                ("a.swift::B::f", "b.swift::log"),
                ("a.swift::B::f", "b.swift::load"),
            },
            id="swift: a field hides a constant and a function, and no class",
        ),
        pytest.param(
            {
                "a.php": "<?php\nnamespace P;\nconst LIMIT = 1;\nclass B {}\nfunction f() { return LIMIT; }\n"
                "class A { const LIMIT = 2; function g() { return self::LIMIT + static::LIMIT + $this::LIMIT; } }\n"
                "function h($x) { return [$x::LIMIT, i()::LIMIT, 'a'=>\\P\\B::class]; }\n",
            },
            {("a.php::f", "a.php::LIMIT"), ("a.php::h", "a.php::B")},
            id="php: a constant of a class is none of the namespace",
        ),
        pytest.param(
            {
                "a.php": "<?php\nnamespace P;\nuse \\P\\C;\nconst LIMIT = 1;\nclass B { static function go() {} }\n"
                "class Error extends \\Error {}\nfunction f(?\\P\\B $x) { return \\P\\LIMIT; }\n"
                "function g() { try { new \\P\\B(); } catch (\\Error $e) { return \\LIMIT; } }\n"
                "function h() { \\P\\B::go(); }\n",
            },
            {("a.php::f", "a.php::B"), ("a.php::f", "a.php::LIMIT"), ("a.php::h", "a.php::B")},
            id="php: a name from the root",
        ),
        pytest.param(
            {
                "a.cpp": "int load(int x);\nint load(int x) { return x; }\nint a() { return run(Page<int>::load); }\n"
                "int b() { return run(::load); }\nint c() { return run(decltype(x)::load); }\n",
            },
            {("a.cpp::b", "a.cpp::load")},
            id="cpp: a member of a class template is no function of its name",
        ),
        pytest.param(
            {
                "b.hpp": "static const int limit = 3;\ninline int size(int x) { return x; }\nclass Store {};\n",
                "a.cpp": '#include "b.hpp"\nclass A {\n  int f() { return run(limit, size); }\n  int limit, *size;\n'
                "  int Store[3];\n  void g(Store x) {}\n};\nclass B {\n  int f() { return run(limit, size); }\n"
                "  int h() { return x.limit + y->size; }\n};\n",
            },
            {
                ("a.cpp::A::g", "b.hpp::Store"),
                ("a.cpp::B::f", "b.hpp::limit"),
                ("a.cpp::B::f", "b.hpp::size"),
            },
            id="cpp: a field hides a constant and a function, and no class",
        ),
        *(
            pytest.param({path: source}, used, id=f"{path}: a parameter of a type hides a class")
            for path, source, used in (
                ("a.java", "class Key {}\nclass A<Key> { Key x; void f(Key y) {} }\nclass B { Key x; }\n", "B"),
                ("a.kt", "class Key\nclass A<Key>(val x: Key) { fun f(y: Key) = y }\nclass B(val x: Key)\n", "B"),
                ("a.cs", "class Key {}\nclass A<Key> { Key x; void F(Key y) {} }\nclass B { Key x; }\n", "B"),
                ("a.go", "package m\ntype Key int\ntype A[Key any] struct { x Key }\ntype B struct { x Key }\n", "B"),
                ("a.ts", "class Key {}\nclass A<Key> { x: Key }\ntype L<Key> = Key;\nclass B { x: Key }\n", "B"),
                ("a.swift", "class Key {}\nstruct A<Key> { var x: Key }\nstruct B { var x: Key }\n", "B"),
                ("a.scala", "class Key\nclass A[+Key] { def f: Key = x }\nclass B { def f: Key = x }\n", "B::f"),
                ("a.cpp", "struct Key {};\ntemplate <class Key> class A { Key x; };\nclass B { Key x; };\n", "B"),
                (
                    "a.rs",
                    "struct Key;\nimpl<Key> More for A<Key> { fn f(&self, y: Key) {} }\nstruct A<Key> { x: Key }\n",
                    "",
                ),
            )
            for used in [{(f"{path}::{used}", f"{path}::Key")} if used else set[tuple[str, str]]()]
        ),
    ],
)
def test_names_mean_what_is_nearest(files: dict[str, str], used: set[tuple[str, str]]) -> None:
    assert references_of(files) == used


def test_a_class_that_an_interface_is_joined_with_is_called() -> None:
    files = {
        "a.ts": "export interface Store { a: number; load(): void }\nexport class Store { load() {} }\n",
        "b.ts": "import { Store } from './a';\nfunction show(x: Store) { x.load(); return new Store(); }\n",
    }

    assert set(calls_of(files)) == {("b.ts::show", "a.ts::Store"), ("b.ts::show", "a.ts::Store::load")}
