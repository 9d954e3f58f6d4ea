"""In which lines Python code replaces names: with decorators, `with` blocks, patchers that are started, values set.

A replacement below an `if` or in a loop may not happen, and does not count; an end of one does. What is not run where
it stands, such as a lambda, replaces nothing.
"""

import ast
from bisect import bisect_left
from collections import ChainMap, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct, field

from codesum_pipeline.ways_in.agent_tools.python_imports import dotted_name
from codesum_pipeline.ways_in.agent_tools.replaced_names import (
    Functions,
    ReplacedName,
    ReplacedNames,
    entry_key,
    is_mocker,
    key_of,
    names_in,
)

# Names that one function replaces; what is replaced beyond that is taken as not replaced.
MOST_REPLACED = 1000
_ENTERS = frozenset({"enter_context", "enterContext", "enter_async_context", "enterAsyncContext", "enterClassContext"})
# What ends a patcher; whatever a stack or test case has entered; all.
_STOPS = frozenset({"stop", "__exit__", "__aexit__"})
_CLOSES = frozenset({"close", "aclose", "doCleanups", "doClassCleanups"})
_STOPS_ALL = frozenset({"undo", "stopall"})
_RELOADS = "reload"
# Parts of an inner function that are looked at each time that it is called; one with more ends all.
_MOST_ENDS = 20
_ENDS_ALL = ast.parse(f"{_RELOADS}()", mode="eval").body
_ALL = frozenset({"*"})
# What runs no part of it where it stands, or has none.
_RUNS_NOTHING = (
    ast.Lambda,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Name,
    ast.Constant,
    ast.expr_context,
)
_CLEANS_UP = "teardown"


class Replacement(Struct, frozen=True):
    """A name that has another value in the lines `first` to `last`. It `lasts` where it has it still when its function
    has ended, or is suspended for a test."""

    of: ReplacedName
    first: int
    last: int
    lasts: bool = False


class ReplacingFunction(Struct, frozen=True):
    """A function, by the line of its `def`, and what it replaces; whether it ends what others have replaced before."""

    line: int
    replaced: Sequence[Replacement]
    is_ending: bool = False


class _Open(Struct):
    """A replacement whose end is not known yet; `key` is the patcher or stack that may end it."""

    of: ReplacedName
    first: int
    last: int
    is_block: bool = False
    key: str = ""
    is_ended: bool = False


class _End(Struct, frozen=True):
    """A line that ends what a function has not replaced itself: all (with `*`), or what has one of some names."""

    line: int
    names: frozenset[str]


def replacements_in(tree: ast.Module) -> tuple[list[ReplacingFunction], list[ReplacedName]]:
    """The functions of a file that replace something or end it, and what its top replaces when it is imported. Raises
    `TooMuchToLookAt` where the file would be read too often."""
    file = _FileReader(ReplacedNames.of_file(tree))
    last = tree.body[-1].end_lineno or 0 if tree.body else 0
    top = _BodyReader(file.names, last)
    top.read(tree.body)
    functions = list(file.of_body(tree.body, []))
    at_top = [each.of for each in top.found if _lasts(each, last)]
    lasting = {each.of.name for function in functions for each in function.replaced if each.lasts}
    file.patchers.update(lasting, (each.name for each in at_top), map(_kept_in, top.patchers), _ALL)
    found = [
        ReplacingFunction(each.line, each.replaced, not file.patchers.isdisjoint(file.ends.get(each.line, ())))
        for each in functions
    ]
    is_ended = any(each.is_ending for each in found)
    return [each for each in found if each.replaced or each.is_ending], [] if is_ended else at_top


