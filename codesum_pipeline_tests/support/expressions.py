"""Every regular expression of the package: where it stands, and by which methods it is used.

A call of `re` in the source is either evaluated, since its pattern is made of constants, or has compiled its pattern
meanwhile: when its module was imported, or when a function was called that makes it of a table or of what it is given.
"""

import ast
import importlib
import pickle
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import Struct

import codesum_pipeline

FOLDER = Path(codesum_pipeline.__file__).parent
_SCANNING = ("search", "sub", "subn", "split", "findall", "finditer")
_ANCHORED = ("match", "fullmatch")
_METHODS = frozenset({*_SCANNING, *_ANCHORED})

# Module, line, pattern and flags.
Compiled = tuple[str, int, str | bytes, int]


class Expression(Struct, frozen=True):
    """An expression, the name that its module gives it, and the methods by which that uses it."""

    place: str
    name: str
    pattern: str | bytes
    flags: int
    uses: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.place} {self.name} {self.pattern!r:.200}"


@contextmanager
def compilations() -> Iterator[set[Compiled]]:
    """What modules of the package compile meanwhile."""
    found: set[Compiled] = set()
    original = re._compile  # type: ignore[attr-defined]

    def noting(pattern: Any, flags: int) -> Any:
        compiled, frame = original(pattern, flags), sys._getframe(2)
        if frame.f_globals.get("__name__", "").startswith(f"{codesum_pipeline.__name__}."):
            found.add((frame.f_code.co_filename, frame.f_lineno, compiled.pattern, compiled.flags & ~re.UNICODE))
        return compiled

    re._compile = noting  # type: ignore[attr-defined]
    try:
        yield found
    finally:
        re._compile = original  # type: ignore[attr-defined]


def import_modules_with_expressions() -> dict[Path, ModuleType]:
    """Each module of the package that calls `re`."""
    return {
        file: importlib.import_module(".".join(file.relative_to(FOLDER.parent).with_suffix("").parts))
        for file in sorted(FOLDER.rglob("*.py"))
        if any(_calls(ast.parse(file.read_text(encoding="utf-8"))))
    }


def expressions(modules: dict[Path, ModuleType], compiled: set[Compiled]) -> tuple[list[Expression], set[str]]:
    """All expressions of these modules, and the calls whose expression is not known: their place and argument."""
    found: dict[tuple[str, str | bytes, int], Expression] = {}
    unknown: set[str] = set()
    for file, module in modules.items():
        tree, place = ast.parse(file.read_text(encoding="utf-8")), file.relative_to(FOLDER).as_posix()
        names, uses = _names_of_values(tree), _uses_of_names(tree)
        for call in _calls(tree):
            patterns = {
                (pattern, flags)
                for name, line, pattern, flags in compiled
                if name == str(file) and call.lineno <= line <= (call.end_lineno or call.lineno)
            } or _evaluated(call, module)
            if not patterns:
                unknown.add(f"{place}: {ast.unparse(call.args[0])}")
            assert isinstance(call.func, ast.Attribute)
            name = names.get(id(call), "")
            used = uses.get(name, _SCANNING[:1]) if call.func.attr == "compile" else {call.func.attr}
            for pattern, flags in patterns:
                found[place, pattern, flags] = Expression(place, name, pattern, flags, tuple(sorted(used)))
    return [*found.values()], unknown


def expressions_of_package(make: str) -> tuple[list[Expression], set[str]]:
    """As `expressions`, found in a process of its own, in which nothing of the package was imported before.

    `make` is a function, as `module:name`, that calls what makes expressions.
    """
    command = [sys.executable, "-c", f"from {__name__} import print_expressions; print_expressions({make!r})"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    found, unknown = pickle.loads(done.stdout)
    return found, unknown


def print_expressions(make: str) -> None:
    """Write all expressions of the package to the standard output."""
    module, _, name = make.partition(":")
    with compilations() as compiled:
        modules = import_modules_with_expressions()
        getattr(importlib.import_module(module), name)()
    sys.stdout.buffer.write(pickle.dumps(expressions(modules, compiled)))


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=function)):
                if function == "compile" or function in _METHODS:
                    yield node


def _names_of_values(tree: ast.AST) -> dict[int, str]:
    found = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[id(value)] = name
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                found |= {id(value): ast.unparse(target) for target, value in zip(targets, values, strict=False)}
    return found


def _uses_of_names(tree: ast.AST) -> dict[str, set[str]]:
    """The methods that are called of each name. One that is also used otherwise may be used by any."""
    found: dict[str, set[str]] = defaultdict(set)
    owners: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name) as owner, attr=method):
                owners.add(id(owner))
                found[name] |= {method} & _METHODS
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in owners:
            found[node.id].add("finditer")
    return found


def _evaluated(call: ast.Call, module: ModuleType) -> set[tuple[str | bytes, int]]:
    """The pattern and flags of a call whose arguments are constants of its module."""
    assert isinstance(call.func, ast.Attribute)
    arguments = [*call.args[:1], *(each.value for each in call.keywords if each.arg == "flags")]
    if (
        call.func.attr in ("match", "search", "fullmatch", "compile")
        and len(call.args) > (call.func.attr != "compile") + 1
    ):
        arguments = [call.args[0], call.args[-1]]
    try:
        values = [eval(compile(ast.Expression(each), str(module), "eval"), vars(module)) for each in arguments]
    except NameError:
        return set()
    compiled = re.compile(*values)
    return {(compiled.pattern, compiled.flags & ~re.UNICODE)}
