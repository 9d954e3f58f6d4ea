"""Docstrings of Python: where they stand, and what they say."""

import ast
import inspect
import warnings
from collections.abc import Iterable

from tree_sitter import Node


def docstring_node(body: Node | None) -> Node | None:
    """The string that is the first statement of a body, in brackets or not; None where there is none."""
    if body is None:
        return None
    statement = _first(body.named_children)
    if statement is None or statement.type != "expression_statement" or statement.named_child_count != 1:
        return None
    value = _first(statement.named_children)
    while value is not None and value.type == "parenthesized_expression":
        value = _first(value.named_children)
    if value is None or value.type not in ("string", "concatenated_string"):
        return None
    return value


def docstring_text(canonical: str) -> str | None:
    """The docstring's text without its margin; None for a formatted or bytes literal and for an empty one."""
    value = literal_value(canonical)
    return inspect.cleandoc(value) or None if isinstance(value, str) else None


def is_ellipsis(statement: Node) -> bool:
    """Whether a statement is `...`, in place of a body."""
    return [child.type for child in statement.named_children] == ["ellipsis"]


def _first(nodes: Iterable[Node]) -> Node | None:
    return next((node for node in nodes if not node.is_extra), None)


def literal_value(literal: str) -> object:
    """The value of a literal, but half a surrogate pair as its escape, for no table or request can hold it; None for a
    formatted or a broken one."""
    quotes = literal[:3]
    if quotes in ('"""', "'''") and "\\" not in literal and literal.find(quotes, 3) == len(literal) - 3:
        return literal[3:-3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = ast.literal_eval(literal)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
