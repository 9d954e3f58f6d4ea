"""A docstring goes, and nothing else: every definition stays in its lines."""

import pytest

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import Symbol
from codesum_pipeline.search.evaluation.own_questions import without_docstrings
from codesum_pipeline.symbols.parsing.parsers import parse_file

PYTHON = '''"""The module."""

import functools


class Cart:
    """What a customer wants to buy.

    Kept in the order of choice.
    """

    def add(self, product):
        """Put it into the cart."""
        return product

    @functools.cache
    def total(self): "Add up."; return 0

    def empty(self):
        """Says nothing else."""


async def wait():
    (
        "Wait for it, "
        "long."
    )
    return 1
'''

SOURCES = {
    "python": PYTHON,
    "javascript": (
        "/**\n * Adds two numbers.\n * @param a one\n */\nfunction add(a, b) {\n  return a + b\n}\n\n"
        "/* Not of this. */\nlet x = 1\n\n// Takes one away\n// from the other.\nfunction less(a, b) { return a - b }\n"
    ),
    "typescript": "/** A cart of things. */\nexport class Cart {\n  /** Sum of it. */\n  total() { return 1 }\n}\n",
    "go": "package shop\n\n// Add puts a product in.\n// It may fail.\nfunc Add(a int) int {\n\treturn a\n}\n",
    "rust": "/// Adds up all of it.\n#[inline]\npub fn add(a: u32) -> u32 {\n    a\n}\n",
    "java": "class A {\n  /**\n   * Adds up all of it.\n   */\n  @Deprecated\n  int add(int a) { return a; }\n}\n",
    "c": "#include <stdio.h>\n\n/* Adds up all of it. */\nint add(int a) {\n  return a;\n}\n",
    "ruby": "# A cart of things.\nclass Cart\n  # Adds up all of it.\n  def add(a)\n    a\n  end\nend\n",
    "elixir": 'defmodule A do\n  @doc """\n  Adds up all of it.\n  """\n  def add(a) do\n    a\n  end\nend\n',
    "haskell": "module A where\n\n-- | Adds up all of it.\nadd :: Int -> Int\nadd a = a + 1\n",
}


def symbols_of(source: str, language: str) -> dict[str, Symbol]:
    parsed = parse_file("a", language, source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)
    return {symbol.id: symbol for symbol in parsed.symbols}


@pytest.mark.parametrize("language", SOURCES)
def test_a_docstring_goes_and_every_definition_stays_in_its_lines(language: str) -> None:
    before = symbols_of(SOURCES[language], language)
    documented = [symbol for symbol in before.values() if symbol.docstring]

    text = without_docstrings(SOURCES[language], "a", language, [symbol.start_line for symbol in documented])

    after = symbols_of(text, language)
    assert documented
    assert [symbol.id for symbol in after.values() if symbol.docstring] == []
    assert {(symbol.id, symbol.start_line, symbol.end_line) for symbol in after.values()} == {
        (symbol.id, symbol.start_line, symbol.end_line) for symbol in before.values()
    }
    assert text.count("\n") == SOURCES[language].count("\n")


def test_only_the_docstrings_that_are_named_go() -> None:
    text = without_docstrings(PYTHON, "a", "python", [12])

    assert text == PYTHON.replace('"""Put it into the cart."""', "...")


def test_code_beside_a_comment_is_never_taken_for_one() -> None:
    source = "/* One. */\nint a = 1;\nint b = 2; /* two */\nint add(int a) {\n  return a;\n}\n"

    assert without_docstrings(source, "a", "c", [4]) == source


def test_a_docstring_goes_beside_code_that_does_not_parse() -> None:
    source = 'def add(:\n    """Adds."""\n'

    assert without_docstrings(source, "a", "python", [1]) == source.replace('"""Adds."""', "...")
