"""C and C++: one tree of names for all files; a file sees the part that its headers lead to.

A function that no header shows is still the one meant if only one file of the
repository defines it for all others to link with.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from codesum_pipeline.foundation.data_model.possible_values import (
    AMBIGUOUS,
    UNKNOWN,
    ClassValue,
    FunctionValue,
    Reason,
    Value,
)
from codesum_pipeline.foundation.data_model.scopes import ImportRow, Scope, ScopedFile
from codesum_pipeline.languages.declarations.name_tree import NameTree, Table
from codesum_pipeline.languages.declarations.projects import join_path
from codesum_pipeline.languages.declarations.rules import Outside, ResolvedImport, Rules

# How many headers are followed from one file.
MAX_HEADERS = 400
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tpp", ".inc", ".cuh")


class CFamilyRules(Rules):
    """A file sees the names of the headers that it includes, and functions that the linker finds."""

    languages = frozenset({"c", "cpp"})
    is_one_space = True
    library = "cpp"
    sees_members = True
    has_overloads = True
    separator = "::"

    def use_tree(self, tree: NameTree) -> None:
        super().use_tree(tree)
        self._included: Table[str, tuple[str, ...]] = tree.table("included")
        for path in sorted(tree.files):
            file = tree.files[path]
            found = [self._file(file, row.module) for row in file.imports]
            self._included.rows[path] = tuple(header for header in found if header is not None)
        self._headers: Table[str, frozenset[str]] = tree.table("headers", _Headers(self._included.rows))

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        path = self._file(file, row.module)
        yield ResolvedImport(Outside(row.module, "")) if path is None else ResolvedImport(None, None, (path,))

    def _file(self, file: ScopedFile, included: str) -> str | None:
        near = join_path(file.folder, included)
        if near is not None and near in self.projects.paths:
            return near
        plain = included.removeprefix("./")
        while plain.startswith("../"):
            plain = plain[3:]
        found = self.projects.ending(plain)
        if len(found) > 1:
            top = file.path.partition("/")[0]
            found = [path for path in found if path.partition("/")[0] == top] or found
        return found[0] if len(found) == 1 else None

    def visible_from(self, file: ScopedFile, definitions: Sequence[Scope]) -> Sequence[Scope]:
        return [entry for entry in definitions if self._sees(file.path, entry)]

    def _sees(self, path: str, entry: Scope) -> bool:
        headers = self._headers.get(path)
        if entry.file.path == path or entry.file.path in headers:
            return True
        if "static" in entry.modifiers and len(entry.parts) == 1:
            return False
        return any(_stem(header) == entry.file.stem for header in self._own_headers(entry.file.path) & headers)

    def _own_headers(self, path: str) -> frozenset[str]:
        """The headers that a source file is the body of."""
        included = self._included.get(path, ())
        stem = _stem(path)
        return frozenset(header for header in included if _stem(header) == stem and _is_header(header))

    def members_of(self, owner: Scope, definitions: Sequence[Scope]) -> Sequence[Scope]:
        path = owner.file.path
        return [entry for entry in definitions if entry.file.path == path or path in self._headers.get(entry.file.path)]

    def preferred_among(self, definitions: Sequence[Scope]) -> Sequence[Scope]:
        """A declaration refers to the one definition with the same number of arguments."""
        bodies = [entry for entry in definitions if not _is_header(entry.file.path)]
        return bodies if len(bodies) == 1 or not bodies else definitions

    def _picked(self, file: ScopedFile | None, found: Sequence[Scope], why: Reason) -> Value:
        classes = [entry for entry in found if entry.is_class]
        here = [entry for entry in classes if entry.file is file]
        if classes:
            chosen = here or classes
            return ClassValue(chosen[0], Reason.SAME_FILE if here else why) if len(chosen) == 1 else AMBIGUOUS
        if all(entry.file is file for entry in found):
            why = Reason.SAME_FILE
        elif why is Reason.PACKAGE:
            why = Reason.INCLUDE
        return FunctionValue.of(found, why)

    def value_of_called(self, file: ScopedFile, name: str, count: int) -> Value:
        """What headers show under the name in any namespace, or else the linker's choice."""
        entries = [entry for entry in self.tree.by_name.get(name, ()) if not self._is_member(entry)]
        shown = self.visible_from(file, entries)
        if shown:
            keys = {entry.key for entry in shown}
            return self.pick_value(file, shown, Reason.INCLUDE) if len(keys) == 1 else AMBIGUOUS
        linked = [entry for entry in entries if self._is_linked(entry)]
        if len(linked) != 1 or name in self.builtins or not linked[0].takes(count):
            return AMBIGUOUS if len(linked) > 1 else UNKNOWN
        return FunctionValue(linked[0], Reason.LINK)

    def value_of_root(self, scope: Scope, name: str) -> Value:
        entries = [entry for entry in self.tree.by_name.get(name, ()) if entry.is_class]
        # A class that is only declared ahead is defined where no header of the file leads to.
        shown = self.visible_from(scope.file, entries) or (entries if len(entries) == 1 else ())
        return self.pick_value(scope.file, shown, Reason.INCLUDE) if shown else UNKNOWN

    def _is_member(self, entry: Scope) -> bool:
        return not entry.is_class and entry.key[:-1] in self.tree.classes

    @staticmethod
    def _is_linked(entry: Scope) -> bool:
        is_plain = len(entry.parts) == 1 and not entry.is_class and "#define" not in entry.modifiers
        return is_plain and "static" not in entry.modifiers and not _is_header(entry.file.path)


class _Headers(Mapping[str, frozenset[str]]):
    """For each file, itself and those that it includes, also through others; found when it is asked for."""

    def __init__(self, included: Mapping[str, tuple[str, ...]]) -> None:
        self._included = included
        self._seen: dict[str, frozenset[str]] = {}

    def __getitem__(self, path: str) -> frozenset[str]:
        if path not in self._seen:
            waiting, seen = deque([path]), {path}
            while waiting and len(seen) < MAX_HEADERS:
                for header in self._included.get(waiting.popleft(), ()):
                    if header not in seen:
                        seen.add(header)
                        waiting.append(header)
            self._seen[path] = frozenset(seen)
        return self._seen[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._included)

    def __len__(self) -> int:
        return len(self._included)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _is_header(path: str) -> bool:
    return path.endswith(_HEADERS)
