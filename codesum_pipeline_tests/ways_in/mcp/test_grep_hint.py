"""Which searches of an agent are for a symbol."""

import sys

import pytest

from codesum_pipeline.ways_in.mcp import grep_hint
from codesum_pipeline.ways_in.mcp.grep_hint import patterns_of, symbol_of


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("charge_card", "charge_card"),
        (r"\bchargeCard\b", "chargeCard"),
        ("class Engine", "Engine"),
        (r"def\s+run\b", "run"),
        ("async def run", "run"),
        (r"run\(", "run"),
        ("Engine::start", "Engine::start"),
        (r"http\.Client", "http.Client"),
        ("self._retries", "self._retries"),
        ("timeout", None),
        ("TODO", None),
        ("could not open", None),
        ("README.md", None),
        ("a|b", None),
        ("foo_bar.*baz", None),
        ("", None),
        ("x_" * 100, None),
    ],
)
def test_a_symbol_is_what_no_word_of_prose_looks_like(pattern, name):
    assert symbol_of(pattern) == name


@pytest.mark.parametrize(
    ("command", "patterns"),
    [
        ("rg -n foo_bar src", ["foo_bar"]),
        ("cd src && grep -rn --include '*.py' -e foo_bar . | head", ["foo_bar"]),
        ("git grep 'def run'", ["def run"]),
        ("/usr/bin/rg -t py foo_bar", ["foo_bar"]),
        ("ls | grep foo_bar", []),
        ("cat x; rg one_two; rg three_four | wc", ["one_two", "three_four"]),
        ("rg --files -g '*.py'", []),
        ("git log --grep foo_bar", []),
        ("rg " + "x" * 5000, []),
    ],
)
def test_of_a_pipe_only_the_beginning_searches_files(command, patterns):
    assert [*patterns_of("Bash", {"command": command})] == patterns


def test_other_tools_search_nothing():
    assert [*patterns_of("Write", {"pattern": "foo_bar", "command": "rg foo_bar"})] == []


def test_it_imports_nothing_but_a_little_of_the_standard_library():
    imported = {
        name.partition(".")[0]
        for name, value in vars(grep_hint).items()
        if getattr(value, "__spec__", None) and name != "__builtins__"
    }

    assert imported <= {"json", "re", "shlex", "sys"} <= sys.stdlib_module_names
