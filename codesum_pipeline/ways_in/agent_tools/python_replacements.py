"""What Python code replaces, and in which lines: `mock.patch` and its forms, `mocker`, `monkeypatch`, `mod.f = fake`.

Read with Python's own parser. What wraps the original, or is handed it, replaces nothing. A replacement below an `if`
or in a loop may not happen, and does not count.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.ways_in.agent_tools.python_imports import dotted_name

# A longer text of a module's names is none.
_LONGEST_NAME = 300
_DEEPEST_TEXT = 20
_MOCKERS = ("mocker",)
_ENTERS = frozenset({"enter_context", "enterContext", "enter_async_context", "enterAsyncContext", "enterClassContext"})
# What stands for the original: as it is, by what it is called with, by what it returns.
_STANDING_FOR = ("new", "side_effect", "new_callable", "return_value")
_MOCKS = frozenset({"Mock", "MagicMock", "AsyncMock", "NonCallableMock", "PropertyMock", "create_autospec", "DEFAULT"})
_OF_PATCH = frozenset({"spec", "create", "spec_set", "autospec", "new_callable", "target", "unsafe"})
Functions = ast.FunctionDef | ast.AsyncFunctionDef


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
    """A function, by the line of its `def`, and what it replaces."""

    line: int
    replaced: Sequence[Replacement]


class _Open(Struct):
    """A replacement whose end is not known yet; `key` is the patcher that may end it."""

    of: ReplacedName
    first: int
    last: int
    is_block: bool = False
    key: str = ""


def replacements_in(tree: ast.Module) -> tuple[list[ReplacingFunction], list[ReplacedName]]:
    """The functions of a file that replace something, and what its top replaces when it is imported."""
    reader = _FileReader(_texts_of(tree), *_kept_originals(tree))
    last = tree.body[-1].end_lineno or 0 if tree.body else 0
    at_top = [each.of for each in _BodyReader(reader, tree.body, last).read()]
    return [found for found in reader.of_body(tree.body, []) if found.replaced], at_top


class _FileReader(Struct, frozen=True):
    """`texts` are the file's names for texts; `kept` the names under which it keeps each replaced original, and `read`
    all that it reads otherwise than to put it back."""

    texts: dict[str, ast.expr]
    kept: dict[str, set[str]]
    read: set[str]

    def of_body(self, body: Sequence[ast.stmt], marks: Sequence[ReplacedName]) -> Iterator[ReplacingFunction]:
        """The functions of a file or class; `marks` are what the decorators of the classes around replace in tests."""
        for node in body:
            if isinstance(node, ast.ClassDef):
                own = [each for mark in node.decorator_list for each in self.replaced_by(mark)]
                yield from self.of_body(node.body, [*marks, *own])
            elif isinstance(node, Functions):
                yield self._of_function(node, marks if node.name.startswith("test") else [])
            elif isinstance(node, ast.If | ast.Try | ast.With):
                yield from self.of_body(node.body, marks)

    def _of_function(self, node: Functions, marks: Sequence[ReplacedName]) -> ReplacingFunction:
        first, last = min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno or node.lineno
        own = [each for mark in node.decorator_list for each in self.replaced_by(mark)]
        whole = [Replacement(each, first, last) for each in [*marks, *own]]
        opened = _BodyReader(self, node.body, last).read()
        yields = [each.lineno for each in ast.walk(node) if isinstance(each, ast.Yield)] if opened else []
        inside = [
            Replacement(
                each.of, each.first, each.last,
                lasts=any(each.first <= line <= each.last for line in yields) if yields
                else not each.is_block and each.last == last,
            )
            for each in opened
        ]  # fmt: skip
        return ReplacingFunction(node.lineno, [*whole, *inside])

    def replaced_by(self, node: ast.expr) -> list[ReplacedName]:
        """What a call of `patch` in one of its forms replaces; nothing for any other expression."""
        name = dotted_name(node.func) if isinstance(node, ast.Call) else ()
        if not isinstance(node, ast.Call) or not name or any(each.arg == "wraps" for each in node.keywords):
            return []
        by_name = {each.arg: each.value for each in node.keywords if each.arg}
        target = node.args[0] if node.args else by_name.get("target")
        if target is None:
            return []
        if name[-1] == "patch":
            found, values = self._of_path(target), node.args[1:]
        elif name[-2:] == ("patch", "object") or name[-2:] == ("patch", "multiple"):
            is_object = name[-1] == "object"
            given = node.args[1] if len(node.args) > 1 else by_name.get("attribute")
            texts = [self.text(given)] if given is not None else []
            names = texts if is_object else [each for each in by_name if each not in _OF_PATCH]
            found, values = [one for each in names for one in self._of_owner(target, each)], node.args[2:]
        else:
            return []
        values = [*values, *(by_name[each] for each in _STANDING_FOR if each in by_name)]
        values += [] if name[-1] != "multiple" else [by_name[each.name] for each in found]
        return self._without_originals(found, values)

    def set_by(self, node: ast.Call) -> list[ReplacedName]:
        """What `monkeypatch.setattr`, `delattr` or the built-in `setattr` replaces."""
        name, given = dotted_name(node.func), node.args
        if not name or name[-1] not in ("setattr", "delattr") or not given:
            return []
        named = self.text(given[1]) if len(given) > 1 else None
        is_path = len(name) > 1 and (len(given) == 1 if name[-1] == "delattr" else len(given) == 2)
        found = self._of_path(given[0]) if is_path else self._of_owner(given[0], named)
        return self._without_originals(found, given[1:] if is_path else given[2:])

    def assigned_by(self, node: ast.Assign) -> list[ReplacedName]:
        """What `module.name = value` replaces."""
        names = [dotted_name(each) for each in node.targets if isinstance(each, ast.Attribute)]
        found = [ReplacedName(each[:-1], each[-1], is_text=False) for each in names if len(each) > 1]
        return self._without_originals(found, [node.value])

    def text(self, node: ast.expr, depth: int = 0) -> str | None:
        """The text of an expression that is made of texts and of the file's names for texts."""
        if depth > _DEEPEST_TEXT:
            return None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) and len(node.value) <= _LONGEST_NAME else None
        if isinstance(node, ast.FormattedValue):
            return self.text(node.value, depth + 1)
        if isinstance(node, ast.JoinedStr):
            parts = [self.text(each, depth + 1) for each in node.values]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [self.text(each, depth + 1) for each in (node.left, node.right)]
        else:
            name = dotted_name(node)[-1:]
            known = self.texts.get(name[0]) if name else None
            return None if known is None else self.text(known, depth + 1)
        told = [each for each in parts if each is not None]
        return "".join(told) if len(told) == len(parts) and sum(map(len, told)) <= _LONGEST_NAME else None

    def _of_path(self, node: ast.expr) -> list[ReplacedName]:
        *target, name = (self.text(node) or "").split(".")
        return [ReplacedName(tuple(target), name, is_text=True)] if target and name else []

    def _of_owner(self, node: ast.expr, name: str | None) -> list[ReplacedName]:
        text = self.text(node)
        target = tuple(text.split(".")) if text else dotted_name(node)
        return [ReplacedName(target, name, is_text=text is not None)] if target and name else []

    def _without_originals(self, found: Sequence[ReplacedName], values: Sequence[ast.expr]) -> list[ReplacedName]:
        """Without names whose original is part of what stands for it, or is kept and used."""
        used = {name for value in values for each in ast.walk(value) for name in dotted_name(each)[-1:]}
        is_handed = not all(map(_is_mock, values))
        return [
            replace(each, is_handed=is_handed) for each in found
            if each.name not in used and self.read.isdisjoint(self.kept.get(each.name, ()))
        ]  # fmt: skip


