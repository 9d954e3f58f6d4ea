"""Calls in texts are calls, in every language whose texts hold code."""

import pytest

from codesum_pipeline_tests.languages.declarations.cases import parse
from codesum_pipeline_tests.languages.declarations.references import references_of

SOURCES = {
    "bash": 'f() {\n  a="é $(foo x) `bar 1`"\n  cat <<X\nq $(qux 3)\nX\n}\n',
    "c-sharp": 'class C { void f(int x) {\n  var a = $"é {foo(x)} {m.bar(1):X}";\n  var b = $@"q {qux(3)}";\n} }\n',
    "elixir": 'defmodule M do\n  def f(x) do\n    "é #{foo(x)} #{m.bar(1)}"\n    ~s(q #{qux(3)})\n  end\nend\n',
    "javascript": "function f(x) {\n  return `é ${foo(x)} ${m.bar(1)}` + `q ${qux(3)}`;\n}\n",
    "kotlin": 'fun f(x: Int) {\n  val a = "é ${foo(x)} $x ${m.bar(1)}"\n  val b = """q ${qux(3)}"""\n}\n',
    "php": '<?php\nfunction f($m) {\n  $a = "é {$m->foo(1)} {$m->bar(1)}";\n  $b = <<<X\n  q {$m->qux(3)}\n  X;\n}\n',
    "ruby": 'def f(x)\n  a = "é #{foo(x)} #{m.bar(1)}"\n  b = <<~X\n    q #{qux(3)}\n  X\nend\n',
    "scala": 'object M {\n  def f(x: Int) = s"é ${foo(x)} $x ${m.bar(1)}" + s"""q ${qux(3)}"""\n}\n',
    "swift": 'func f(x: Int) {\n  let a = "é \\(foo(x)) \\(m.bar(1))"\n  let b = """\n  q \\(qux(3))\n  """\n}\n',
    "tsx": "function f(x) {\n  return <a b={`é ${foo(x)} ${m.bar(1)}`}>{`q ${qux(3)}`}</a>;\n}\n",
    "typescript": "function f(x) {\n  return `é ${foo(x)} ${m.bar(1)}` + `q ${qux(3)}`;\n}\n",
}
RECEIVERS = {"bash": ["", "", ""], "php": ["$m", "$m", "$m"]}


@pytest.mark.parametrize("language", SOURCES)
def test_calls_in_texts_are_calls(language: str) -> None:
    read = parse(language, SOURCES[language])
    calls = [call[1:3] for call in references_of(read.facts)["calls"] if call[2] not in ("cat", "C")]

    assert calls == [
        list(pair) for pair in zip(RECEIVERS.get(language, ["", "m", ""]), ["foo", "bar", "qux"], strict=True)
    ]
    assert {"foo", "bar", "qux"} <= {
        fact.text.rpartition(".")[2].rpartition(">")[2] for fact in read.symbols[-1].facts.calls
    }