class _FileReader(Struct, frozen=True):
    """`patchers` are the names under which the functions of a file keep patchers; `ends` is what each ends that it has
    not replaced itself, by the line of its `def`."""

    names: ReplacedNames
    patchers: set[str] = field(default_factory=set)
    ends: dict[int, set[str]] = field(default_factory=dict)

    def of_body(self, body: Sequence[ast.stmt], marks: Sequence[ReplacedName]) -> Iterator[ReplacingFunction]:
        """The functions of a file or class; `marks` are what the decorators of the classes around replace in tests."""
        for node in body:
            if isinstance(node, ast.ClassDef):
                own = [each for mark in node.decorator_list for each in self.names.replaced_by(mark)]
                yield from self.of_body(node.body, [*marks, *own])
            elif isinstance(node, Functions):
                yield self._of_function(node, marks if node.name.startswith("test") else [])
            elif isinstance(node, ast.If | ast.Try | ast.With):
                yield from self.of_body(node.body, marks)

    def _of_function(self, node: Functions, marks: Sequence[ReplacedName]) -> ReplacingFunction:
        first, last = min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno or node.lineno
        own = [each for mark in node.decorator_list for each in self.names.replaced_by(mark)]
        reader = _BodyReader(self.names.within(node), last)
        reader.open([*marks, *own], first, last, is_block=True)
        whole = len(reader.found)
        reader.read(node.body)
        is_told = bool(reader.found or reader.ends)
        yields = sorted(each.lineno for each in ast.walk(node) if isinstance(each, ast.Yield)) if is_told else []
        self.patchers.update(map(_kept_in, reader.patchers))
        if _CLEANS_UP not in node.name.lower():
            before = [each for each in reader.ends if not yields or each.line < yields[-1]]
            self.ends[node.lineno] = {name for each in before for name in each.names}
        spans = [
            Replacement(each.of, each.first, each.last, lasts=at >= whole and _lasts(each, last, yields))
            for at, each in enumerate(reader.found)
        ]
        return ReplacingFunction(node.lineno, spans)


def _lasts(found: _Open, last: int, yields: Sequence[int] = ()) -> bool:
    """Whether something is still replaced when its function has ended, or where it is suspended."""
    if not yields:
        return not found.is_block and not found.is_ended and found.last == last
    at = bisect_left(yields, found.first)
    return at < len(yields) and yields[at] <= found.last


