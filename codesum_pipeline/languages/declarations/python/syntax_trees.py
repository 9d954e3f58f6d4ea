"""Python's own parser, for one thread at a time.

In Python 3.11 and 3.12 `ast.parse` counts its depth in one place for all threads: where two threads parse, it raises
`SystemError` (https://github.com/python/cpython/issues/106905).
"""

import ast
import threading

PARSING = threading.Lock()


def parse_syntax(source: str) -> ast.Module:
    """The syntax tree of a source; raises as `ast.parse` does."""
    with PARSING:
        return ast.parse(source)


def parse_expression(source: str) -> ast.expr:
    """The syntax tree of an expression; raises as `ast.parse` does."""
    with PARSING:
        return ast.parse(source, mode="eval").body
