"""The tables of `docs/security.md` name tests that are there, and some of each module here."""

import ast
import functools
import re
from pathlib import Path

import codesum_pipeline_tests

HERE = Path(__file__).parent
TESTS = Path(codesum_pipeline_tests.__file__).parent
PAGE = TESTS.parent / "docs" / "security.md"

_TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")


def named() -> set[tuple[str, str]]:
    """Module and name of each test of the page."""
    return set(_TEST.findall(PAGE.read_text(encoding="utf-8")))


@functools.cache
def read_tests(module: str) -> set[str]:
    """The names of a module's tests."""
    tree = ast.parse((TESTS / module).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_test_of_the_page_is_there() -> None:
    assert [(module, test) for module, test in sorted(named()) if test not in read_tests(module)] == []


def test_every_row_names_a_test() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]

    assert [row for row in rows if not row.endswith("| test |") and not _TEST.search(row)] == []
    assert len(rows) >= 50


def test_every_module_with_hostile_input_is_on_the_page() -> None:
    here = {file.relative_to(TESTS).as_posix() for file in HERE.glob("test_*.py") if file.name != Path(__file__).name}

    assert here <= {module for module, _ in named()}