class _BodyReader:
    """The statements of one function, in their order. `ends` are those of what it has not replaced itself."""

    def __init__(self, names: ReplacedNames, last: int) -> None:
        self.names, self.last = names, last
        self.found: list[_Open] = []
        self.patchers: dict[str, list[ReplacedName]] = {}
        self.ends: list[_End] = []
        self._parts: dict[str, list[str]] = defaultdict(list)
        self._by_key: dict[str, list[_Open]] = defaultdict(list)
        self._by_name: dict[str, list[_Open]] = defaultdict(list)
        self._ending: dict[str, list[ast.AST]] = {}

    def read(self, body: Sequence[ast.stmt]) -> None:
        self._statements(body, ChainMap())

    def open(
        self, names: Sequence[ReplacedName], first: int, last: int, key: str = "", *, is_block: bool = False
    ) -> None:
        for each in names[: MOST_REPLACED - len(self.found)]:
            self.names.looks.spend()
            made = _Open(each, first, last, is_block, key)
            self.found.append(made)
            self._by_name[each.name].append(made)
            if not is_block:
                self._by_key[key].append(made)

    def _statements(self, body: Sequence[ast.stmt], ends: ChainMap[str, int]) -> None:
        """`ends` are the last lines of what is bound by a `with`, such as `monkeypatch.context()`."""
        for node in body:
            if isinstance(node, ast.With | ast.AsyncWith):
                self._with(node, ends)
            elif isinstance(node, ast.Try | ast.TryStar):
                self._statements(node.body, ends)
                for handler in node.handlers:
                    self._may_end(handler)
                self._statements([*node.orelse, *node.finalbody], ends)
            elif isinstance(node, Functions):
                self._ending[node.name] = self._ends_in(node.body)
            elif isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return):
                self._statement(node, ends)
            else:
                if isinstance(node, ast.For):
                    self._start_all(node.iter, node.body, node.lineno)
                self._may_end(node)

    def _with(self, node: ast.With | ast.AsyncWith, ends: ChainMap[str, int]) -> None:
        end, bound = node.end_lineno or node.lineno, dict[str, int]()
        for item in node.items:
            given = item.context_expr
            key = ".".join(dotted_name(given))
            self.open(self.names.replaced_by(given) or self.patchers.get(key, []), node.lineno, end, is_block=True)
            if item.optional_vars is not None and (name := ".".join(dotted_name(item.optional_vars))):
                bound[name] = end
        self._statements(node.body, ends.new_child(bound))

    def _statement(self, node: ast.stmt, ends: ChainMap[str, int]) -> None:
        if isinstance(node, ast.Assign):
            self.open(self.names.assigned_by(node)[0], node.lineno, self.last)
            for target in node.targets:
                self._keep_patchers(key_of(target), node.value)
            if isinstance(node.value, ast.Lambda):
                self._ending.update(dict.fromkeys(map(key_of, node.targets), self._ends_in([node.value.body])))
        run = [*_run([node])]
        for each, is_sure in run:
            if is_sure and isinstance(each, ast.Call):
                self._call(each, ends)
            elif is_sure and isinstance(each, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
                made = each.value if isinstance(each, ast.DictComp) else each.elt
                self._start_all(each.generators[0].iter, [made], node.lineno)
        self._may_end(node, run)

    def _ends_in(self, body: Sequence[ast.AST]) -> list[ast.AST]:
        """What an inner function may end, which counts once it is called."""
        parts = (
            each for each, _ in _run(body)
            if _may_be_end(each) or (isinstance(each, ast.Assign) and self.names.assigned_by(each)[1])
        )  # fmt: skip
        found = [*islice(parts, _MOST_ENDS + 1)]
        return found if len(found) <= _MOST_ENDS else [_ENDS_ALL]

    def _keep_patchers(self, key: str, value: ast.expr) -> None:
        """The patchers that a name, or a list or dictionary under it, has."""
        self.names.looks.spend()
        if not key:
            return
        if isinstance(value, ast.List | ast.Tuple):
            for at, each in enumerate(value.elts):
                self._keep_patchers(entry_key(key, at), each)
        elif isinstance(value, ast.Dict):
            for name, each in zip(value.keys, value.values, strict=True):
                if isinstance(name, ast.Constant):
                    self._keep_patchers(entry_key(key, name.value), each)
        elif not is_mocker(value) and (patched := self.names.replaced_by(value)):
            if key not in self.patchers:
                self._parts[key.partition("[")[0]].append(key)
            self.patchers[key] = patched
        else:
            self.patchers.pop(key, None)

    def _start_all(self, over: ast.expr, body: Sequence[ast.AST], first: int) -> None:
        """A loop over patchers that starts each."""
        parts = dotted_name(over.func)[:-1] if isinstance(over, ast.Call) else dotted_name(over)
        if parts and any(isinstance(each, ast.Call) and _method_of(each) == "start" for each, _ in _run(body)):
            for key in self._parts.get(".".join(parts), ())[: MOST_REPLACED - len(self.found)]:
                self.names.looks.spend()
                self.open(self.patchers.get(key, []), first, self.last, key)

    def _call(self, node: ast.Call, ends: ChainMap[str, int]) -> None:
        owner, method, line = _owner_of(node), _method_of(node), node.lineno
        if is_mocker(node):
            self.open(self.names.replaced_by(node), line, self.last)
        elif method == "start" and isinstance(node.func, ast.Attribute):
            self.open(self._patched(node.func.value), line, self.last, owner)
        elif method in _ENTERS and node.args:
            self.open(self._patched(node.args[0]), line, ends.get(owner, self.last), owner)
        else:
            self.open(self.names.set_by(node)[0], line, ends.get(owner, self.last))

    def _patched(self, node: ast.expr) -> list[ReplacedName]:
        return self.names.replaced_by(node) or self.patchers.get(key_of(node), [])

    def _may_end(self, node: ast.stmt | ast.ExceptHandler, run: Sequence[tuple[ast.AST, bool]] = ()) -> None:
        """What a statement ends is ended after it; before it where it holds others, since it may be a loop."""
        is_simple = not hasattr(node, "body") and not isinstance(node, ast.Match)
        line, unknown = (node.end_lineno or node.lineno) if is_simple else node.lineno - 1, list[ast.AST]()
        for each, _ in run or _run([node]):
            inner = _method_of(each) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) else ""
            ending = self._ending.get(inner, ())
            self.names.looks.spend(len(ending))
            for part in (each, *ending):
                if not self._end_with(part, line):
                    unknown.append(node if part is each else part)
        if unknown:
            parts = {id(each): each for each in unknown}.values()
            self.ends.append(_End(line, frozenset(names_in(parts, self.names.looks))))

    def _end_with(self, node: ast.AST, line: int) -> bool:
        """End what an assignment or call ends; whether that may not be something of another function."""
        if isinstance(node, ast.Assign):
            self._put_back(*self.names.assigned_by(node), line)
        elif isinstance(node, ast.Call):
            self._put_back(*self.names.set_by(node), line)
            return self._end_by(node, line)
        return True

    def _put_back(self, replaced: Sequence[ReplacedName], names: set[str], line: int) -> None:
        for name in names.difference(each.name for each in replaced):
            _end(self._by_name.pop(name, ()), line)
            self.ends.append(_End(line, frozenset({name})))

    def _end_by(self, node: ast.Call, line: int) -> bool:
        """End what a call ends; whether it ends nothing of unknown functions."""
        method, owner = _method_of(node), _owner_of(node)
        if method == _RELOADS:
            for name in list(self._by_name):
                _end(self._by_name.pop(name), line)
            self._by_key.clear()
            self.ends.append(_End(line, _ALL))
        elif method in _STOPS_ALL:
            self._end_keys(list(self._by_key), line)
            self.ends.append(_End(line, _ALL))
        elif method in _STOPS | _CLOSES and owner in self._by_key:
            self._end_keys([owner], line)
        elif method in _STOPS:
            if owner not in self.patchers:
                self._end_keys([key for key in self._by_key if key], line)
            return False
        return True

    def _end_keys(self, keys: Sequence[str], line: int) -> None:
        for key in keys:
            _end(self._by_key.pop(key, ()), line)


