"""What the names of a Python file mean: the modules, classes and functions that its imports bring in.

A module is known by its path without the ending: `src/shop/money` for `src/shop/money.py`, `src/shop` for its folder.
The folder that holds the first part of an absolute name is no package; names of the standard library are its own.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import symbol_id
from codesum_pipeline.symbols.languages.python.syntax_trees import parse_syntax
from codesum_pipeline.ways_in.agent_tools.answering_sources import SourceReader
from codesum_pipeline.ways_in.agent_tools.document_tree import JoinedDocuments

# Files that are parsed for one answer, and characters of one.
MOST_PARSED = 1_000
LONGEST_SOURCE = 500_000
# A name that is handed on by more files is not followed, nor one of more parts.
_MOST_HANDED_ON = 6
_MOST_PARTS = 12
_INIT = "__init__"


def dotted_name(node: ast.AST) -> tuple[str, ...]:
    """The parts of a name such as `shop.money.round_cents`; empty for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _MOST_PARTS:
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()


def parse_python(text: str) -> ast.Module | None:
    """The syntax tree of a source; None where it is none, too long, or nested too deep."""
    if len(text) > LONGEST_SOURCE:
        return None
    try:
        return parse_syntax(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class ImportedName(Struct, frozen=True):
    """`from module import name`, or a module where `name` is empty; so many dots stand before a relative one."""

    module: tuple[str, ...]
    name: str = ""
    dots: int = 0


class ImportedNames(Struct, frozen=True):
    """What the names of a file are bound to: at its top, in functions, and all that some modules have."""

    top: Mapping[str, ImportedName]
    inner: Mapping[str, ImportedName]
    stars: tuple[ImportedName, ...]

    @classmethod
    def of(cls, tree: ast.Module) -> "ImportedNames":
        top: dict[str, ImportedName] = {}
        inner: dict[str, ImportedName] = {}
        stars: list[ImportedName] = []
        waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
        while waiting:
            node, is_inner = waiting.pop()
            for name, found in _imported(node):
                stars += [found] if name == "*" else []
                (inner if is_inner else top)[name] = found
            inside = is_inner or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            waiting += [(each, inside) for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt | _HOLDERS)]
        return cls(top, inner, tuple(stars))

    def get(self, name: str) -> ImportedName | None:
        return self.top.get(name) or self.inner.get(name)


# What holds statements without being one.
_HOLDERS = ast.ExceptHandler | ast.match_case


def _imported(node: ast.AST) -> Iterator[tuple[str, ImportedName]]:
    if isinstance(node, ast.Import):
        for each in node.names:
            parts = tuple(each.name.split("."))
            yield (each.asname, ImportedName(parts)) if each.asname else (parts[0], ImportedName(parts[:1]))
    elif isinstance(node, ast.ImportFrom):
        module = tuple(node.module.split(".")) if node.module else ()
        for each in node.names:
            yield each.asname or each.name, ImportedName(module, each.name, node.level)


# A module's path without its ending, or the number of a function or class.
Meaning = str | int


