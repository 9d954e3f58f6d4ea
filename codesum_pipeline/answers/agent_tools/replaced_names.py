"""Which names the functions of a Python file replace, and in which lines: `mock.patch` in its forms, `setattr`.

A decorator counts for its function and a `with` block for its lines; what is set or started counts from its line to the
next line that may end it. A name whose original the file keeps or hands on is not taken as replaced.
"""

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

# Names that one function replaces; what is replaced beyond that is taken as not replaced.
MOST_REPLACED = 1000
# A longer text of a module's names is none.
_LONGEST_NAME = 300
_DEEPEST_TEXT = 20
# What stands for the original: as it is, by what it is called with, by what it returns.
_STANDING_FOR = ("new", "side_effect", "new_callable", "return_value", "wraps")
_MOCKS = frozenset({"Mock", "MagicMock", "AsyncMock", "NonCallableMock", "PropertyMock", "create_autospec", "DEFAULT"})
_OF_PATCH = frozenset({"spec", "create", "spec_set", "autospec", "new_callable", "target", "unsafe"})
_ENTERS = frozenset({"enterContext", "enterAsyncContext", "enterClassContext"})
_RELOADS = frozenset({"reload"})
_ENDS = _RELOADS | {"stop", "stopall", "undo", "__exit__", "__aexit__", "doCleanups", "doClassCleanups"}
_CLEANS_UP = "teardown"
# A name of more parts is not followed.
_MOST_PARTS = 12
Functions = ast.FunctionDef | ast.AsyncFunctionDef
_RUN_LATER = ast.For | ast.AsyncFor | ast.While | ast.Lambda | Functions


def dotted_name(node: ast.AST) -> tuple[str, ...]:
    """The parts of a name such as `shop.money.round_cents`; empty for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _MOST_PARTS:
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()


class ReplacedName(Struct, frozen=True):
    """A name of a module or class, which the code writes as `target`; with `is_text` as the whole path of a module.
    `is_handed` where something else than a mock stands for it, which may make or be a real object."""

    target: tuple[str, ...]
    name: str
    is_text: bool
    is_handed: bool = False


class Replacement(Struct, frozen=True):
    """A name that has another value in the lines `first` to `last`. It `lasts` where it has it still when its function
    has ended, or is suspended for a test."""

    of: ReplacedName
    first: int
    last: int
    lasts: bool = False


class ReplacingFunction(Struct, frozen=True):
    """A function, by its first line, and what it replaces; `is_ending` where it may end what others have replaced."""

    line: int
    replaced: Sequence[Replacement]
    is_ending: bool = False


def replacements_in(tree: ast.Module) -> Iterator[ReplacingFunction]:
    """The functions of a file that replace something or may end it."""
    file = ReplacedNames(_texts_of(tree), frozenset(_kept_originals(tree)))
    yield from (each for each in _functions_in(file, tree.body, []) if each.replaced or each.is_ending)


class ReplacedNames(Struct, frozen=True):
    """Reads which names an expression replaces. `texts` are the file's names for texts, `kept` the originals that the
    file keeps or hands on, `hidden` the names that the function around has for objects of its own."""

    texts: Mapping[str, str]
    kept: frozenset[str]
    hidden: frozenset[str] = frozenset()

    def patched_by(self, node: ast.expr | None) -> list[ReplacedName]:
        """What a call of `patch` in one of its forms replaces; nothing for any other expression."""
        name = dotted_name(node.func) if isinstance(node, ast.Call) else ()
        if not isinstance(node, ast.Call) or not name:
            return []
        by_name = {each.arg: each.value for each in node.keywords if each.arg}
        target = node.args[0] if node.args else by_name.get("target")
        standing = [by_name[each] for each in _STANDING_FOR if each in by_name]
        if target is None:
            return []
        if name[-1] == "patch":
            return self._replaced(self._of_path(target), [*node.args[1:], *standing])
        if name[-2:] == ("patch", "object"):
            given = node.args[1] if len(node.args) > 1 else by_name.get("attribute")
            named = self.text(given) if given is not None else None
            return self._replaced(self._of_owner(target, named), [*node.args[2:], *standing])
        if name[-2:] == ("patch", "multiple"):
            found = [one for each in by_name if each not in _OF_PATCH for one in self._of_owner(target, each)]
            return self._replaced(found, [by_name[each.name] for each in found])
        return []

    def set_by(self, node: ast.expr | None) -> list[ReplacedName]:
        """What `monkeypatch.setattr`, `delattr` or the built-in `setattr` replaces."""
        name = dotted_name(node.func) if isinstance(node, ast.Call) else ()
        if not isinstance(node, ast.Call) or not node.args or name[-1:] not in (("setattr",), ("delattr",)):
            return []
        given = node.args
        if len(name) > 1 and len(given) == (1 if name[-1] == "delattr" else 2):
            return self._replaced(self._of_path(given[0]), given[1:])
        named = self.text(given[1]) if len(given) > 1 else None
        return self._replaced(self._of_owner(given[0], named), given[2:])

    def _replaced(self, found: Sequence[ReplacedName], values: Sequence[ast.expr]) -> list[ReplacedName]:
        """Those of some names whose originals are no part of what stands for them, and are not kept."""
        real, is_handed = {*_names_in(values), *self.kept}, not all(map(_is_mock, values))
        visible = (each for each in found if each.is_text or each.target[0] not in self.hidden)
        return [replace(each, is_handed=is_handed) for each in visible if each.name not in real]

    def text(self, node: ast.expr, depth: int = 0) -> str | None:
        """The text of an expression that is made of texts and of the file's names for texts."""
        parts: Sequence[ast.expr] = ()
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) and len(node.value) <= _LONGEST_NAME else None
        if isinstance(node, ast.FormattedValue):
            parts = [node.value]
        elif isinstance(node, ast.JoinedStr):
            parts = node.values
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [node.left, node.right]
        elif (name := dotted_name(node)) and (name[0] in ("self", "cls") or name[0] not in self.hidden):
            return self.texts.get(name[-1])
        texts = [self.text(each, depth + 1) for each in parts] if depth < _DEEPEST_TEXT else []
        told = [each for each in texts if each is not None]
        return "".join(told) if told and len(told) == len(parts) and sum(map(len, told)) <= _LONGEST_NAME else None

    def _of_path(self, node: ast.expr) -> list[ReplacedName]:
        *target, name = (self.text(node) or "").split(".")
        return [ReplacedName(tuple(target), name, is_text=True)] if target and name else []

    def _of_owner(self, node: ast.expr, name: str | None) -> list[ReplacedName]:
        text = self.text(node)
        target = tuple(text.split(".")) if text else dotted_name(node)
        return [ReplacedName(target, name, is_text=text is not None)] if target and name else []


