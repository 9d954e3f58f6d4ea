"""`codesum grep`: what it prints, and its exit codes."""

import json

import pytest

from codesum_pipeline_tests.support.commands import fork_codesum
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


def test_programs_get_everything_as_json(grep):
    found = json.loads(grep("Till", "--json").stdout)

    assert (found["pattern"], found["repositories"], found["matching_lines"], found["total"]) == (
        "Till",
        ["shop"],
        3,
        3,
    )
    assert found["places"][0]["id"] == "till.py::Till"
    assert found["places"][0]["lines"] == [{"number": 1, "text": "class Till:", "marks": [[6, 10]]}]
    nothing = grep("nothing like it", "--json")
    assert (nothing.exit_code, json.loads(nothing.stdout)["places"]) == (1, [])


def test_in_a_checkout_its_edits_are_searched(once, tmp_path):
    repo = copy_built(once, tmp_path)
    repo.write({"use.py": FILES["use.py"].replace("print", "show")})
    done = fork_codesum("--home", tmp_path / "home", "grep", r"show\(", cwd=repo.path)

    assert done.returncode == 0, done.stderr
    assert "  5     show(Till().count())" in done.stdout