class PythonModules(Struct, eq=False, dict=True):
    """The modules of a repository, and what is known by which name in each."""

    documents: JoinedDocuments
    sources: SourceReader
    _trees: dict[str, ast.Module | None] = field(default_factory=dict)
    _imports: dict[str, ImportedNames] = field(default_factory=dict)
    is_cut: bool = False

    def tree(self, path: str) -> ast.Module | None:
        """The syntax tree of a file; None once so many were parsed."""
        if path not in self._trees:
            if not self.may_parse(path):
                return None
            self._trees[path] = parse_python(self.sources.text(self.documents.repo, path) or "")
        return self._trees[path]

    def may_parse(self, path: str) -> bool:
        """Whether one more file may be parsed, which is counted."""
        self.is_cut = self.is_cut or (len(self._trees) >= MOST_PARSED and path not in self._trees)
        if not self.is_cut:
            self._trees.setdefault(path, None)
        return not self.is_cut

    def imports(self, path: str) -> ImportedNames:
        if path not in self._imports:
            self._imports[path] = ImportedNames.of(self.tree(path) or ast.Module([], []))
        return self._imports[path]

    def meaning(self, parts: tuple[str, ...], path: str = "") -> Meaning | None:
        """What a dotted name means in a file; without a file, a whole name as `import` knows it."""
        found: Meaning | None
        if path:
            found, rest = self.bound(path, parts[0]), parts[1:]
        else:
            known = ((self._absolute(parts[:end]), parts[end:]) for end in range(len(parts), 0, -1))
            found, rest = next(((stem, after) for stem, after in known if stem is not None), (None, ()))
        for part in rest:
            found = None if found is None else self.member(found, part)
        return found

    def member(self, owner: Meaning, name: str, handed_on: int = 0) -> Meaning | None:
        """What a module or class has under a name."""
        if isinstance(owner, int):
            return self.documents.number(f"{self.documents[owner].id}::{name}")
        path, below = self._paths.get(owner, ""), f"{owner}/{name}" if owner else name
        found = self.bound(path, name, handed_on) if path else None
        return found if found is not None else below if below in self._paths else None

    def bound(self, path: str, name: str, handed_on: int = 0) -> Meaning | None:
        """What a name of a file means: its own definition, else what it imports."""
        if (number := self.documents.number(symbol_id(path, [name]))) is not None:
            return number
        if handed_on > _MOST_HANDED_ON:
            return None
        imports = self.imports(path)
        if (found := imports.get(name)) is not None:
            return self._of_import(path, found, handed_on)
        for star in imports.stars:
            module = self._module(path, star)
            if module is not None and (meant := self.member(module, name, handed_on + 1)) is not None:
                return meant
        return None

    def _of_import(self, path: str, found: ImportedName, handed_on: int = 0) -> Meaning | None:
        module = self._module(path, found)
        return module if module is None or not found.name else self.member(module, found.name, handed_on + 1)

    def inner_import(self, path: str, name: str) -> str | None:
        """The module from which a function of a file imports a name."""
        found = self.imports(path).inner.get(name)
        return None if found is None or not found.name else self._module(path, found)

    def path(self, module: Meaning | None) -> str:
        """The file of a module; empty for a folder without one."""
        return self._paths.get(module, "") if isinstance(module, str) else ""

    def module_of(self, path: str) -> str:
        stem = path.removesuffix(".py")
        return stem.removesuffix(_INIT).rstrip("/") if stem.rpartition("/")[2] == _INIT else stem

    def _module(self, path: str, found: ImportedName) -> str | None:
        if not found.dots:
            return self._absolute(found.module)
        folder = path.split("/")[: -found.dots]
        stem = "/".join([*folder, *found.module])
        return stem if stem in self._paths else None

    def _absolute(self, parts: tuple[str, ...]) -> str | None:
        if not parts or parts[0] in sys.stdlib_module_names:
            return None
        name = "/".join(parts)
        roots = ((stem, stem.removesuffix(name).rstrip("/")) for stem in self._by_last.get(parts[-1], ()))
        fitting = [
            stem for stem, root in roots
            if (stem == name or stem.endswith(f"/{name}")) and (not root or not self._paths.get(root))
        ]  # fmt: skip
        # A folder that is called as the package in it (`shop/src/shop`) is none.
        return min(fitting, key=lambda stem: (not self._paths[stem], stem.count("/"), stem), default=None)

    @cached_property
    def _paths(self) -> Mapping[str, str]:
        """The file of each module; empty for folders that hold modules and have no file of their own."""
        found: dict[str, str] = {}
        for number in self.documents.numbers(Level.FILE):
            path = self.documents[number].id
            if path.endswith(".py"):
                found[self.module_of(path)] = path
        for stem in [*found]:
            while (stem := stem.rpartition("/")[0]) and stem not in found:
                found[stem] = ""
        return found

    @cached_property
    def _by_last(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for stem in self._paths:
            found[stem.rpartition("/")[2]].append(stem)
        return found
