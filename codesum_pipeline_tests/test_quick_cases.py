"""The table of tests of which only the first cases are quick names tests that are there."""

import ast
from pathlib import Path

import pytest

from codesum_pipeline_tests.support.quick_cases import QUICK_CASES

TESTS = Path(__file__).parent


@pytest.mark.parametrize("name", QUICK_CASES)
def test_a_test_whose_further_cases_are_slow_is_there(name: str) -> None:
    file, _, function = name.partition("::")
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))

    assert function in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
