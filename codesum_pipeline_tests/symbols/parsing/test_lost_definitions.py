"""Lines that look like a definition are a witness of what a file defines that reads no grammar."""

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.symbols.parsing.lost_definitions import lines_of, with_lost_definitions
from codesum_pipeline.symbols.parsing.parsers import PARSERS, usual_budget
from codesum_pipeline_tests.languages.declarations.cases import parse

# Of each language, two classes or two other scopes with a function of the same name in each; or two functions.
SAME_NAMES = {
    "bash": "a() {\n  :\n}\nb() {\n  :\n}\n",
    "c": "int a(void)\n{\n  return 1;\n}\nint b(void)\n{\n  return 2;\n}\n",
    "c-sharp": "class A\n{\n    public int F()\n    {\n        return 1;\n    }\n}\nclass B\n{\n"
    "    public int F()\n    {\n        return 2;\n    }\n}\n",
    "cpp": "int A::f()\n{\n  return 1;\n}\nint B::f()\n{\n  return 2;\n}\n",
    "elixir": "defmodule A do\n  def f(x) do\n    x\n  end\nend\n\ndefmodule B do\n  def f(x) do\n    x\n  end\nend\n",
    "go": "package a\n\nfunc (a A) F() int {\n\treturn 1\n}\n\nfunc (b B) F() int {\n\treturn 2\n}\n",
    "haskell": "module A where\nf :: Int -> Int\nf x = x\n\ng :: Int -> Int\ng x = x\n",
    "java": "class A {\n public int f() {\n  return 1;\n }\n}\nclass B {\n public int f() {\n  return 2;\n }\n}\n",
    "javascript": "class A {\n  f(x) {\n    return x;\n  }\n}\nclass B {\n  f(x) {\n    return x;\n  }\n}\n",
    "kotlin": "class A {\n  fun f() = 1\n}\nclass B {\n  fun f() = 2\n}\n",
    "lua": "function A.f()\n  return 1\nend\nfunction B.f()\n  return 2\nend\n",
    "php": "<?php\nclass A {\n  public function f() {}\n}\nclass B {\n  public function f() {}\n}\n",
    "python": "class A:\n    def f(self):\n        pass\n\n\nclass B:\n    def f(self):\n        pass\n",
    "ruby": "class A\n  def f\n  end\nend\n\nclass B\n  def f\n  end\nend\n",
    "rust": "impl A {\n    fn f() {}\n}\nimpl B {\n    fn f() {}\n}\n",
    "scala": "class A {\n  def f = 1\n}\nclass B {\n  def f = 2\n}\n",
    "swift": "class A {\n  func f() {}\n}\nclass B {\n  func f() {}\n}\n",
    "tsx": "class A {\n  f(x: number) {\n    return x;\n  }\n}\nclass B {\n  f(x: number) {\n    return x;\n  }\n}\n",
    "typescript": "class A {\n f(x: number) {\n  return x;\n }\n}\nclass B {\n f(x: number) {\n  return x;\n }\n}\n",
    "zig": "fn a() void {}\nfn b() void {}\n",
}


@pytest.mark.parametrize("language", sorted(PARSERS))
def test_each_symbol_that_goes_is_missed_at_its_line_though_another_has_its_name(language: str) -> None:
    source = SAME_NAMES[language]
    parsed, data = parse(language, source), source.encode()
    lines = tuple(lines_of(PARSERS[language].declaration, data))
    tree, has_clauses = _tree(language, data), bool(PARSERS[language].declaration.clauses)

    whole = with_lost_definitions(parsed, lines, data, tree, has_clauses=has_clauses)
    missed = []
    for symbol in parsed.symbols:
        kept = tuple(other for other in parsed.symbols if other is not symbol)
        facts = with_lost_definitions(replace(parsed, symbols=kept), lines, data, tree, has_clauses=has_clauses).facts
        missed.append((facts.lost_definitions, facts.lost_lines) == (1, (symbol.start_line,)))

    assert (whole.facts.lost_definitions, whole.facts.lost_lines) == (None, None)
    assert len(missed) > 1
    assert all(missed)


