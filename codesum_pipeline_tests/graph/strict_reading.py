"""Python files of which one may read only what its record holds: anything else raises `UnrecordedRead`."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from codesum_pipeline.foundation.data_model.bindings import ScopeKind
from codesum_pipeline.foundation.data_model.ids import module_path_of
from codesum_pipeline.foundation.data_model.scopes import LazyFiles, Scope, ScopedFile
from codesum_pipeline.graph.resolvers.cells import (
    CELL,
    EXPORTED,
    LISTS_EXPORTS,
    LookupRecord,
    export_key,
    hash_answer,
    head_key,
    name_key,
    owner_of,
    places_of,
)
from codesum_pipeline.languages.declarations.python.module_paths import Absent, ModulePath, ModulePaths

# Asks for the star imports of a file.
_TOP = head_key(str(ScopeKind.MODULE))
_HEAD = frozenset({"bases", "returns", "decorators", "is_generator"})


class UnrecordedRead(AssertionError):
    """Something was read that no record holds."""


class Allowed:
    """The cells of a record."""

    def __init__(self, record: LookupRecord) -> None:
        rows = np.frombuffer(b"".join(record.cells), CELL).tolist()
        self._cells = {(owner, key) for owner, key, _ in rows}

    def check(self, owner: int, key: int, what: str) -> None:
        """Raise unless a cell is in the record."""
        if (owner, key) not in self._cells:
            raise UnrecordedRead(what)

    def has_method(self, name: str) -> bool:
        """Whether it was asked which method a name identifies."""
        return (hash_answer(f"method\0{name}"), 0) in self._cells


class StrictNames(dict[str, Any]):
    """The names or attributes of one scope."""

    def __init__(self, names: Mapping[str, Any], allowed: Allowed, path: str, place: str) -> None:
        super().__init__(names)
        self._about = allowed, path, place

    def get(self, name: str, default: Any = None) -> Any:
        allowed, path, place = self._about
        allowed.check(owner_of(path), name_key(place, name), f"{path} {place} {name}")
        return super().get(name, default)

    def __getitem__(self, name: str) -> Any:
        self.get(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return self.get(str(name)) is not None

    def __iter__(self) -> Iterator[str]:
        raise UnrecordedRead(f"all names of {self._about[1:]}")

    items = keys = values = __iter__  # type: ignore[assignment]


class StrictScope(Scope):
    """A scope of another file."""

    allowed: Any = None
    place: str = ""

    def __getattribute__(self, name: str) -> Any:
        if name in _HEAD and self.allowed is not None:
            self.allowed.check(owner_of(self.file.path), head_key(self.place), f"{self.file.path} {self.place} {name}")
        return super().__getattribute__(name)


class StrictFile(ScopedFile):
    """Another file."""

    allowed: Any = None

    def __getattribute__(self, name: str) -> Any:
        if name in ("_code", "imports", "other_names"):
            raise UnrecordedRead(f"{name} of {self.path}")
        key = {"stars": _TOP, "reexports": EXPORTED, "exports": EXPORTED}.get(name)
        if key is not None and self.allowed is not None:
            self.allowed.check(owner_of(self.path), key, f"{self.path} {name}")
        return super().__getattribute__(name)


class StrictExports(frozenset[str]):
    """What a file lists."""

    def __new__(cls, names: frozenset[str], _: Allowed, __: str) -> "StrictExports":
        return super().__new__(cls, names)

    def __init__(self, _: frozenset[str], allowed: Allowed, path: str) -> None:
        self._about = allowed, path

    def __contains__(self, name: object) -> bool:
        allowed, path = self._about
        allowed.check(owner_of(path), export_key(str(name)), f"{path} exports {name}")
        return super().__contains__(name)


class StrictFiles(LazyFiles):
    """One file as it is, the others strictly."""

    def __init__(self, files: LazyFiles, own: str, allowed: Allowed) -> None:
        super().__init__(files.rows, files._guard)
        self._own, self._allowed = own, allowed
        self._strict: dict[str, ScopedFile] = {}

    def __getitem__(self, path: str) -> ScopedFile:
        file = super().__getitem__(path)
        if path == self._own:
            return file
        if path not in self._strict:
            self._strict[path] = _strict_file(file, self._allowed)
        return self._strict[path]

    def exports(self, path: str) -> frozenset[str] | None:
        self._allowed.check(owner_of(path), LISTS_EXPORTS, f"whether {path} lists exports")
        found = super().exports(path)
        return None if found is None else StrictExports(found, self._allowed, path)


def _strict_file(file: ScopedFile, allowed: Allowed) -> ScopedFile:
    strict = StrictFile(file.path, file.language, file.exports, file.reexports, stars=file.stars)
    strict.places = places_of(file)
    for scope, place in zip(file.scopes, strict.places, strict=True):
        parent = None if scope.parent is None else strict.scopes[scope.parent.number]
        made = StrictScope(
            strict, scope.number, scope.kind, parent, scope.id, scope.caller_id,
            StrictNames(scope.names, allowed, file.path, place), scope.is_top, scope.is_class,
            StrictNames(scope.attributes, allowed, file.path, place), scope.bases, scope.returns, scope.decorators,
            scope.is_generator,
        )  # fmt: skip
        made.place, made.allowed = place, allowed
        strict.scopes.append(made)
    strict.allowed = allowed
    return strict


class StrictPaths(ModulePaths):
    """The modules of a repository."""

    allowed: Allowed

    def _check(self, folder: str, level: object, name: str) -> None:
        self.allowed.check(hash_answer(f"{folder}\0{level}\0{name}"), 0, f"module {level} {name} in {folder}")

    def absolute(self, importer: str, dotted: str) -> ModulePath | Absent:
        self._check(module_path_of(importer), 0, dotted)
        return super().absolute(importer, dotted)

    def relative(self, importer: str, level: int, dotted: str) -> ModulePath | Absent:
        self._check(module_path_of(importer), level, dotted)
        return super().relative(importer, level, dotted)

    def child(self, folder: str, name: str) -> ModulePath | None:
        self._check(folder, "in", name)
        return super().child(folder, name)