class _BodyReader:
    """The statements of one function, in their order."""

    def __init__(self, file: _FileReader, body: Sequence[ast.stmt], last: int) -> None:
        self.file, self.body, self.last = file, body, last
        self.found: list[_Open] = []
        self.patchers: dict[str, list[ReplacedName]] = {}

    def read(self) -> list[_Open]:
        self._statements(self.body, self.last, {})
        return self.found

    def _statements(self, body: Sequence[ast.stmt], last: int, ends: dict[str, int]) -> None:
        """`ends` are the last lines of what is bound by a `with`, such as `monkeypatch.context()`."""
        for node in body:
            if isinstance(node, ast.With | ast.AsyncWith):
                self._with(node, last, ends)
            elif isinstance(node, ast.Try):
                for part in (node.body, node.orelse, node.finalbody):
                    self._statements(part, last, ends)
            elif isinstance(node, ast.For):
                self._start_all(node.iter, node.body, node.lineno, last)
            elif isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return):
                self._statement(node, last, ends)

    def _with(self, node: ast.With | ast.AsyncWith, last: int, ends: dict[str, int]) -> None:
        end, bound = node.end_lineno or node.lineno, dict(ends)
        for item in node.items:
            given = item.context_expr
            replaced = self.file.replaced_by(given) or self.patchers.get(".".join(dotted_name(given)), [])
            self.found += [_Open(each, node.lineno, end, is_block=True) for each in replaced]
            if item.optional_vars is not None and (name := ".".join(dotted_name(item.optional_vars))):
                bound[name] = end
        self._statements(node.body, last, bound)

    def _statement(self, node: ast.stmt, last: int, ends: dict[str, int]) -> None:
        if isinstance(node, ast.Assign):
            self._open(self.file.assigned_by(node), node.lineno, last)
            for target in node.targets:
                self._keep_patchers(_key_of(target), node.value)
        for each in ast.walk(node):
            if isinstance(each, ast.Call):
                self._call(each, last, ends)
            elif isinstance(each, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
                made = each.value if isinstance(each, ast.DictComp) else each.elt
                self._start_all(each.generators[0].iter, [made], node.lineno, last)

    def _keep_patchers(self, key: str, value: ast.expr) -> None:
        """The patchers that a name, or a list or dictionary under it, has."""
        if isinstance(value, ast.List | ast.Tuple):
            for at, each in enumerate(value.elts):
                self._keep_patchers(f"{key}[{at}]", each)
        elif isinstance(value, ast.Dict):
            for name, each in zip(value.keys, value.values, strict=True):
                if isinstance(name, ast.Constant):
                    self._keep_patchers(f"{key}[{name.value!r}]", each)
        elif key and not _is_mocker(value) and (patched := self.file.replaced_by(value)):
            self.patchers[key] = patched

    def _start_all(self, over: ast.expr, body: Sequence[ast.AST], first: int, last: int) -> None:
        """A loop over patchers that starts each."""
        parts = dotted_name(over.func)[:-1] if isinstance(over, ast.Call) else dotted_name(over)
        calls = (each.func for node in body for each in ast.walk(node) if isinstance(each, ast.Call))
        if parts and any(isinstance(each, ast.Attribute) and each.attr == "start" for each in calls):
            for key, patched in self.patchers.items():
                if key.startswith(f"{'.'.join(parts)}["):
                    self._open(patched, first, last, key)

    def _call(self, node: ast.Call, last: int, ends: dict[str, int]) -> None:
        name = dotted_name(node.func)
        owner = ".".join(name[:-1])
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if _is_mocker(node):
            self._open(self.file.replaced_by(node), node.lineno, last)
        elif method == "start" and isinstance(node.func, ast.Attribute):
            key = _key_of(node.func.value)
            self._open(self.file.replaced_by(node.func.value) or self.patchers.get(key, []), node.lineno, last, key)
        elif method in _ENTERS and node.args:
            replaced = self.file.replaced_by(node.args[0]) or self.patchers.get(".".join(dotted_name(node.args[0])), [])
            self._open(replaced, node.lineno, ends.get(owner, last))
        elif method in ("stop", "undo", "stopall"):
            for each in self.found:
                if not each.is_block and (each.key == owner or method != "stop"):
                    each.last = min(each.last, node.lineno)
        else:
            self._open(self.file.set_by(node), node.lineno, ends.get(owner, last))

    def _open(self, names: Sequence[ReplacedName], first: int, last: int, key: str = "") -> None:
        self.found += [_Open(each, first, last, key=key) for each in names]


def _key_of(node: ast.expr) -> str:
    """How a name, or an entry of a list or dictionary, is written."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return f"{'.'.join(dotted_name(node.value))}[{node.slice.value!r}]"
    return ".".join(dotted_name(node))


def _is_mock(node: ast.expr) -> bool:
    """Whether a value is plain, or a mock that is made there."""
    name = dotted_name(node.func if isinstance(node, ast.Call) else node)[-1:]
    return isinstance(node, ast.Constant) or (bool(name) and name[0] in _MOCKS)


def _is_mocker(node: ast.expr) -> bool:
    """Whether a call is one of `mocker.patch` in its forms, which need no start."""
    name = dotted_name(node.func) if isinstance(node, ast.Call) else ()
    return "patch" in name and any(each.endswith(_MOCKERS) for each in name[: name.index("patch")])


def _texts_of(tree: ast.Module) -> dict[str, ast.expr]:
    """What the names of a file and of its classes have as texts; of several values of a name, none."""
    found: dict[str, list[ast.expr]] = defaultdict(list)
    bodies = [tree.body, *(each.body for each in tree.body if isinstance(each, ast.ClassDef))]
    for node in (each for body in bodies for each in body):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.JoinedStr | ast.BinOp):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found[target.id].append(node.value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _kept_originals(tree: ast.Module) -> tuple[dict[str, set[str]], set[str]]:
    """The names under which a file keeps something (`original = mod.f`) by the last name of that, and whatever names
    the file reads otherwise than to put it back (`mod.f = original`)."""
    kept: dict[str, set[str]] = defaultdict(set)
    read, put_back = list[tuple[int, str]](), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read.append((id(node), node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            read.append((id(node), node.attr))
        elif isinstance(node, ast.Assign) and (value := dotted_name(node.value)):
            for target in map(dotted_name, node.targets):
                if target and target[-1] != value[-1]:
                    kept[value[-1]].add(target[-1])
            if all(isinstance(each, ast.Attribute) for each in node.targets):
                put_back.add(id(node.value))
        elif isinstance(node, ast.Call) and len(node.args) == 3 and dotted_name(node.func)[-1:] == ("setattr",):
            put_back.add(id(node.args[2]))
    return kept, {name for place, name in read if place not in put_back}
