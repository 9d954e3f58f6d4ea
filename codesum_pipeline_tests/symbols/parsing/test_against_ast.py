"""Python's own parser finds the same definitions, in the standard library's own sources."""

import ast
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline.symbols.parsing.nested_definitions import MAX_NESTING
from codesum_pipeline.symbols.parsing.parsers import PARSERS

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
# Every fortieth module in the order of names: the whole of it takes minutes and differs nowhere.
STEP = 40


def definitions_of(tree: ast.AST) -> Iterator[tuple[str, str, int, int]]:
    """Type, qualified name, first line (of the first decorator) and last line of each definition, in source order."""
    waiting: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, ())]
    while waiting:
        node, parts = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            parts = (*parts, node.name)
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            assert len(parts) < MAX_NESTING
            yield kind, ".".join(parts), first, node.end_lineno or 0
        waiting.extend((child, parts) for child in reversed(list(ast.iter_child_nodes(node))))


@pytest.mark.slow
def test_every_function_and_class_of_the_standard_library_is_found_at_its_lines() -> None:
    paths = sorted(STANDARD_LIBRARY.rglob("*.py"))
    # Its own tests are odd on purpose, and some do not parse by the grammar.
    paths = [path for path in paths if not {"site-packages", "lib2to3", "test", "tests"} & set(path.parts)][::STEP]
    compared = 0
    for path in paths:
        source = path.read_bytes().replace(b"\r\n", b"\n")
        try:
            expected = sorted(definitions_of(ast.parse(source)))
        except (SyntaxError, ValueError):
            continue  # sources that are broken on purpose
        found = PARSERS["python"].parse(source, path.name).symbols
        assert sorted((s.type.value, s.qualified_name, s.start_line, s.end_line) for s in found) == expected, path
        compared += len(expected)
    assert compared > 500
