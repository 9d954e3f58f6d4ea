"""A type annotation taken apart: names and their arguments, strings read as what they quote."""

import ast
from functools import lru_cache

from msgspec import Struct

UNION = "|"
UNREADABLE = "?"

# Deeper annotations are never about one class.
_MAX_DEPTH = 6


class Annotation(Struct, frozen=True):
    """A dotted name with its arguments; `|` holds alternatives, `?` stands for what cannot be read."""

    name: str
    arguments: tuple["Annotation", ...] = ()


_NOT_READABLE = Annotation(UNREADABLE)


@lru_cache(maxsize=50_000)
def parse_annotation(text: str, *, depth: int = 0) -> Annotation:
    """Read one annotation as written."""
    if depth > _MAX_DEPTH:
        return _NOT_READABLE
    try:
        return _read(ast.parse(text.strip(), mode="eval").body, depth)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _NOT_READABLE


def _read(node: ast.expr, depth: int) -> Annotation:
    match node:
        case ast.Name() | ast.Attribute():
            name = _dotted(node)
            return Annotation(name) if name else _NOT_READABLE
        case ast.Constant(value=str() as quoted):
            return parse_annotation(quoted, depth=depth + 1)
        case ast.Constant(value=None | True | False as word):
            return Annotation(str(word))
        case ast.BinOp(op=ast.BitOr()):
            parts = tuple(_alternatives(node, depth))
            return Annotation(UNION, parts)
        case ast.List(elts=found):
            return Annotation(UNREADABLE, _arguments(found, depth))
        case ast.Subscript(value=value, slice=inside):
            found = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            name = _dotted(value)
            return Annotation(name, _arguments(found, depth)) if name else _NOT_READABLE
    return _NOT_READABLE


def _alternatives(node: ast.expr, depth: int) -> list[Annotation]:
    """The parts of `a | b | c`, in order; the tree leans to the left."""
    parts: list[Annotation] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        parts.append(_read(node.right, depth))
        node = node.left
    return [_read(node, depth), *reversed(parts)]


def _arguments(found: list[ast.expr], depth: int) -> tuple[Annotation, ...]:
    return () if depth >= _MAX_DEPTH else tuple(_read(one, depth + 1) for one in found)


def _dotted(node: ast.expr) -> str:
    """A name with the names before it; "" where it is another expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""