def _end(found: Iterable[_Open], line: int) -> None:
    for each in found:
        each.last, each.is_ended = min(each.last, line), True


def _may_be_end(node: ast.AST) -> bool:
    method = _method_of(node) if isinstance(node, ast.Call) else ""
    return method in _STOPS | _CLOSES | _STOPS_ALL | {_RELOADS, "setattr"}


def _run(nodes: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, bool]]:
    """What is run where it stands: all but the bodies of functions and lambdas; and whether it surely is."""
    waiting = deque((node, True) for node in nodes)
    while waiting:
        node, is_sure = waiting.popleft()
        yield node, is_sure
        if not isinstance(node, _RUNS_NOTHING):
            surely = _run_surely(node)
            waiting += ((each, is_sure and surely in (None, each)) for each in ast.iter_child_nodes(node))


def _run_surely(node: ast.AST) -> ast.AST | None:
    """The only part of an expression that is surely run; None where all are."""
    if isinstance(node, ast.IfExp):
        return node.test
    if isinstance(node, ast.BoolOp):
        return node.values[0]
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        return node.generators[0]
    return None


def _method_of(node: ast.Call) -> str:
    """The last name of what is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else "".join(dotted_name(node.func))


def _owner_of(node: ast.Call) -> str:
    return key_of(node.func.value) if isinstance(node.func, ast.Attribute) else ""


def _kept_in(key: str) -> str:
    """The last name of what has a patcher."""
    return key.partition("[")[0].rpartition(".")[2]
