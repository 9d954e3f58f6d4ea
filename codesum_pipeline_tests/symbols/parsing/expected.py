"""What the standard library's parser says about a file's definitions."""

import ast
from collections.abc import Iterator

from codesum_pipeline.foundation.data_model.symbol import SymbolType

BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.With,
    ast.AsyncWith,
    ast.Assert,
)
Expected = tuple[int, int, str, SymbolType, int, object]


def expected_definitions(source: bytes) -> list[Expected]:
    """First and last line, qualified name, type, complexity and number of bases of each definition."""
    return list(_definitions(ast.parse(source), ()))


def _definitions(node: ast.AST, parts: tuple[str, ...]) -> Iterator[Expected]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inner = (*parts, child.name)
            yield (
                min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)]),
                child.end_lineno or 0,
                ".".join(inner),
                SymbolType.CLASS if isinstance(child, ast.ClassDef) else SymbolType.FUNCTION,
                1 + sum(isinstance(part, BRANCHES) for part in ast.walk(child)),
                _bases(child) or (),
            )
            yield from _definitions(child, inner)
        else:
            yield from _definitions(child, parts)


def _bases(node: ast.AST) -> int:
    """Base classes, with unpacked keywords, which are written among them."""
    return len(node.bases) + sum(k.arg is None for k in node.keywords) if isinstance(node, ast.ClassDef) else 0
