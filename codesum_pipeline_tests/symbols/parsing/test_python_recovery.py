"""One syntax error in a Python file costs the definitions around it nothing."""

import pytest

from codesum_pipeline.foundation.data_model.symbol import Symbol
from codesum_pipeline.symbols.parsing.text import ParsedFile
from codesum_pipeline_tests.languages.declarations.cases import parse

CLEAN = '''\
"""Stores."""

import os


class Store:
    """Keeps things."""

    def first(self, key):
        """Say "it"; don't ask."""
        if key:
            return os.path.join("a", key)
        return None

    @property
    def second(self):
        """The second one."""
        return self.first("b")


def third(a, b=1):
    """Adds.

    Like def, but (for numbers) it doesn't define.
    """
    return a + b


async def fourth():
    return f"{third(1)}"
'''
NAMES = ["Store", "first", "second", "third", "fourth"]


def names(parsed: ParsedFile) -> list[str]:
    return [symbol.name for symbol in parsed.symbols]


def changed(before: str, after: str) -> str:
    assert CLEAN.count(before) == 1
    return CLEAN.replace(before, after)


@pytest.mark.parametrize(
    "source",
    [
        changed("import os\n", "import os, (\n"),
        changed("import os\n", "x = {[\n"),
        changed('"""Keeps things."""', 'Keeps things."""'),
        changed('"""Keeps things."""', '"""Keeps things.'),
        changed('"""Adds.', "Adds."),
        changed('os.path.join("a", key)', 'os.path.join("a, key'),
        changed('f"{third(1)}"', 'f"{third(1)') + "\n\ndef fifth():\n    pass\n",
        changed("import os\n", "{% if cookiecutter.x %}\nimport os\n{% else %}\n(\n{% endif %}\n"),
        changed("import os\n", "from {{ a }}.b import (c, {{ d }}\n"),
        changed("        if key:\n", "<<<<<<< HEAD\n        if key:\n=======\n        if (not key:\n>>>>>>> other\n"),
        changed("        if key:\n", '\tprint "a %s" % key, `key`\n        if key <> 0777L:\n'),
        changed("        return None\n", "        raise E, 'a', tb\n        exec code in ns\n"),
        changed("        return None\n", "        return (1\n"),
        changed("    return a + b\n", "  return a + b\n"),
    ],
    ids=[
        "a bracket that is never closed, before all",
        "two of them",
        "a docstring without its opening quotes",
        "a docstring without its closing quotes",
        "one of a function, with prose",
        "a text that is never closed",
        "a formatted text that is never closed",
        "a template's conditions",
        "a template's values",
        "a merge conflict",
        "Python 2 and tabs",
        "statements of Python 2",
        "a bracket that is never closed, in a method",
        "an indentation that fits nowhere",
    ],
)
def test_every_definition_beside_a_syntax_error_is_found(source: str) -> None:
    parsed = parse("python", source)

    assert [name for name in names(parsed) if name != "fifth"] == NAMES
    assert ("fifth" in names(parsed)) == ("fifth" in source)
    assert not parsed.facts.lost_definitions


def test_a_broken_file_is_counted_as_one() -> None:
    facts = parse("python", changed("import os\n", "import os, (\n")).facts

    assert (facts.syntax_errors > 0, facts.lost_definitions) == (True, 0)


def test_python_2_alone_is_no_syntax_error() -> None:
    parsed = parse("python", "def f(a):\n    print a\n    exec a in b\n")

    assert (names(parsed), parsed.facts.syntax_errors) == (["f"], 0)


def test_newer_syntax_costs_nothing() -> None:
    source = "type A[T] = list[T]\n\ndef f[T: int = str](a: T) -> T:\n    match a:\n        case B(c=1) | [*_]: pass\n"

    assert names(parse("python", f"{source}\nclass C[T]:\n    x = t'{{a}}'\n\n    def g(self): ...\n")) == [
        "f",
        "C",
        "g",
    ]


OPEN = changed('"""Keeps things."""', '"""Keeps things.')


def found(source: str, name: str) -> Symbol:
    return next(symbol for symbol in parse("python", source).symbols if symbol.name == name)


def test_what_was_left_out_to_find_the_rest_stays_in_the_canonical_source() -> None:
    assert "Keeps things." in parse("python", OPEN).facts.source


def test_a_definition_keeps_its_own_lines_and_docstring() -> None:
    second = found(OPEN, "second")

    assert (second.start_line, second.end_line, second.docstring) == (15, 18, "The second one.")
    assert second.content_hash == found(CLEAN, "second").content_hash


def test_only_what_was_cut_says_that_it_does_not_parse() -> None:
    assert {symbol.name for symbol in parse("python", OPEN).symbols if symbol.has_syntax_errors} == {"Store"}


def test_the_same_broken_file_is_always_read_the_same_way() -> None:
    assert parse("python", OPEN) == parse("python", OPEN)


def test_an_edit_of_what_was_left_out_changes_the_file() -> None:
    edited = parse("python", OPEN.replace("Keeps things.", "Keeps nothing."))

    assert edited.facts.content_hash != parse("python", OPEN).facts.content_hash


def test_code_shown_in_a_docstring_of_a_broken_file_is_no_definition() -> None:
    source = 'x = (\n\ndef f():\n    """Use it::\n\n        class A:\n            def g(self): ...\n    """\n'

    assert names(parse("python", source)) == ["f"]
