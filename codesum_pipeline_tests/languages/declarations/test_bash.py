"""What is read from Bash."""

import pytest

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import Fact, Import
from codesum_pipeline.symbols.parsing.parsers import parse_file
from codesum_pipeline_tests.languages.declarations.bash_case import SOURCE
from codesum_pipeline_tests.languages.declarations.cases import parse, symbols_by_name
from codesum_pipeline_tests.languages.declarations.references import references_of


def texts(facts: tuple[Fact, ...]) -> list[str]:
    return [fact.text for fact in facts]


def test_functions_of_all_forms_are_found() -> None:
    found = symbols_by_name("bash", SOURCE)

    assert {name: (symbol.signature, symbol.parent_id, symbol.complexity) for name, symbol in found.items()} == {
        "die": ("die()", None, 1),
        "current_folder": ("function current_folder", None, 1),
        "_in_folder": ("_in_folder()", None, 1),
        "build": ("build()", None, 7),
        "build::inner": ("inner()", "file::build", 1),
        "page": ("page()", None, 1),
        "usage": ("usage()", None, 1),
        "main": ("main()", None, 4),
    }
    assert {name for name, symbol in found.items() if not symbol.is_public} == {"_in_folder"}


def test_comments_right_above_document() -> None:
    found = symbols_by_name("bash", SOURCE)

    assert parse("bash", SOURCE).facts.docstring == "Puts a release where people find it."
    assert {name: symbol.docstring for name, symbol in found.items() if symbol.docstring} == {
        "die": "Says what went wrong, and ends.\n$1: the message",
        "page": "Writes the page.",
    }


def test_what_functions_say_about_themselves() -> None:
    found = symbols_by_name("bash", SOURCE)

    assert texts(found["die"].facts.calls) == ["echo", "current_folder"]
    assert texts(found["die"].facts.raises) == ['exit "$code"']
    assert texts(found["build"].facts.returned) == ["1"]
    assert texts(found["page"].facts.calls) == ["cat", "title"]
    assert texts(found["main"].facts.calls) == [
        "cleanup", "usage", "build", "page", "sort", "die", "echo", "run",
    ]  # fmt: skip


def test_imports_and_globals() -> None:
    facts = parse("bash", SOURCE).facts

    assert facts.imports == (
        Import("lib/log.sh", 0, None, None, None, 7),
        Import("./common.sh", 0, None, None, None, 8),
    )
    assert facts.globals == ("TARGET", "PATH", "MODE", "sizes")


def test_commands_without_a_fixed_name_are_no_calls() -> None:
    references = references_of(parse("bash", '"$tool" a\n$x\n"quoted" b\n./run.sh\nexit 0\n').facts)

    assert [call[2] for call in references["calls"]] == ["quoted", "./run.sh"]


@pytest.mark.parametrize(
    ("source", "canonical"),
    [
        pytest.param("if a\nthen b; fi", "if a; then\n    b\nfi", id="then"),
        pytest.param("if a; b; then c; fi", "if a; b; then\n    c\nfi", id="two conditions"),
        pytest.param("for x in 1 2\ndo\n a & b\ndone", "for x in 1 2; do\n    a &\n    b\ndone", id="do"),
        pytest.param("a <<E >b\n  $(c)\n\tx\nE\nd", "a <<E > b\n  $(c)\n\tx\nE\nd", id="here-document"),
        pytest.param("a <<E\nE\nb", "a <<E\nE\nb", id="empty here-document"),
        pytest.param("f() {\n cat <<-E\n\tx\n\tE\n}", "f() {\n    cat <<-E\n\tx\n\tE\n}", id="here-document, indented"),
        pytest.param(
            'case x in *"a b"|c) d;; esac', 'case x in\n    *"a b" | c)\n        d\n        ;;\nesac', id="case"
        ),
        pytest.param('x=1 y+=2   z a"b"c', 'x=1 y+=2 z a"b"c', id="words"),
        pytest.param("a 2>&1 < <(b) >&2", "a 2>&1 < <(b) >&2", id="redirects"),
        pytest.param("a &&\n  b |\n  c \\\n  d", "a && b | c d", id="lists over lines"),
        pytest.param("x=(a # first\n  b)", "x=(a b)", id="array"),
    ],
)
def test_canonical_source_is_laid_out_and_stays_code(source: str, canonical: str) -> None:
    assert parse("bash", source + "\n").facts.source == canonical
    assert parse("bash", canonical + "\n").facts.source == canonical


def test_a_function_that_does_not_parse_leaves_the_others() -> None:
    parsed = parse("bash", "good() { a; }\nbad() { if ; }\n# Fine.\nfine() { good; }\n")

    assert parsed.facts.syntax_errors > 0
    assert "file::good" in {symbol.id for symbol in parsed.symbols}


def test_of_a_zsh_file_that_does_not_parse_each_function_is_read_alone() -> None:
    broken = b"f() {\n  for x (a b) { echo ${(f)x} }\n}\nx=(${(f)y})\ng() {\n  echo 1\n}\n"
    whole, none = b"f() {\n  echo 1\n}\n", b"for x (a b) { echo ${(f)x} }\n"
    script = b"#!/usr/bin/env zsh\n"

    def found(path: str, source: bytes) -> list[tuple[str, int, int]]:
        read = parse_file(path, "bash", source, blob="", hash_policy=HashPolicy.CANONICAL)
        return [(symbol.name, symbol.start_line, symbol.end_line) for symbol in read.symbols]

    assert found("a.zsh", broken) == found(".zshrc", broken) == [("f", 1, 3), ("g", 5, 7)]
    assert found("a", script + broken) == [("f", 2, 4), ("g", 6, 8)]
    assert [found("a.zsh", whole), found("a.zsh", none)] == [[("f", 1, 3)], []]
