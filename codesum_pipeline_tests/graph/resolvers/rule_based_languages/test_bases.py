"""What classes derive from, wherever that is written: one small repository per language."""

import pytest

from codesum_pipeline_tests.graph.sources import bases_of, calls_of

RUST = {
    "Cargo.toml": "[package]\nname = 'x'\n[dependencies]\nserde = '1'\n",
    "src/lib.rs": "pub mod shape;\npub mod draw;\nmod imp;\n",
    "src/draw.rs": (
        "pub trait Draw { fn draw(&self) { self.show() } fn show(&self) {} }\n"
        "pub trait Conv<T> { fn conv(&self) -> T; }\npub trait Sub: Draw {}\n"
    ),
    "src/shape.rs": (
        "use crate::draw::Draw;\npub struct Shape;\npub enum Kind { A }\n"
        "impl Draw for Shape { fn draw(&self) {} }\n"
        "impl std::fmt::Display for Shape { fn fmt(&self) {} }\nimpl !Send for Kind {}\n"
        "mod inner { use super::Draw; pub struct Deep; impl Draw for Deep {} }\n"
    ),
    "src/imp.rs": (
        "use crate::shape::{Shape, Kind};\nuse crate::draw;\nuse serde::Serialize;\n"
        "impl draw::Conv<u8> for Shape { fn conv(&self) -> u8 { 0 } }\nimpl Serialize for Kind {}\n"
        "impl<T> draw::Conv<T> for Vec<T> {}\nimpl<'a> crate::draw::Draw for &'a Kind {}\n"
        "fn go(kind: Kind) { kind.show() }\n"
    ),
}
SWIFT = {
    "Sources/A/a.swift": "protocol Draw {\n    func draw()\n}\nclass Base {}\nclass Shape: Base {}\nstruct Point {}\n",
    "Sources/A/b.swift": (
        "import Foundation\nextension Shape: Draw {\n    func draw() {}\n}\n"
        "extension Point: Draw, Codable {}\nextension String: Draw {}\nprotocol Sub: Draw {}\n"
    ),
}
C_SHARP = {
    "A.cs": "namespace N { public partial class Page : Base { } public class Base { public void Up() {} } }",
    "B.cs": "namespace N { interface IP {} public partial class Page : IP, System.IDisposable { void F() { Up(); } } }",
}
KOTLIN = {
    "A.kt": "package x\ninterface I { fun f() }\nopen class Base(a: Int)\n",
    "B.kt": (
        "package y\nimport x.I\nimport x.Base\n\nclass D(i: I) : Base(1), I by i\n\nobject O : I {\n"
        "    override fun f() {}\n}\n\nenum class E : I {\n    A;\n\n    override fun f() {}\n}\n\n"
        "sealed interface S : I\n"
    ),
}
SCALA = {
    "A.scala": "package x\ntrait T1\ntrait T2[A]\nclass Base(a: Int)\n",
    "B.scala": (
        "package y\nimport x._\nclass D extends Base(1) with T1 with T2[Int]\nobject O extends T1\n"
        "case class C(a: Int) extends Base(a), T1\n"
    ),
}
GO = {
    "go.mod": "module e.com/a\n",
    "s/s.go": 'package s\nimport "io"\ntype Base struct{}\ntype R interface {\n\tio.Reader\n\tClose()\n}\n',
    "m.go": (
        'package m\nimport "e.com/a/s"\ntype A struct {\n\ts.Base\n\t*B\n}\ntype B struct{}\n'
        "type I interface {\n\ts.R\n}\ntype U interface {\n\t~int | ~string\n}\n"
    ),
}
HASKELL = {
    "A.hs": "module A where\nclass Draw a where\n  draw :: a -> Int\nclass (Draw a, Eq a) => Sub a where\n  sub :: a\n",
    "B.hs": (
        "module B where\nimport A\nimport qualified Data.Aeson as Ae\ndata Shape = Shape\nnewtype N a = N a\n"
        "instance Draw Shape where\n  draw _ = 1\ninstance Draw a => Draw (N a) where\n  draw _ = 2\n"
        "instance Ae.ToJSON Shape\n"
    ),
    "C.hs": "module C where\nimport A\nimport B\ninstance Sub Shape where\n  sub = Shape\n",
}
ELIXIR = {
    "a.ex": (
        "defmodule App.Beh do\n  @callback f() :: any\nend\n\ndefprotocol App.Proto do\n  def p(x)\nend\n\n"
        "defmodule App.Using do\n  defmacro __using__(_), do: 1\nend\n"
    ),
    "b.ex": (
        "defmodule App.Impl do\n  alias App.Beh\n  @behaviour Beh\n  use App.Using\n  def f, do: 1\nend\n\n"
        "defimpl App.Proto, for: App.Impl do\n  def p(x), do: 1\nend\n"
    ),
}
PHP = {
    "a.php": "<?php\nnamespace A;\ntrait T { function t() {} }\ninterface I {}\nabstract class Base {}\n",
    "b.php": (
        "<?php\nnamespace B;\nuse A\\{T, I};\nuse X\\Q;\n"
        "class C extends \\A\\Base implements I, Q, \\Countable { use T; use \\X\\Y { a as b; } }\n"
        "enum E: string implements I { use T; case A = 'a'; }\n"
    ),
}
RUBY = {
    "a.rb": "module M\n  def m; end\nend\nclass Base; end\n"
    "module Q; module Z; end; module Y; end; module X; end; end\n",
    "b.rb": (
        "require_relative 'a'\nclass C < Base\n  include Q::Z\n  extend Q::Y\n  prepend Q::X\n  def go; m; end\nend\n"
        "C.include(M)\nclass D; end\nD.send(:include, Q::Z)\n"
    ),
}
JAVA = {
    "com/x/A.java": "package com.x;\npublic interface A { interface In {} }\nclass Base {}\n",
    "y/B.java": (
        "package y;\nimport com.x.A;\nclass B extends com.x.Base implements A.In, java.util.List<String> {}\n"
        "record R(int a) implements A {}\n"
    ),
}
CASES = {
    "rust": (
        RUST,
        {
            ("src/draw.rs::Sub", "src/draw.rs::Draw"),
            ("src/shape.rs::Kind", "serde::Serialize"),
            ("src/shape.rs::Kind", "src/draw.rs::Draw"),
            ("src/shape.rs::Shape", "src/draw.rs::Conv"),
            ("src/shape.rs::Shape", "src/draw.rs::Draw"),
            ("src/shape.rs::Shape", "std::fmt::Display"),
            ("src/shape.rs::inner::Deep", "src/draw.rs::Draw"),
        },
    ),
    "swift": (
        SWIFT,
        {
            ("Sources/A/a.swift::Point", "Sources/A/a.swift::Draw"),
            ("Sources/A/a.swift::Shape", "Sources/A/a.swift::Base"),
            ("Sources/A/a.swift::Shape", "Sources/A/a.swift::Draw"),
            ("Sources/A/b.swift::Sub", "Sources/A/a.swift::Draw"),
        },
    ),
    "c-sharp": (
        C_SHARP,
        {("A.cs::Page", "A.cs::Base"), ("B.cs::Page", "B.cs::IP"), ("B.cs::Page", "System.IDisposable")},
    ),
    "kotlin": (
        KOTLIN,
        {
            ("B.kt::D", "A.kt::Base"),
            ("B.kt::D", "A.kt::I"),
            ("B.kt::E", "A.kt::I"),
            ("B.kt::O", "A.kt::I"),
            ("B.kt::S", "A.kt::I"),
        },
    ),
    "scala": (
        SCALA,
        {
            ("B.scala::C", "A.scala::Base"),
            ("B.scala::C", "A.scala::T1"),
            ("B.scala::D", "A.scala::Base"),
            ("B.scala::D", "A.scala::T1"),
            ("B.scala::D", "A.scala::T2"),
            ("B.scala::O", "A.scala::T1"),
        },
    ),
    "go": (
        GO,
        {
            ("m.go::A", "m.go::B"),
            ("m.go::A", "s/s.go::Base"),
            ("m.go::I", "s/s.go::R"),
            ("s/s.go::R", "io.Reader"),
        },
    ),
    "haskell": (
        HASKELL,
        {
            ("A.hs::Sub", "A.hs::Draw"),
            ("B.hs::N", "A.hs::Draw"),
            ("B.hs::Shape", "A.hs::Draw"),
            ("B.hs::Shape", "A.hs::Sub"),
            ("B.hs::Shape", "Data.Aeson.ToJSON"),
        },
    ),
    "elixir": (
        ELIXIR,
        {
            ("b.ex::App::Impl", "a.ex::App::Beh"),
            ("b.ex::App::Impl", "a.ex::App::Using"),
            ("b.ex::App::Proto::App::Impl", "a.ex::App::Proto"),
        },
    ),
    "php": (
        PHP,
        {
            ("b.php::C", "Countable"),
            ("b.php::C", "X\\Q"),
            ("b.php::C", "X\\Y"),
            ("b.php::C", "a.php::Base"),
            ("b.php::C", "a.php::I"),
            ("b.php::C", "a.php::T"),
            ("b.php::E", "a.php::I"),
            ("b.php::E", "a.php::T"),
        },
    ),
    "ruby": (
        RUBY,
        {
            ("b.rb::C", "a.rb::Base"),
            ("b.rb::C", "a.rb::M"),
            ("b.rb::C", "a.rb::Q::X"),
            ("b.rb::C", "a.rb::Q::Y"),
            ("b.rb::C", "a.rb::Q::Z"),
            ("b.rb::D", "a.rb::Q::Z"),
        },
    ),
    "java": (
        JAVA,
        {
            ("y/B.java::B", "com/x/A.java::A::In"),
            ("y/B.java::B", "com/x/A.java::Base"),
            ("y/B.java::B", "java.util.List"),
            ("y/B.java::R", "com/x/A.java::A"),
        },
    ),
}


