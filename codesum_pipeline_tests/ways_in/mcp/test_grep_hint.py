"""Which searches of an agent are for a symbol, and the hook that says so."""

import json
import os
import subprocess
import sys

import pytest

from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.ways_in.mcp import grep_hint
from codesum_pipeline.ways_in.mcp.agent_profiles import hint_command
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
        ("x_" * 40, "x_" * 40),
        ("x_" * 40 + "x", None),
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
        ("rg " + "x" * 1997, ["x" * 1997]),
        ("rg " + "x" * 1998, []),
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


def hinted(call, *, program=None):
    """What the hook prints for a call, and how it ends."""
    process = subprocess.run(
        ["sh", "-c", program or hint_command()], input=json.dumps(call) if isinstance(call, dict) else call,
        capture_output=True, text=True, timeout=60, env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


def test_a_search_for_a_symbol_gets_a_hint_that_names_tools_and_decides_nothing():
    output = json.loads(hinted({"tool_name": "Grep", "tool_input": {"pattern": r"def charge_card\("}}))

    (answer,) = output.values()
    assert {*answer} == {"hookEventName", "additionalContext"}
    assert answer["hookEventName"] == "PreToolUse"
    named = {name.removeprefix("mcp__codesum__") for name in answer["additionalContext"].split() if "mcp__" in name}
    assert named == {"graph", "read"} and named <= {*tools_by_name(every=False)}
    assert '{"id": "charge_card"}' in answer["additionalContext"]
    assert len(answer["additionalContext"]) < 250


@pytest.mark.parametrize("call", ["", "{", "[]", "{}", '{"tool_name": "Grep"}', '{"tool_name": 1, "tool_input": 2}'])
def test_the_hook_is_silent_about_what_it_does_not_understand(call):
    assert hinted(call) == ""


@pytest.mark.parametrize(("characters", "is_told"), [(1_000_000, True), (1_000_001, False)])
def test_a_call_is_read_up_to_a_length(characters, is_told):
    call = {"tool_name": "Grep", "tool_input": {"pattern": "charge_card", "path": ""}}
    call["tool_input"]["path"] = "x" * (characters - len(json.dumps(call)))

    assert bool(hinted(call)) is is_told


def test_a_hook_whose_file_or_python_is_gone_lets_the_agent_go_on():
    command = hint_command()

    assert hinted("{}", program=command.replace("grep_hint.py", "gone.py")) == ""
    assert hinted("{}", program=command.replace(sys.executable, "/nowhere/python")) == ""
