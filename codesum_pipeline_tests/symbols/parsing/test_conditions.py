"""The words of a condition: what a reader sees after "when"."""

import pytest

from codesum_pipeline.symbols.parsing.condition_texts import MAX_CONDITION, affirmed, caught, negated, without_brackets
from codesum_pipeline.symbols.parsing.parsers import PARSERS


def conditions_of(source: str, language: str = "python") -> dict[str, str]:
    """Under which condition each call of the first function is made."""
    return {call.text: call.when for call in PARSERS[language].parse(source.encode(), "file").symbols[0].facts.calls}


@pytest.mark.parametrize(
    ("condition", "opposite"),
    [
        ("ready", "not ready"),
        ("self.ready(a, b)", "not self.ready(a, b)"),
        ("not ready", "ready"),
        ("!ready", "ready"),
        ("!(a && b)", "a && b"),
        ("!a && b", "not (!a && b)"),
        ("a == b", "a != b"),
        ("err != nil", "err == nil"),
        ("x is None", "x is not None"),
        ("key in table", "key not in table"),
        ("x < 0", "not (x < 0)"),
        ("a == b and c == d", "not (a == b and c == d)"),
        ("git succeeds", "git fails"),
    ],
)
def test_a_condition_that_fails(condition: str, opposite: str) -> None:
    assert negated(condition) == opposite


def test_a_negation_is_a_word() -> None:
    assert [affirmed(text) for text in ("!ready", "!f(a, g(b))", "!a && b", "ready")] == [
        "not ready", "not f(a, g(b))", "!a && b", "ready",
    ]  # fmt: skip


def test_brackets_around_all_of_it_go() -> None:
    assert [without_brackets(text) for text in ("((a))", "(a) + (b)", "f(a)")] == ["a", "(a) + (b)", "f(a)"]


def test_an_error_is_called_by_its_class() -> None:
    assert caught(["(KeyError, socket.error) as error"]) == "KeyError or socket.error is caught"
    assert caught(["(const std::exception& error)"]) == "std::exception is caught"
    assert caught(["let error"]) == "an error is caught"
    assert caught([]) == "an error is caught"


def test_what_comes_after_a_guard_or_in_a_loop_has_no_condition() -> None:
    source = (
        "def f(x):\n    if not x:\n        return\n    a()\n    while x:\n        b()\n    for y in x:\n        c()\n"
    )

    assert conditions_of(source) == {"a": "", "b": "", "c": ""}


def test_the_innermost_condition_of_the_same_definition_counts() -> None:
    source = "def f(x, y):\n    if x:\n        if y:\n            a()\n        b()\n        g(lambda: c())\n"

    assert conditions_of(source) == {"a": "y", "b": "x", "g": "x", "c": "x"}
    nested = PARSERS["python"].parse(b"def f(x):\n    if x:\n        def g():\n            a()\n", "file").symbols[1]
    assert [call.when for call in nested.facts.calls] == [""]


def test_what_is_run_where_none_of_many_conditions_holds_is_not_said() -> None:
    rows = "".join(f"    elif x == {number}:\n        a()\n" for number in range(2000))
    source = f"def f(x):\n    if x:\n        a()\n{rows}    else:\n        b()\n"

    assert conditions_of(source)["b"] == ""


def test_a_condition_is_short_or_not_said() -> None:
    long = " and ".join(f"value_{number}" for number in range(20))

    assert len(long) > MAX_CONDITION
    assert conditions_of(f"def f(x):\n    if {long}:\n        a()\n    if {'x' * 100_000}:\n        b()\n") == {
        "a": "", "b": "",
    }  # fmt: skip


def test_a_fact_that_is_said_twice_keeps_the_condition_of_the_first() -> None:
    assert conditions_of("def f(x):\n    if x:\n        a()\n    a()\n") == {"a": "x"}


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        pytest.param(
            "ruby",
            "def f(x)\n  case\n  when x > 3 then a()\n  end\n  v = b() rescue c()\nend\n",
            {"a": "x > 3", "b": "", "c": "an error is caught"},
            id="arms that are conditions, and what rescues a value",
        ),
        pytest.param(
            "haskell",
            "module A where\nf m = case m of\n  Foo x | x > 3 -> g x\n        | otherwise -> h x\n",
            {"g": "x > 3", "h": ""},
            id="guards of alternatives",
        ),
        pytest.param(
            "kotlin",
            "fun f() {\n    when (val r = g()) {\n        !is Foo -> a()\n        in 1..3 -> b()\n    }\n}\n",
            {"g": "", "a": "r is not Foo", "b": "r is in 1..3"},
            id="a subject that is declared",
        ),
        pytest.param(
            "javascript",
            "function f(x) {\n  switch (true) {\n    case x > 3: a(); break;\n    default: b();\n  }\n}\n",
            {"a": "x > 3", "b": ""},
            id="a switch about nothing",
        ),
        pytest.param(
            "swift",
            "func f() {\n    guard let self else { return a() }\n    if case .x(let y) = z { b(y) }\n}\n",
            {"a": "self is nil", "b": "z is .x(let y)"},
            id="bindings",
        ),
        pytest.param(
            "elixir",
            "defmodule A do\n  def f(x) do\n    x |> g() |> case do\n      nil -> a()\n    end\n    :ok\n  end\nend\n",
            {"g": "", "a": "x |> g() is nil"},
            id="a case of what is piped",
        ),
    ],
)
def test_forms_of_single_languages(language: str, source: str, expected: dict[str, str]) -> None:
    symbols = PARSERS[language].parse(source.encode(), "file").symbols
    found = {call.text: call.when for symbol in symbols for call in symbol.facts.calls}

    assert {name: found[name] for name in expected} == expected
