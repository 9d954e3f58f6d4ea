"""Which names the functions of a Python file replace, and in which lines: `mock.patch` in its forms, `setattr`.

A decorator counts for its function and a `with` block for its lines; what a statement sets counts from its line to the
end of the function or block. A name whose original the file keeps or hands on is not taken as replaced.
"""

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.languages.declarations.python.syntax_trees import parse_syntax

# Names that one function replaces; what is replaced beyond that is taken as not replaced.
MOST_REPLACED = 1000
# Characters of a file that is parsed.
LONGEST_SOURCE = 500_000
# A name of more parts is not followed.
_MOST_PARTS = 12
# A longer text is none.
_LONGEST_NAME = 300
_SETS = frozenset({"setattr", "delattr"})
# What may end a replacement before the function ends; after a reload, a module has its own names again.
_ENDS = frozenset({"undo", "stopall"})
_RELOAD = "reload"
# Arguments of `patch` that never stand for the original.
_DESCRIBING = frozenset({"spec", "create", "spec_set", "autospec", "target", "unsafe"})
Functions = ast.FunctionDef | ast.AsyncFunctionDef


class Replacement(Struct, frozen=True):
    """A name of a module or class, which the code writes as `owner`, with `is_text` as its whole path, with another
    value in the lines `first` to `last` of the function at a `line`, whose body begins at another. `is_handed` where
    something else than a mock may stand for it, which may make or be a real object."""

    owner: tuple[str, ...]
    name: str
    is_text: bool
    is_handed: bool
    line: int = 0
    body: int = 0
    first: int = 0
    last: int = 0


def replacements_in(source: str) -> Iterator[Replacement]:
    """What the functions of a file replace; nothing where the file is too long or cannot be parsed."""
    if len(source) > LONGEST_SOURCE:
        return
    try:
        tree = parse_syntax(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    nodes = [*ast.walk(tree)]
    imported = {
        (each.asname or each.name).partition(".")[0]
        for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for each in node.names
    }  # fmt: skip
    reader = _FileReader(frozenset(imported), frozenset(_kept_originals(nodes)))
    yield from reader.replaced_in_functions(tree.body, [])


def _kept_originals(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """The last names of what a file keeps (`original = mod.f`) or hands on by name (`side_effect=mod.f`): whoever has
    it may run the original, or put it back."""
    for node in nodes:
        if isinstance(node, ast.Assign) or (isinstance(node, ast.keyword) and node.arg not in _DESCRIBING):
            yield from _dotted_name(node.value)[-1:]


class _FileReader(Struct, frozen=True):
    """Reads the functions of a file that has `imported` some names and `kept` some originals."""

    imported: frozenset[str]
    kept: frozenset[str]

    def replaced_in_functions(self, body: Sequence[ast.stmt], marks: Sequence[Replacement]) -> Iterator[Replacement]:
        """Those of a file or class; `marks` are what the decorators of the classes around replace in tests."""
        for node in body:
            if isinstance(node, Functions | ast.ClassDef):
                own = [each for mark in node.decorator_list for each in self.replaced_by(mark)]
                if isinstance(node, ast.ClassDef):
                    yield from self.replaced_in_functions(node.body, [*marks, *own][:MOST_REPLACED])
                else:
                    yield from self._function(node, [*marks, *own] if node.name.startswith("test") else own)

    def _function(self, node: Functions, marks: Sequence[Replacement]) -> Iterator[Replacement]:
        inside = [*ast.walk(node)]
        first, last = min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno or node.lineno
        called = {name[-1] for each in inside if isinstance(each, ast.Call) and (name := _dotted_name(each.func))}
        own = {each.arg for each in inside if isinstance(each, ast.arg)}
        own |= {each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        names, is_ended = _FileReader(self.imported - own, self.kept), not called.isdisjoint(_ENDS)
        found = [replace(each, first=first, last=last) for each in marks]
        found += names.replaced_in(node.body, last, is_ended=is_ended)
        for each in () if _RELOAD in called else found[:MOST_REPLACED]:
            yield replace(each, line=first, body=node.body[0].lineno)

    def replaced_in(self, body: Sequence[ast.stmt], last: int, *, is_ended: bool) -> Iterator[Replacement]:
        """What statements that surely run replace up to a `last` line; of what `is_ended` only blocks are sure."""
        for node in body:
            found: list[ast.expr] = []
            end = last
            if isinstance(node, ast.With | ast.AsyncWith):
                found, end = [item.context_expr for item in node.items], node.end_lineno or node.lineno
                yield from self.replaced_in(node.body, end, is_ended=is_ended)
            elif isinstance(node, ast.Try):
                yield from self.replaced_in([*node.body, *node.finalbody], last, is_ended=is_ended)
            elif isinstance(node, ast.Expr | ast.Assign) and not is_ended and _is_set_at_once(node.value):
                found = [node.value]
            for each in (one for value in found for one in self.replaced_by(value)):
                yield replace(each, first=node.lineno, last=end)

    def replaced_by(self, node: ast.expr) -> Iterator[Replacement]:
        """What a call of `patch`, `patch.object` or `setattr` replaces."""
        called = _dotted_name(node.func) if isinstance(node, ast.Call) else ()
        if not isinstance(node, ast.Call) or not node.args or not called:
            return
        target, *given = node.args
        is_text = called[-1] == "patch" or (called[-1] in _SETS and isinstance(target, ast.Constant))
        if is_text:
            *owner, name = _text(target).split(".")
        elif (called[-2:] == ("patch", "object") or called[-1] in _SETS) and given:
            owner, name = [*_dotted_name(target)], _text(given.pop(0))
            owner = owner if owner and owner[0] in self.imported else []
        else:
            return
        given += [each.value for each in node.keywords if each.arg not in _DESCRIBING]
        handed = {each for value in given for part in ast.walk(value) for each in _dotted_name(part)[-1:]}
        if 0 < len(owner) <= _MOST_PARTS and name and name not in self.kept | handed:
            is_handed = any(not isinstance(each, ast.Constant) for each in given)
            yield Replacement(tuple(owner), name, is_text, is_handed)


def _is_set_at_once(node: ast.expr) -> bool:
    """Whether an expression is a call of `setattr`, or of `mocker.patch`, which needs no start."""
    name = _dotted_name(node.func) if isinstance(node, ast.Call) else ()
    return bool(name) and (name[-1] in _SETS or any(each.endswith("mocker") for each in name))


def _text(node: ast.expr) -> str:
    """A text that may be a name; empty for any other expression."""
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    return text if len(text) <= _LONGEST_NAME else ""


def _dotted_name(node: ast.AST) -> tuple[str, ...]:
    """The parts of a name such as `shop.money.round_cents`; empty for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _MOST_PARTS:
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()
