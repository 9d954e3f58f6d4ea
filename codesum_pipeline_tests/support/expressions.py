"""Every regular expression of the package, where it stands and how it is used.

Three sources: literals in the source, what importing the package compiles, and what functions compile from tables and
arguments. Each call of `re` must be found by one of them.
"""

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

import codesum_pipeline

FOLDER = Path(codesum_pipeline.__file__).parent
_FUNCTIONS = ("compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer")
# A use that looks at the beginning of the text alone.
ANCHORED = frozenset({"match", "fullmatch"})


class Expression(Struct, frozen=True, order=True):
    """A regular expression at the place that compiles it, and the methods that are called there."""

    place: str
    line: int
    pattern: str | bytes
    flags: int
    uses: frozenset[str]

    @property
    def compiled(self) -> re.Pattern[str] | re.Pattern[bytes]:
        return re.compile(self.pattern, self.flags)


class Call(Struct, frozen=True):
    """A call of a function of `re`, and the name to which its result is given."""

    line: int
    end: int
    function: str
    name: str | None
    node: ast.Call


def calls_of(file: Path) -> list[Call]:
    """All calls of `re` in a module."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {
        id(node.value): node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    return [
        Call(node.lineno, node.end_lineno or node.lineno, node.func.attr, names.get(id(node)), node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in _FUNCTIONS
    ]


@contextmanager
def recording() -> Iterator[set[tuple[str, int, str | bytes, int]]]:
    """What the package compiles meanwhile: module, line, pattern and flags."""
    found: set[tuple[str, int, str | bytes, int]] = set()
    original = re._compile  # type: ignore[attr-defined]

    def compile_and_note(pattern: str | bytes | re.Pattern[str], flags: int) -> re.Pattern[str]:
        frame = sys._getframe(2)
        compiled: re.Pattern[str] = original(pattern, flags)
        if frame.f_globals.get("__name__", "").startswith("codesum_pipeline."):
            kept = compiled.flags & ~re.UNICODE if isinstance(compiled.pattern, str) else compiled.flags
            found.add((frame.f_code.co_filename, frame.f_lineno, compiled.pattern, kept))
        return compiled

    re._compile = compile_and_note  # type: ignore[attr-defined]
    try:
        yield found
    finally:
        re._compile = original  # type: ignore[attr-defined]


def import_all() -> None:
    """Import each module that compiles anything."""
    for file in sorted(FOLDER.rglob("*.py")):
        if file.name != "__main__.py" and calls_of(file):
            importlib.import_module(".".join(file.relative_to(FOLDER.parent).with_suffix("").parts))
