"""Which file an import names.

Imports start at roots: the top of the index, folders named as source roots are
(`src`, `lib`), folders with a project file, and the folders around outermost
packages. A file sees the roots above it, the nearest first, and its own folder
unless that is a package; then any other root that holds more than tests and
vendored code, if only one offers the name. The standard library's names are
external to all but its own packages. A folder without `__init__` counts only
where a file is found in it: an installed package of that name would win.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from codesum_pipeline.foundation.data_model.file import FilePlace, FileStatus, SourceFile
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE, module_path_of, parent_modules
from codesum_pipeline.foundation.language_facts.language_profiles import library_names

_PACKAGE_FILES = ("__init__.py", "__init__.pyi")
_PROJECT_FILES = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})
_ROOT_NAMES = frozenset({"src", "lib"})
_SUFFIXES = (".py", ".pyi")


class Absent(StrEnum):
    """Why an import names no module of the repository."""

    EXTERNAL = "external"
    MISSING = "missing"


class ModulePath(NamedTuple):
    """A module of the repository: its file, "" for a package without `__init__`; its folder, "" if it is no package."""

    file: str
    folder: str


class ModulePaths:
    """The modules of one repository; `parsed` are the files whose names are known."""

    def __init__(self, files: Sequence[SourceFile | FilePlace], parsed: Iterable[str], *, root: str) -> None:
        self._parsed = frozenset(parsed)
        self._folders = {folder for path in self._parsed for folder in parent_modules(path, root=root)}
        self._packages = {module_path_of(f.path) for f in files if _name(f.path) in _PACKAGE_FILES}
        self._roots = self._find_roots(files, root)
        self._shared_roots = self._find_shared_roots(files)
        self._found: dict[tuple[str, str], ModulePath | Absent] = {}

    def signature(self) -> list[list[str]]:
        """All that an answer depends on besides what is asked."""
        return [*map(sorted, (self._parsed, self._folders, self._packages)), self._roots, self._shared_roots]

    def _find_roots(self, files: Sequence[SourceFile | FilePlace], root: str) -> list[str]:
        roots = {root, ROOT_MODULE}
        roots.update(module_path_of(package) for package in self._packages if package != ROOT_MODULE)
        roots.update(folder for folder in self._folders if _name(folder) in _ROOT_NAMES)
        roots.update(module_path_of(f.path) for f in files if _name(f.path) in _PROJECT_FILES)
        return sorted((roots - self._packages) | {root, ROOT_MODULE})

    def _find_shared_roots(self, files: Sequence[SourceFile | FilePlace]) -> list[str]:
        """The roots that code elsewhere in the repository may import from."""
        own = [f.path for f in files if f.status is FileStatus.INDEXED and not f.is_test and not f.is_vendored]
        folders = {folder for path in own if path in self._parsed for folder in parent_modules(path)}
        return [root for root in self._roots if root in folders]

    def absolute(self, importer: str, dotted: str) -> ModulePath | Absent:
        """What `import dotted` names in the file `importer`."""
        key = (module_path_of(importer), dotted)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._absolute(*key)
        return found

    def relative(self, importer: str, level: int, dotted: str) -> ModulePath | Absent:
        """What `from ..dotted import` names, `level` being the number of dots."""
        folder = module_path_of(importer)
        for _ in range(level - 1):
            if folder == ROOT_MODULE:
                return Absent.MISSING
            folder = module_path_of(folder)
        return self._locate(folder, dotted.split(".") if dotted else []) or Absent.MISSING

    def child(self, folder: str, name: str) -> ModulePath | None:
        """The submodule of the package in a folder; "" is no package's."""
        return self._locate(folder, [name]) if folder else None

    def _absolute(self, folder: str, dotted: str) -> ModulePath | Absent:
        parts = dotted.split(".")
        above = list(self._roots_above(folder))
        if parts[0] in library_names("python", "modules") and not self._is_inside(folder, parts[0], above):
            return Absent.EXTERNAL
        near = self._first(above, parts)
        if isinstance(near, ModulePath):
            return near
        elsewhere = self._only([root for root in self._shared_roots if root not in above], parts)
        if isinstance(elsewhere, ModulePath):
            return elsewhere
        return Absent.MISSING if Absent.MISSING in (near, elsewhere) else Absent.EXTERNAL

    def _roots_above(self, folder: str) -> Iterator[str]:
        roots = set(self._roots)
        for above in (folder, *parent_modules(folder)):
            if above in roots or (above == folder and folder not in self._packages):
                yield above

    def _is_inside(self, folder: str, top: str, roots: Sequence[str]) -> bool:
        return any(f"{folder}/".startswith(f"{_join(root, top)}/") for root in roots)

    def _first(self, roots: Sequence[str], parts: list[str]) -> ModulePath | Absent:
        is_missing = False
        for root in roots:
            found = self._locate(root, parts)
            if found is not None and found.file:
                return found
            is_missing = is_missing or self._has_top(root, parts[0])
        return Absent.MISSING if is_missing else Absent.EXTERNAL

    def _only(self, roots: Sequence[str], parts: list[str]) -> ModulePath | Absent:
        offering = [root for root in roots if self._has_top(root, parts[0])]
        if not offering:
            located = (self._locate(root, parts) for root in roots)
            found = [module for module in located if module is not None and module.file]
            return found[0] if len(found) == 1 else Absent.EXTERNAL
        module = self._locate(offering[0], parts) if len(offering) == 1 else None
        return module if module is not None else Absent.MISSING

    def _has_top(self, root: str, top: str) -> bool:
        module = self._locate(root, [top])
        return module is not None and bool(module.file)

    def _locate(self, root: str, parts: list[str]) -> ModulePath | None:
        base = _join(root, *parts)
        for name in _PACKAGE_FILES:
            if _join(base, name) in self._parsed:
                return ModulePath(_join(base, name), base)
        for suffix in _SUFFIXES:
            if parts and base + suffix in self._parsed:
                return ModulePath(base + suffix, "")
        return ModulePath("", base) if base in self._folders else None


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _join(*parts: str) -> str:
    return "/".join(part for part in parts if part != ROOT_MODULE) or ROOT_MODULE
