"""`codesum grep`: what it prints, and its exit codes."""

import json
import os
import subprocess
from functools import partial

import pytest
from rich.console import Console
from rich.measure import Measurement

from codesum_pipeline.answers.agent_tools.grep_tool import GrepLine
from codesum_pipeline.foundation.data_model.errors import CodesumError, RetryLater
from codesum_pipeline.ways_in.cli.commands import grep as command
from codesum_pipeline.ways_in.cli.render import TextByWidth
from codesum_pipeline_tests.support.commands import COMMAND, environment, fork_codesum
from codesum_pipeline_tests.support.homes import built_once, copy_built

FILES = {
    "till.py": 'class Till:\n    """Holds coins."""\n\n    def count(self):\n        return sum(self.coins)\n',
    "use.py": "from till import Till\n\n\ndef main():\n    print(Till().count())\n",
    "blob.bin": b"\0",
}


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    return built_once(tmp_path_factory.mktemp("grep"), FILES, filter={"min_lines": 0})


@pytest.fixture
def grep(once, codesum):
    return lambda *arguments: codesum(once / "home", "grep", *arguments)


def test_lines_are_printed_below_what_holds_them(grep):
    done = grep("count", "-w")

    assert done.exit_code == 0
    assert done.stdout.startswith("till.py:4-5  function\n  Till.count: ")
    assert "  4     def count(self):\n\nuse.py:4-5  function\n  main: " in done.stdout
    assert done.stdout.endswith("\n  5     print(Till().count())\n")
    assert done.stderr == "2 lines in 2 places: 1 in definitions, 1 in code\n"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["Till"], 0, "3 lines in 3 places: 1 in definitions, 2 in code"),
        (["nothing like it"], 1, "no line matches 'nothing like it' in shop"),
        (["print("], 2, "to find it as it stands, search for it as a fixed text (-F)"),
        (["-F", "print("], 0, "1 line in 1 place: 1 in code"),
        (["-i", "TILL", "--top", "1"], 0, "; --top 3 shows all"),
        ([""], 2, "the pattern is empty"),
        (["x", "--repo", "nowhere"], 2, "nowhere"),
        (["x", "--path", "no/"], 2, "path 'no/' matches nothing in shop"),
        (["x", "--path", "blob.bin"], 2, "skipped: blob.bin is in shop and not in its index, binary"),
        (["x", "--tests", "perhaps"], 2, "perhaps"),
        (["--", "-> None"], 1, "no line matches '-> None'"),
    ],
    ids=str,
)
def test_exit_codes_are_those_of_grep(grep, arguments, code, told):
    done = grep(*arguments)

    assert done.exit_code == code, done.stderr
    assert told in " ".join(done.stderr.split())


def test_what_goes_wrong_never_ends_as_no_match_does(grep, once, tmp_path, monkeypatch):
    def fail(error):
        def find(*_):
            raise error

        monkeypatch.setattr(command, "lines_in", find)
        return grep("Till")

    known, system, unforeseen = fail(CodesumError("it failed")), fail(OSError(5, "broken")), fail(LookupError("a bug"))

    assert (known.exit_code, known.stderr) == (2, "codesum: it failed\n")
    assert (system.exit_code, system.stderr) == (2, "codesum: [Errno 5] broken\n")
    assert (unforeseen.exit_code, "LookupError: a bug" in unforeseen.stderr) == (2, True)
    assert fail(RetryLater("later")).exit_code == 3
    monkeypatch.undo()
    debugged = fork_codesum("--debug", "--home", once / "home", "grep", "Till", "--repo", "nowhere", cwd=tmp_path)
    assert (debugged.returncode, "Traceback" in debugged.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["Till"], 0), (["Till", "--json"], 0), (["nothing like it", "--json"], 1), (["print("], 2)],
    ids=str,
)
@pytest.mark.parametrize("has_errors_apart", [True, False])
def test_a_reader_that_had_enough_changes_no_exit_code(once, arguments, code, has_errors_apart):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as broken:
        done = subprocess.run(
            [*COMMAND, "--home", once / "home", "grep", *arguments],
            stdout=broken,
            stderr=subprocess.PIPE if has_errors_apart else broken,
            env=environment(),
        )

    assert done.returncode == code, done.stderr
    assert b"Traceback" not in (done.stderr or b"")


def test_programs_get_everything_as_json(grep):
    found = json.loads(grep("Till", "--json").stdout)

    assert (found["pattern"], found["repositories"], found["matching_lines"], found["total"]) == (
        "Till",
        ["shop"],
        3,
        3,
    )
    assert found["places"][0]["id"] == "till.py::Till"
    line = {"number": 1, "text": "class Till:", "marks": [[6, 10]], "cell": None, "cell_line": None}
    assert found["places"][0]["lines"] == [line]
    nothing = grep("nothing like it", "--json")
    assert (nothing.exit_code, json.loads(nothing.stdout)["places"]) == (1, [])


def numbered(*lines):
    return TextByWidth(partial(command._numbered, lines))


def test_lines_are_no_wider_than_their_text():
    """Else each is filled with a million spaces where output is piped."""
    console = Console(width=1_000_000)
    lines = numbered(GrepLine(number=9, text="\tx = 1"), GrepLine(number=10, text="中"))

    assert Measurement.get(console, console.options, lines).maximum == len("10     x = 1")
    console.width = 5
    assert Measurement.get(console, console.options, lines).maximum == 5


def test_a_narrow_terminal_shows_the_match_of_a_long_line():
    console = Console(width=40, highlight=False)
    long = f"{'x = 1; ' * 10}till.count() + {'1 + ' * 10}"
    start = long.index("till")
    with console.capture() as shown:
        console.print(
            numbered(GrepLine(number=9, text=long, marks=[(start, start + 4)]), GrepLine(number=10, text="y"))
        )

    first, second = shown.get().splitlines()
    assert first == f" 9 …{long[start - 8 : start + 27]}…"
    assert second == "10 y"


def test_in_a_checkout_its_edits_are_searched(once, tmp_path):
    repo = copy_built(once, tmp_path)
    repo.write({"use.py": FILES["use.py"].replace("print", "show")})
    done = fork_codesum("--home", tmp_path / "home", "grep", r"show\(", cwd=repo.path)

    assert done.returncode == 0, done.stderr
    assert "  5     show(Till().count())" in done.stdout