def _functions_in(
    file: ReplacedNames, body: Sequence[ast.stmt], marks: Sequence[ReplacedName]
) -> Iterator[ReplacingFunction]:
    """The functions of a file or class; `marks` are what the decorators of the classes around replace in tests."""
    for node in body:
        if isinstance(node, Functions | ast.ClassDef):
            own = [each for mark in node.decorator_list for each in file.patched_by(mark)]
            if isinstance(node, ast.ClassDef):
                yield from _functions_in(file, node.body, [*marks, *own])
            else:
                yield _function(file, node, [*marks, *own] if node.name.startswith("test") else own)


def _function(file: ReplacedNames, node: Functions, marks: Sequence[ReplacedName]) -> ReplacingFunction:
    first, last = min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno or node.lineno
    ends, reloads = ([*_lines_with_calls(node, methods)] for methods in (_ENDS, _RELOADS))
    yields = sorted(each.lineno for each in ast.walk(node) if isinstance(each, ast.Yield))
    until = min(reloads, default=last + 1) - 1
    reader = _BodyReader(replace(file, hidden=frozenset(_own_names(node))), last, sorted(ends), yields)
    found = [Replacement(each, first, until) for each in marks[:MOST_REPLACED]]
    found += reader.read(node.body, until, is_block=False)
    is_ending = _CLEANS_UP not in node.name.lower() and any(not yields or line < yields[-1] for line in ends)
    return ReplacingFunction(first, found[:MOST_REPLACED], is_ending)


