"""The table of `docs/hostile_input.md` and the tests of this package name each other."""

import ast
import functools
import re
from pathlib import Path

import codesum_pipeline_tests

HERE = Path(__file__).parent
TESTS = Path(codesum_pipeline_tests.__file__).parent
PAGE = TESTS.parent / "docs" / "hostile_input.md"

_ROW = re.compile(
    r"^\| (?P<input>.+) \| (?P<outcome>.+) \| `(?P<file>[\w/.]+)::(?P<test>\w+)(?:\[(?P<case>.+)\])?` \|$"
)


def rows() -> list[re.Match[str]]:
    """The rows of the table below its head."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    found = [_ROW.match(line) for line in lines[1:]]
    assert None not in found, [line for line, row in zip(lines[1:], found, strict=True) if row is None]
    return [row for row in found if row]


@functools.cache
def read_tests(file: Path) -> tuple[set[str], set[str]]:
    """The names of a file's tests, and every text in it: the cases are among them."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }, texts


def test_every_row_names_a_test_that_is_there() -> None:
    for row in rows():
        names, texts = read_tests(TESTS / row["file"])
        assert row["test"] in names, row[0]
        assert row["case"] is None or row["case"] in texts, row[0]


def test_every_test_is_named_by_a_row() -> None:
    named = {(row["file"], row["test"]) for row in rows()}
    here = {
        (file.relative_to(TESTS).as_posix(), test)
        for file in HERE.glob("test_*.py")
        if file.name != Path(__file__).name
        for test in read_tests(file)[0]
    }

    assert here - named == set()


def test_every_input_has_a_row_of_its_own() -> None:
    found = [(row["input"], row["outcome"]) for row in rows()]

    assert len(found) == len(set(found)) >= 60
