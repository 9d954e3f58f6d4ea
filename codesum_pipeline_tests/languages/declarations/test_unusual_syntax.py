"""What a grammar does not know, or knows in another way, costs no definition.

Each case of `unusual_syntax/LANGUAGE.txt` begins with `### ` and what it is, and ends with `=== ` and the ids that the
file has, between ` | `.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline_tests.languages.declarations.cases import parse

CASES = Path(__file__).with_name("unusual_syntax")
_CASE = re.compile(r"^### (?P<rule>[^\n]+)\n(?P<source>.*?)^=== (?P<ids>[^\n]*)$", re.DOTALL | re.MULTILINE)


def _cases() -> Iterator[object]:
    for file in sorted(CASES.glob("*.txt")):
        for case in _CASE.finditer(file.read_text(encoding="utf-8")):
            rule = f"{file.stem}: {case['rule']}"
            yield pytest.param(file.stem, case["source"], case["ids"].split(" | "), id=rule)


@pytest.mark.parametrize(("language", "source", "expected"), list(_cases()))
def test_every_definition_of_a_file_is_read(language: str, source: str, expected: list[str]) -> None:
    parsed = parse(language, source)

    assert [symbol.id.removeprefix("file::") for symbol in parsed.symbols] == expected
    assert not parsed.facts.lost_definitions


@pytest.mark.parametrize("language", ["haskell", "kotlin", "ruby", "swift"])
def test_each_language_has_its_cases(language: str) -> None:
    assert len(_CASE.findall((CASES / f"{language}.txt").read_text(encoding="utf-8"))) >= 30


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        pytest.param(
            "ruby",
            "def a\n  <<~A\n    #{f(<<~B)}\n      b\n    B\n  A\nend\n",
            ["<<~A", "<<~B"],
            id="an inner here-document",
        ),
        pytest.param("kotlin", "class A { fun suspend() = 1 }\n", ["fun suspend() = 1"], id="a body on one line"),
        pytest.param(
            "swift",
            "func a() {\n  switch x {\n  case .low ..< .high: b()\n  }\n}\n",
            [".low..<.high"],
            id="a range of members",
        ),
        pytest.param("haskell", "#if X\nf = 1\n#else\nf = 2\n#endif\n", ["f = 1", "f = 2"], id="both branches"),
    ],
)
def test_what_the_grammar_was_not_shown_is_in_the_canonical_source(
    language: str, source: str, expected: list[str]
) -> None:
    canonical = parse(language, source).facts.source

    assert [text for text in expected if text not in canonical] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            "enum class E { A { fun f() = 1 }, B { fun f() = 2 }; fun g() = 3 }\n",
            "enum class E {\n  A {\n    fun f() = 1\n  },\n  B {\n    fun f() = 2\n  };\n  fun g() = 3\n}\n",
            id="bodies on one line and on several",
        ),
        pytest.param("class A { val x: Int }\n", "class A {\n  val x: Int\n}\n", id="a property on one line"),
    ],
)
def test_the_layout_of_a_body_in_kotlin_does_not_count(one: str, other: str) -> None:
    assert parse("kotlin", one).facts.content_hash == parse("kotlin", other).facts.content_hash
