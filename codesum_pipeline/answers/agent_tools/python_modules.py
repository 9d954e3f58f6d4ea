"""What the names of a Python file mean: its own modules, classes and functions, and those of the files that it imports.

A module is known by its path without the ending: `src/shop/money` for `src/shop/money.py`, `src/shop` for its folder.
The folder that holds the first part of an absolute name is no package; names of the standard library are its own. Where
several imported files could be meant, nothing is.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.relations import Relation, related_documents
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import symbol_id
from codesum_pipeline.languages.declarations.python.syntax_trees import parse_syntax

# Files that are parsed for one answer, and characters of one.
MOST_PARSED = 1_000
LONGEST_SOURCE = 500_000
_INIT = "__init__"
_ALIAS = re.compile(r"(\w+) as (\w+)")


def parse_python(text: str) -> ast.Module | None:
    """The syntax tree of a source; None where it is none, too long, or nested too deep."""
    if len(text) > LONGEST_SOURCE:
        return None
    try:
        return parse_syntax(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


# A module's path without its ending, or the number of a function or class.
Meaning = str | int


class PythonModules(Struct, eq=False, dict=True):
    """The modules of a repository, and what is known by which name in each."""

    documents: JoinedDocuments
    sources: SourceReader
    is_cut: bool = False
    _trees: dict[str, ast.Module | None] = field(default_factory=dict)
    _aliases: dict[str, Mapping[str, str]] = field(default_factory=dict)
    _bound: dict[tuple[str, str], Meaning | None] = field(default_factory=dict)

    def tree(self, path: str) -> ast.Module | None:
        """The syntax tree of a file; None once so many were parsed."""
        if path not in self._trees:
            self.is_cut = self.is_cut or len(self._trees) >= MOST_PARSED
            if self.is_cut:
                return None
            self._trees[path] = parse_python(self.sources.text(self.documents.repo, path) or "")
        return self._trees[path]

    def meaning(self, parts: tuple[str, ...], path: str = "") -> Meaning | None:
        """What a dotted name means in a file, else, or without a file, as `import` knows it."""
        found, rest = self._meant(path, parts[0]) if path else None, parts[1:]
        if found is None:
            known = ((self._absolute(parts[:end]), parts[end:]) for end in range(len(parts), 0, -1))
            found, rest = next(((stem, after) for stem, after in known if stem is not None), (None, ()))
        for part in rest:
            found = None if found is None else self.member(found, part)
        return found

    def member(self, owner: Meaning, name: str) -> Meaning | None:
        """What a module or class has under a name."""
        if isinstance(owner, int):
            return self.documents.number(f"{self.documents[owner].id}::{name}")
        path, below = self._paths.get(owner, ""), f"{owner}/{name}" if owner else name
        found = self._meant(path, name) if path else None
        return found if found is not None else below if below in self._paths else None

    def _meant(self, path: str, name: str) -> Meaning | None:
        """What a name of a file means: its own definition, else what it imports."""
        if (path, name) not in self._bound:
            own = self.documents.number(symbol_id(path, [name]))
            found = {*self._imported(path, name)} if own is None else {own}
            self._bound[path, name] = found.pop() if len(found) == 1 else None
        return self._bound[path, name]

    def _imported(self, path: str, name: str) -> Iterator[Meaning]:
        """The modules and definitions of a name that the files imported by a file are or have."""
        if path not in self._aliases:
            aliases = _ALIAS.findall(self.sources.text(self.documents.repo, path) or "")
            self._aliases[path] = {alias: real for real, alias in aliases}
        file, real = self.documents.number(path), self._aliases[path].get(name, name)
        imported = [] if file is None else related_documents(self.documents, file, Relation.IMPORTS)
        for other in (self.documents[each.number].id for each in imported):
            if self.module_of(other).rpartition("/")[2] == real:
                yield self.module_of(other)
            if (number := self.documents.number(symbol_id(other, [real]))) is not None:
                yield number

    def path(self, module: Meaning | None) -> str:
        """The file of a module; empty for a folder without one."""
        return self._paths.get(module, "") if isinstance(module, str) else ""

    def module_of(self, path: str) -> str:
        stem = path.removesuffix(".py")
        return stem.removesuffix(_INIT).rstrip("/") if stem.rpartition("/")[2] == _INIT else stem

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
