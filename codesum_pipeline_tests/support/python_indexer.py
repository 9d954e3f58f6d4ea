"""A small indexer of Python for tests: an index of any sources, as a pure function of them.

It knows less than a compiler, but tells it in the same way: definitions where they stand, and each name or attribute
that is the name of one definition alone.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codesum_pipeline_tests.support.scip_indexes import HandMadeIndex, python_symbol


@dataclass(frozen=True)
class _Definition:
    path: str
    name: str
    symbol: str
    line: int
    lines: int
    bases: tuple[str, ...]


def index_python(sources: Mapping[str, str], *, outside: Mapping[str, str] | None = None) -> bytes:
    """The index of the files that parse; uses of the names in `outside` are of these symbols."""
    trees = {path: tree for path, text in sorted(sources.items()) if (tree := _parsed(path, text)) is not None}
    index = HandMadeIndex(sources)
    found = [one for path, tree in trees.items() for one in _definitions(path, tree, _module(path), "")]
    names = Counter(one.name for one in found)
    symbols = {one.name: one.symbol for one in found if names[one.name] == 1} | {**(outside or {})}
    for path in trees:
        index.module(path, python_symbol(_module(path)))
    for one in found:
        _define(index, sources[one.path], one, symbols)
    for path, tree in trees.items():
        for line, column, name in sorted(_uses(tree)):
            if name in symbols:
                index.place(path, symbols[name], _range(sources[path], line, column, name))
    return index.content()


def _parsed(path: str, text: str) -> ast.Module | None:
    if not path.endswith(".py"):
        return None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _definitions(path: str, node: ast.AST, module: str, around: str) -> Iterator[_Definition]:
    for child in ast.iter_child_nodes(node):
        inside = around
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            is_class = isinstance(child, ast.ClassDef)
            inside = f"{around}{child.name}{'#' if is_class else '().'}"
            bases = tuple(base.id for base in child.bases if isinstance(base, ast.Name)) if is_class else ()  # type: ignore[union-attr]
            lines = (child.end_lineno or child.lineno) - child.lineno + 1
            yield _Definition(path, child.name, python_symbol(module, inside), child.lineno, lines, bases)
        yield from _definitions(path, child, module, inside)


def _define(index: HandMadeIndex, source: str, one: _Definition, symbols: Mapping[str, str]) -> None:
    line = source.split("\n")[one.line - 1]
    keyword = "class " if line.lstrip().startswith("class ") else "def "
    column = line.index(keyword) + len(keyword)
    bases = [symbols[base] for base in one.bases if base in symbols]
    index.define_at(one.path, one.symbol, (one.line - 1, column, column + len(one.name)), lines=one.lines, bases=bases)


def _uses(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """Line, first possible column, and name of what is used; attributes are found after their value."""
    seen: defaultdict[tuple[int, int, str], int] = defaultdict(int)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.lineno, node.col_offset, node.id
        elif isinstance(node, ast.Attribute) and node.end_lineno and node.end_col_offset:
            place = (node.end_lineno, node.end_col_offset - len(node.attr.encode()), node.attr)
            seen[place] += 1
            if seen[place] == 1:
                yield place


def _range(source: str, line: int, column: int, name: str) -> tuple[int, int, int]:
    before = source.split("\n")[line - 1].encode()[:column].decode()
    start = len(before.encode("utf-16-le")) // 2
    return line - 1, start, start + len(name.encode("utf-16-le")) // 2
