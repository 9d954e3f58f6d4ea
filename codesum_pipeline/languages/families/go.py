"""Go: a folder is a package, found by the module paths of the `go.mod` files."""

import re
from collections.abc import Iterator

from codesum_pipeline.languages.projects import Projects, folders_above, join
from codesum_pipeline.languages.rules import NameTree, Outside, ResolvedImport, Rules
from codesum_pipeline.model.scopes import ImportRow, Key, Scope, ScopedFile
from codesum_pipeline.model.values import ModuleValue

_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)
_REPLACE = re.compile(r"^\s*(?:replace\s+)?([^\s()]+)(?:\s+v\S+)?\s+=>\s+(\.{1,2}\S*)", re.MULTILINE)
_USE = re.compile(r"^use\s*(?:\(([^)]*)\)|(\S+))", re.MULTILINE)
# The module of the language's own library, whose packages are imported without its name.
_LIBRARY = "std"
# What the compiler has for a package, whatever a file of the library says of it.
_OF_COMPILER = "unsafe"
_VERSION = re.compile(r"v\d+")


class GoRules(Rules):
    """The files of a folder share their names; `x_test` beside `x` is a package of its own."""

    languages = frozenset({"go"})
    library = "go"
    own_words = frozenset()
    super_words = frozenset()
    has_embedded = True

    def __init__(self, projects: Projects) -> None:
        super().__init__(projects)
        self._modules: list[tuple[str, str]] = []
        self._libraries: list[str] = []
        for path in projects.named("go.mod"):
            folder, text = path.rpartition("/")[0], projects.texts[path]
            module = _MODULE.search(text)
            if module is None:
                projects.malformed.add(path)
                continue
            self._modules.append((module[1], folder))
            if module[1] == _LIBRARY:
                self._libraries.append(folder)
            for replaced in _REPLACE.finditer(text):
                target = join(folder, replaced[2])
                if target is not None:
                    self._modules.append((replaced[1], target))
        used = self._read_workspaces()
        self._modules.sort(key=lambda module: (-len(module[0]), module[0], module[1] not in used, module[1]))
        self._packages: dict[str, str] = {}

    def _read_workspaces(self) -> set[str]:
        """The folders that `go.work` files use or replace others by: of two modules of one name, theirs is meant."""
        used = set[str]()
        for path in self.projects.named("go.work"):
            folder, text = path.rpartition("/")[0], self.projects.texts[path]
            blocks = [block for found in _USE.finditer(text) for block in (found[1] or found[2]).split()]
            used.update(filter(None, (join(folder, block.strip('"')) for block in blocks)))
            for replaced in _REPLACE.finditer(text):
                if (target := join(folder, replaced[2])) is not None:
                    self._modules.append((replaced[1], target))
                    used.add(target)
        return used

    def use(self, tree: NameTree) -> None:
        super().use(tree)
        for unit in sorted(tree.units):
            if len(unit) == 1:
                self._packages[unit[0]] = tree.units[unit][0].package or ""

    def unit(self, file: ScopedFile) -> Key:
        package = file.package or ""
        is_outer_test = package.endswith("_test") and file.path.endswith("_test.go")
        return (file.folder, package) if is_outer_test else (file.folder,)

    def inner_spaces(self, scope: Scope) -> Iterator[Key]:
        """Methods are seen only through their receiver."""
        yield from ()

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        folder = self._folder(file, row.module)
        is_star = row.name == "*"
        if row.alias in ("_", "."):
            return
        if folder is not None:
            name = row.alias or self._packages[folder]
            yield ResolvedImport(ModuleValue((folder,)), None if is_star else name, (), is_star)
        elif not self._is_own(row.module):
            name = row.alias or _package_name(row.module)
            yield ResolvedImport(Outside(row.module, ""), None if is_star else name, (), is_star)

    def _folder(self, file: ScopedFile, path: str) -> str | None:
        for module, folder in self._modules:
            if path == module or path.startswith(f"{module}/"):
                found = join(folder, path[len(module) + 1 :])
                if found is not None and found in self._packages:
                    return found
        for library in self._libraries if path != _OF_COMPILER else ():
            found = join(library, path)
            if found is not None and found in self._packages:
                return found
        for above in folders_above(file.folder):
            vendored = f"{above}/vendor/{path}" if above else f"vendor/{path}"
            if vendored in self._packages:
                return vendored
        return None

    def _is_own(self, path: str) -> bool:
        return any(path == module or path.startswith(f"{module}/") for module, _ in self._modules)


def _package_name(path: str) -> str:
    """What a package outside is usually called: the last part of its path without version and mark of the language."""
    parts = [part for part in path.split("/") if not _VERSION.fullmatch(part)] or [path]
    return parts[-1].partition(".")[0].removeprefix("go-").removesuffix("-go")
