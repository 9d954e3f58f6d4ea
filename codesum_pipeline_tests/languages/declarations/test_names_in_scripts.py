"""A definition whose name is in another script than Latin has a symbol, or is counted as one that could not be read."""

import pytest

from codesum_pipeline_tests.languages.declarations.cases import parse

READ = {
    "bash": ("été() {\n  :\n}\nfunction 删除 {\n  :\n}\n", ["été", "删除"]),
    "c": ("int été(int a)\n{\n  return a;\n}\nstruct имя { int a; };\n", ["été", "имя"]),
    "c-sharp": ("class 用户\n{\n    int 删除(int a)\n    {\n        return a;\n    }\n}\n", ["用户", "删除"]),
    "cpp": (
        "class 用户 {\n  int 删除(int a) { return a; }\n};\nint 用户::имя()\n{\n  return 1;\n}\n",
        ["用户", "删除", "имя"],
    ),
    "elixir": ("defmodule A do\n  def été?(x), do: x\n  defp метод(x), do: x\nend\n", ["A", "été?", "метод"]),
    "go": (
        "package a\nfunc 删除(a int) int { return a }\ntype Имя struct{}\nfunc (и *Имя) Метод() {}\n",
        ["删除", "Имя", "Метод"],
    ),
    "haskell": (
        "module A where\nété :: Int -> Int\nété x = x\n\nимя x = x\n\ndata Тип = А | Б\n",
        ["été", "имя", "Тип"],
    ),
    "java": ("class 用户 {\n  int 删除(int a) { return a; }\n  void été() {}\n}\n", ["用户", "删除", "été"]),
    "javascript": ("function 删除(a) { return a }\nclass Имя {\n  метод() {}\n}\n", ["删除", "Имя", "метод"]),
    "kotlin": ("fun имя() = 1\nclass Été {\n  fun `删 除`() = 2\n}\n", ["имя", "Été", "删 除"]),
    "lua": ("function été(a) return a end\nlocal function 删除(a) return a end\n", ["été", "删除"]),
    "php": ("<?php\nfunction 删除($a) { return $a; }\nclass Имя { function été() {} }\n", ["删除", "Имя", "été"]),
    "python": (
        "def 删除(a):\n    return a\n\n\nclass Имя:\n    def été(self):\n        pass\n",
        ["删除", "Имя", "été"],
    ),
    "ruby": ("def 删除(a)\n  a\nend\nclass A\n  def été?\n    1\n  end\nend\n", ["删除", "A", "été?"]),
    "rust": (
        "fn 删除(a: i32) -> i32 { a }\nstruct Имя;\nimpl Имя {\n    fn été(&self) {}\n}\n",
        ["删除", "Имя", "été"],
    ),
    "scala": ("object Имя {\n  def 删除(a: Int): Int = a\n  def été = 1\n}\n", ["Имя", "删除", "été"]),
    "swift": ("func 删除(_ a: Int) -> Int { return a }\nclass Имя {\n  func été() {}\n}\n", ["删除", "Имя", "été"]),
    "tsx": ("function Кнопка() { return <div/> }\n", ["Кнопка"]),
    "typescript": ("class Имя {\n  метод(): void {}\n}\ninterface 接口 { f(): void }\n", ["Имя", "метод", "接口", "f"]),
}


@pytest.mark.parametrize("language", READ)
def test_a_name_in_another_script_is_read(language: str) -> None:
    source, names = READ[language]
    parsed = parse(language, source)

    assert [symbol.name for symbol in parsed.symbols] == names
    assert (parsed.facts.syntax_errors, parsed.facts.lost_definitions) == (0, None)


@pytest.mark.parametrize(
    ("language", "source", "names", "lost"),
    [
        pytest.param(
            "kotlin",
            "fun 删除() {\n}\nclass 用户 {\n  fun имя() = 1\n}\nfun g() = 2\n",
            ["имя", "g"],
            (1, 3),
            id="kotlin",
        ),
        pytest.param("kotlin", "fun f() = 1\nfun 삭제() {\n}\nfun g() = 2\n", ["f", "g"], (2,), id="kotlin: hangul"),
        pytest.param("ruby", "class Имя\n  def f\n  end\nend\ndef g; end\n", ["f", "g"], (1,), id="ruby: a class"),
        pytest.param("ruby", "module Été\n  def f\n  end\nend\n", ["f"], (1,), id="ruby: a module"),
        pytest.param(
            "elixir",
            "defmodule A do\n  def 删除(a) do\n    a\n  end\n\n  def g(b), do: b\nend\n",
            ["A", "g"],
            (2,),
            id="elixir",
        ),
    ],
)
def test_a_name_that_the_grammar_refuses_is_counted_and_costs_no_other(
    language: str, source: str, names: list[str], lost: tuple[int, ...]
) -> None:
    parsed = parse(language, source)

    assert [symbol.name for symbol in parsed.symbols] == names
    assert parsed.facts.lost_lines == lost