@pytest.mark.parametrize(("sources", "expected"), CASES.values(), ids=list(CASES))
def test_every_base_is_an_edge_wherever_it_is_written(sources: dict[str, str], expected: set[tuple[str, str]]) -> None:
    assert bases_of(sources) == expected


@pytest.mark.parametrize(
    ("sources", "call"),
    [
        (RUST, ("src/imp.rs::go", "src/draw.rs::Draw::show")),
        (RUBY, ("b.rb::C::go", "a.rb::M::m")),
        (C_SHARP, ("B.cs::Page::F", "A.cs::Base::Up")),
    ],
    ids=["trait of an impl", "mixin from outside", "base of another part"],
)
def test_members_come_from_bases_that_stand_elsewhere(sources: dict[str, str], call: tuple[str, str]) -> None:
    assert calls_of(sources)[call] == "ast:self" or calls_of(sources)[call] == "ast:annotation"


def test_thousands_of_functions_of_one_name_cannot_be_told_apart() -> None:
    size = 3_000
    overloads = "".join(f"  void f(int a{n}) {{ f(1); }}\n" for n in range(size))

    assert calls_of({"A.java": f"class A {{\n{overloads}  void g() {{ f(2); }}\n  void h() {{ g(); }}\n}}\n"}) == {
        ("A.java::A::h", "A.java::A::g"): "ast:self"
    }
