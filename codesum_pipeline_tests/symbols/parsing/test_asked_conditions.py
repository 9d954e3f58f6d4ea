"""The conditions that a function asks, and how many calls it has."""

import pytest

from codesum_pipeline.foundation.data_model.symbol import SymbolFacts
from codesum_pipeline.symbols.parsing.facts import MAX_FACTS, MAX_TEXT
from codesum_pipeline.symbols.parsing.parsers import PARSERS

LOOPS = "while (a < 3) b(); do c(); while (d); for (i = 0; i < 3; i++) e();"
C_SHARP = "case int n when n > 3: g(); break; } try {} catch (E e) when (e.X) {}"
BASH = "f() {\nwhile [ $a -lt 3 ]; do b; done\nuntil d; do c; done\nfor ((i=0;i<3;i++)); do e; done\ng && h || i\n}\n"
ZIG = "fn f() void { while (a < 3) : (a += 1) { b(); } const c = while (d) { break 1; } else 2; }"


def facts_of(source: str, language: str = "python") -> SymbolFacts:
    symbols = PARSERS[language].parse(source.encode(), "file").symbols
    return next(symbol.facts for symbol in symbols if symbol.name == "f")


def test_conditions_are_asked_by_branches_loops_and_filters() -> None:
    source = (
        "def f(a, b):\n"
        "    while a < 3:\n        a += 1\n"
        "    if (not b):\n        a = 1\n    elif a in b:\n        a = 2\n"
        "    c = 1 if a else 2\n"
        "    d = b and a or c\n"
        "    return [e for e in b if e.ready(a)]\n"
    )

    assert facts_of(source).conditions == ("a < 3", "not b", "a in b", "a", "e.ready(a)")


@pytest.mark.parametrize(
    ("language", "source", "conditions"),
    [
        ("bash", BASH, ("[ $a -lt 3 ]", "d", "i < 3", "g", "g && h")),
        ("c", f"void f() {{ {LOOPS} }}", ("a < 3", "d", "i < 3")),
        (
            "c-sharp",
            f"class A {{ void f() {{ {LOOPS} switch (a) {{ {C_SHARP} }} }}",
            ("a < 3", "d", "i < 3", "n > 3", "e.X"),
        ),
        ("cpp", f"void f() {{ {LOOPS} while (auto g = h()) b(); }}", ("a < 3", "d", "i < 3", "auto g = h()")),
        ("elixir", "def f(a) when a > 3 do\n  if a > 5, do: b(), else: c()\nend\n", ("a > 3", "a > 5")),
        (
            "go",
            "package a\nfunc f() { for a < 3 { b() }\n for i := 0; i < 3; i++ { e() }\n for { c() } }",
            ("a < 3", "i < 3"),
        ),
        (
            "haskell",
            "f x | x > 3 = if a then b else c\n    | y = case x of\n  Just d | d > 4 -> e\n",
            ("x > 3", "a", "y", "d > 4"),
        ),
        (
            "java",
            f"class A {{ void f() {{ {LOOPS} switch (a) {{ case B n when n.x > 3 -> g(); }} }} }}",
            ("a < 3", "d", "i < 3", "n.x > 3"),
        ),
        ("javascript", f"function f() {{ {LOOPS} const j = !a ? b : c; }}", ("a < 3", "d", "i < 3", "!a")),
        (
            "kotlin",
            "fun f() { while (a < 3) { b() }\n do { c() } while (d)\n val j = if (!a) b else c }",
            ("a < 3", "d", "!a"),
        ),
        ("lua", "function f() while a < 3 do b() end repeat c() until d end", ("a < 3", "d")),
        (
            "php",
            "<?php function f() { while ($a < 3) { b(); } do { c(); } while ($d); for ($i = 0; $i < 3; $i++) e(); }",
            ("$a < 3", "$d", "$i < 3"),
        ),
        (
            "ruby",
            "def f\n while a < 3\n b\n end\n c until d\n e = 1 unless g\n case a\n in B if h\n 3\n end\nend",
            ("a < 3", "d", "g", "h"),
        ),
        (
            "rust",
            "fn f() { while a < 3 { b(); } while let Some(c) = d() { e(); } match a { x if x > 3 => b(), _ => e() } }",
            ("a < 3", "let Some(c) = d()", "x > 3"),
        ),
        (
            "scala",
            "def f() = { while (a < 3) { b() }; for (i <- c if i > 3) i; d match { case e if e > 4 => 5 } }",
            ("a < 3", "i > 3", "e > 4"),
        ),
        (
            "swift",
            "func f() { while a < 3, let b = c() { d() }\n repeat { e() } while g\n guard h else { return } }",
            ("a < 3, let b = c()", "g", "h"),
        ),
        ("zig", ZIG, ("a < 3", "d")),
    ],
)
def test_conditions_of_each_language(language: str, source: str, conditions: tuple[str, ...]) -> None:
    assert facts_of(source, language).conditions == conditions


def test_a_function_has_the_conditions_of_its_lambdas_and_not_of_what_it_defines() -> None:
    source = "def f(a):\n    def g(b):\n        if b > 1:\n            a()\n    return lambda c: 1 if c > 2 else 3\n"

    assert facts_of(source).conditions == ("c > 2",)
    assert facts_of("class f:\n    a = 1 if b else 2\n").conditions == ()


def test_conditions_are_distinct_short_and_few() -> None:
    source = "def f(a):\n" + "".join(f"    while a < {number // 2}:\n        b = 1\n" for number in range(200))
    found = facts_of(source).conditions

    assert found == tuple(f"a < {number}" for number in range(MAX_FACTS))
    (cut,) = facts_of(f"def f(a):\n    while {'a' * 1_000_000}:\n        b = 1\n").conditions
    assert cut == f"{'a' * (MAX_TEXT - 1)}…"


def test_another_layout_asks_the_same_conditions() -> None:
    spread = "def f(a, b):\n    if (\n        a  # The first.\n        and not b\n    ):\n        c = 1\n"

    assert facts_of(spread).conditions == facts_of("def f(a, b):\n    if a and not b:\n        c = 1\n").conditions


@pytest.mark.parametrize(
    ("language", "plain", "spread"),
    [
        ("python", "def f(a):\n    return a and g(a)\n", "def f(a):\n    return a \\\n        and g(a)\n"),
        ("python", "def f(a):\n    return a and g(a)\n", "def f(a):\n    return (a  # Why.\n        and g(a))\n"),
        ("javascript", "function f(a) { return a && g(a) }", "function f(a) { return a // why\n && /* so */ g(a) }"),
        ("java", "class A { int f(A a) { return a && g(a); } }", "class A { int f(A a) { return a\n&& g(a); } }"),
        ("go", "func f(a bool) bool { return a && g(a) }", "func f(a bool) bool { return a /* why */ && g(a) }"),
        ("ruby", "def f(a)\n  a && g(a)\nend\n", "def f(a)\n  a && # why\n    g(a)\nend\n"),
    ],
)  # fmt: skip
def test_another_layout_calls_under_the_same_conditions(language: str, plain: str, spread: str) -> None:
    calls = [(one.text, one.when) for one in facts_of(plain, language).calls]

    assert calls == [("g", "a")]
    assert [(one.text, one.when) for one in facts_of(spread, language).calls] == calls