@pytest.mark.parametrize(
    ("language", "source"),
    [
        pytest.param("python", 'x = """\ndef f(x):\n"""\n# def g(x):\n', id="python: texts and comments"),
        pytest.param("ruby", "x = <<~A\n  def f\n  class B\nA\ndef g; end\n", id="ruby: a here-document"),
        pytest.param("ruby", "def g; end\n__END__\ndef f\n", id="ruby: behind the end of the program"),
        pytest.param("ruby", "=begin\ndef f\n=end\ndef g; end\n", id="ruby: a block comment"),
        pytest.param("elixir", 'x = ~S"""\ndefmodule A do\n  def f(x) do\n"""\n', id="elixir: a sigil"),
        pytest.param("elixir", "quote do\n  def unquote(name)(x) do\n    x\n  end\nend\n", id="elixir: a made name"),
        pytest.param(
            "php", "<script>\nfunction f(x) {\n}\n</script>\n<?php f();\n", id="php: another language around it"
        ),
        pytest.param("php", "<?php\n$x = <<<'A'\nclass B {\nA;\n", id="php: a here-document"),
        pytest.param("swift", 'let x = """\n  func f() {}\n  """\n/* func g() {} */\n', id="swift: texts and comments"),
        pytest.param(
            "kotlin", 'val x = """\nfun f() {}\n"""\n/* /* */\nfun g() {}\n*/\n', id="kotlin: nested comments"
        ),
        pytest.param("haskell", "x = [q|\nf :: Int\n|]\n{-\ng :: Int\n-}\n", id="haskell: a quotation"),
        pytest.param("javascript", "const x = `\nfunction f() {}\nclass A {\n`;\n", id="javascript: a template"),
        pytest.param("go", "package a\n\nvar x = `\nfunc f() {\n`\n", id="go: a raw text"),
        pytest.param("rust", 'const X: &str = r#"\nfn f() {}\n"#;\n', id="rust: a raw text"),
        pytest.param(
            "rust", "macro_rules! m {\n    () => {\n        fn f() {}\n    };\n}\n", id="rust: what a macro writes"
        ),
        pytest.param("bash", "cat <<A\nf() {\nA\n", id="bash: a here-document"),
        pytest.param("java", 'class A {\n  String x = """\n  class B {\n  """;\n}\n', id="java: a text block"),
        pytest.param("scala", 'val x = """\ndef f = 1\n"""\n', id="scala: a text"),
        pytest.param("lua", "x = [[\nfunction f()\n]]\n--[[\nfunction g()\n]]\n", id="lua: long texts and comments"),
        pytest.param("c", "/*\nint f(void)\n{\n*/\nint x;\n", id="c: a comment"),
    ],
)
def test_texts_and_comments_define_nothing(language: str, source: str) -> None:
    facts = parse(language, source).facts

    assert (facts.lost_definitions, facts.lost_lines) == (None, None)


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        pytest.param(
            "kotlin", "enum class E { A { fun f() = 1}, B { fun f() = 2}}\n", (1,), id="bodies without blanks"
        ),
        pytest.param("python", "def b(x:\n    return (\n\n\nclass C D:\n", (1,), id="a head that does not end"),
        pytest.param("ruby", "class A\n  def f(\n\n  def g(1)\n", (1, 2), id="heads that do not end"),
    ],
)
def test_the_lines_of_what_could_not_be_read_are_kept(language: str, source: str, expected: tuple[int, ...]) -> None:
    facts = parse(language, source).facts

    assert (facts.lost_definitions, facts.lost_lines) == (len(expected), expected)


def test_a_definition_lost_without_an_error_is_read_again() -> None:
    source = "@A\n@B\nprivate fun f() = g {\n    h()\n}\n\n@A\n@B\nprivate fun i() = g {\n    j()\n}\n"
    parsed = parse("kotlin", source)

    assert not PARSERS["kotlin"]._grammar().parser().parse(source.encode()).root_node.has_error
    assert [symbol.name for symbol in parsed.symbols] == ["f", "i"]
    assert (parsed.facts.syntax_errors, parsed.facts.lost_definitions) == (0, None)


def test_ten_thousand_lines_of_one_name_are_compared_at_once() -> None:
    source = "def f(x):\n    pass\n" * 10_000
    data = source.encode()
    lines = tuple(lines_of(PARSERS["python"].declaration, data))
    parsed = parse("python", "def f(x):\n    pass\n")

    facts = with_lost_definitions(parsed, lines, data, None).facts

    assert facts.lost_definitions == 9_999
    assert facts.lost_lines == tuple(range(3, 2_003, 2))


def _tree(language: str, data: bytes) -> object:
    return PARSERS[language].reading(data, "file", hash_policy=HashPolicy.CANONICAL, budget=usual_budget(data)).tree