class _BodyReader(Struct, frozen=True):
    """Reads the statements of one function that surely run, in their order. It remembers the `patchers` that names
    have."""

    names: ReplacedNames
    last: int
    ends: Sequence[int]
    yields: Sequence[int]
    patchers: dict[str, list[ReplacedName]] = field(default_factory=dict)

    def read(self, body: Sequence[ast.stmt], last: int, *, is_block: bool) -> Iterator[Replacement]:
        """What the statements replace up to a `last` line, which is that of the block around them."""
        for node in body:
            if isinstance(node, ast.With | ast.AsyncWith):
                end = min(node.end_lineno or node.lineno, last)
                for item in node.items:
                    for each in self._patched(item.context_expr):
                        yield Replacement(each, node.lineno, end, self._is_suspended(node.lineno, end))
                yield from self.read(node.body, end, is_block=True)
            elif isinstance(node, ast.Try | ast.TryStar):
                yield from self.read([*node.body, *node.finalbody], last, is_block=is_block)
            elif isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return):
                at = bisect_left(self.ends, node.lineno)
                end = min(last, self.ends[at] - 1) if at < len(self.ends) else last
                lasts = end == self.last and not is_block and not self.yields
                for each in self._begun(node) if node.lineno <= end else ():
                    yield Replacement(each, node.lineno, end, lasts or self._is_suspended(node.lineno, end))

    def _begun(self, node: ast.Expr | ast.Assign | ast.AnnAssign | ast.Return) -> list[ReplacedName]:
        """What a statement replaces from its line on."""
        value = node.value
        while isinstance(value, ast.Yield | ast.Await):
            value = value.value
        patched = self.names.patched_by(value)
        if patched and isinstance(value, ast.Call) and _is_mocker(value):
            return patched
        for target in node.targets if isinstance(node, ast.Assign) else ():
            self.patchers[".".join(dotted_name(target))] = patched
        called = value.func if isinstance(value, ast.Call) else None
        if isinstance(value, ast.Call) and isinstance(called, ast.Attribute):
            if called.attr == "start":
                return self._patched(called.value)
            if called.attr in _ENTERS and value.args:
                return self._patched(value.args[0])
        return self.names.set_by(value)

    def _patched(self, node: ast.expr) -> list[ReplacedName]:
        return self.names.patched_by(node) or self.patchers.get(".".join(dotted_name(node)), [])

    def _is_suspended(self, first: int, last: int) -> bool:
        """Whether a fixture waits for its test in some lines."""
        at = bisect_left(self.yields, first)
        return at < len(self.yields) and self.yields[at] <= last


def _lines_with_calls(node: ast.AST, methods: frozenset[str]) -> Iterator[int]:
    """The lines that call a method of some names; of what may be run later or again, the first line of it."""
    waiting: list[tuple[ast.AST, int]] = [(each, 0) for each in ast.iter_child_nodes(node)]
    while waiting:
        one, around = waiting.pop()
        if isinstance(one, ast.Call):
            name = one.func.attr if isinstance(one.func, ast.Attribute) else "".join(dotted_name(one.func))
            if name in methods:
                yield around or one.lineno
        around = around or (one.lineno if isinstance(one, _RUN_LATER) else 0)
        waiting += [(each, around) for each in ast.iter_child_nodes(one)]


def _is_mock(node: ast.expr) -> bool:
    """Whether a value is plain, or a mock that is made there."""
    name = dotted_name(node.func if isinstance(node, ast.Call) else node)[-1:]
    return isinstance(node, ast.Constant) or (bool(name) and name[0] in _MOCKS)


def _is_mocker(node: ast.Call) -> bool:
    """Whether a call is one of `mocker.patch` in its forms, which need no start."""
    name = dotted_name(node.func)
    return "patch" in name and any(each.endswith("mocker") for each in name[: name.index("patch")])


def _names_in(values: Iterable[ast.AST]) -> Iterator[str]:
    """The last parts of the names in some code."""
    for value in values:
        for each in ast.walk(value):
            yield from dotted_name(each)[-1:]


def _own_names(function: Functions) -> Iterator[str]:
    """What a function binds otherwise than by an import: its parameters, variables, inner functions and classes."""
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, Functions | ast.ClassDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name


def _texts_of(tree: ast.Module) -> dict[str, str]:
    """What the names of a file and of its classes have as texts; of several values of a name, none."""
    found: dict[str, list[ast.expr]] = defaultdict(list)
    bodies = [tree.body, *(each.body for each in tree.body if isinstance(each, ast.ClassDef))]
    for node in (each for body in bodies for each in body):
        if isinstance(node, ast.Assign):
            for target in (each for each in node.targets if isinstance(each, ast.Name)):
                found[target.id].append(node.value)
    texts: dict[str, str] = {}
    for name, values in found.items():
        # A text is made of those before it, so each is read once.
        if len(values) == 1 and (text := ReplacedNames(texts, frozenset()).text(values[0])) is not None:
            texts[name] = text
    return texts


def _kept_originals(tree: ast.Module) -> Iterator[str]:
    """The last names of what a file imports and keeps (`original = mod.f`) or hands on by name (`side_effect=mod.f`):
    whoever has it may run the original, or put it back."""
    nodes = [*ast.walk(tree)]
    aliases = (each for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for each in node.names)
    imported = {(each.asname or each.name).partition(".")[0] for each in aliases}
    for node in nodes:
        if isinstance(node, ast.Assign) or (isinstance(node, ast.keyword) and node.arg not in _OF_PATCH):
            name = dotted_name(node.value)
            if name and name[0] in imported:
                yield name[-1]
