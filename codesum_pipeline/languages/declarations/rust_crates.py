"""Rust: crates from `Cargo.toml`, modules from files and blocks, paths from `crate`, `self`, `super` or a crate."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from codesum_pipeline.foundation.data_model.possible_values import UNKNOWN, ExternalValue, ModuleValue, Value
from codesum_pipeline.foundation.data_model.scopes import ImportRow, Key, Scope, ScopedFile, UseExpression
from codesum_pipeline.languages.declarations.projects import Projects, folders_above, inner_table, join_path, text_under
from codesum_pipeline.languages.declarations.rules import Member, Outside, ResolvedImport, Rules

_ROOTS = frozenset({"lib", "main"})
# Folders whose files are each a crate of their own.
_SINGLE = frozenset({"bin", "examples", "tests", "benches"})
_STANDARD = frozenset({"std", "core", "alloc"})
# In `#[cfg(all(unix, not(feature = "std")))]`: `feature = "std"` is one name of what is true or false.
_CONDITION_NAME = re.compile(r'\b(?!(?:all|any|not)\b)[\w.]+(?:="[^"]*")?')
_APPLIED_TO_VALUES = re.compile(r"(all|any|not)\(([01,]*)\)")
# Of more names there are too many values to try; longer conditions take too long for each.
_MOST_NAMES, _MOST_BRACKETS, _LONGEST = 8, 50, 4_000


class RustRules(Rules):
    """A module sees its own names and what it uses; `pub use` re-exports."""

    languages = frozenset({"rust"})
    separator = "::"

    def __init__(self, projects: Projects) -> None:
        super().__init__(projects)
        self._crates: dict[str, set[Key]] = {}
        self._folders: set[str] = set()
        self._roots: dict[str, str] = {}
        self._dependencies: dict[str, dict[str, str]] = {}
        for path in projects.named("Cargo.toml"):
            self._add_crate(path.rpartition("/")[0], path)

    def _add_crate(self, folder: str, path: str) -> None:
        content = self.projects.toml(path)
        name = text_under(inner_table(content, "package"), "name")
        if not name:
            return
        self._folders.add(folder)
        self._add_roots(folder, content)
        root = text_under(inner_table(content, "lib"), "path") or "src/lib.rs"
        known = text_under(inner_table(content, "lib"), "name") or name
        self._crates.setdefault(known.replace("-", "_"), set()).add((join_path(folder, root) or "",))
        renamed = {}
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            for alias, dependency in inner_table(content, kind).items():
                package = text_under(dependency, "package") if isinstance(dependency, dict) else ""
                renamed[alias.replace("-", "_")] = (package or alias).replace("-", "_")
        self._dependencies[folder] = renamed

    def _add_roots(self, folder: str, content: Mapping[str, Any]) -> None:
        """The folders that hold a crate's modules where `Cargo.toml` says so."""
        bins = content.get("bin")
        targets = [inner_table(content, "lib"), *map(inner_table, bins if isinstance(bins, list) else ())]
        for path in filter(None, (text_under(target, "path") for target in targets)):
            whole = join_path(folder, path)
            if whole is not None and "/" in whole and not whole.startswith(f"{folder}/src/" if folder else "src/"):
                self._roots.setdefault(whole.rpartition("/")[0], whole)

    def unit_of(self, file: ScopedFile) -> Key:
        """The crate's root file, then the modules on the way to a file."""
        above_root = next((above for above in folders_above(file.folder) if above in self._roots), None)
        if above_root is not None:
            inner = file.path[len(above_root) + 1 if above_root else 0 :].removesuffix(".rs")
            return self._modules(self._roots[above_root], inner.split("/"))
        folder = next((above for above in folders_above(file.folder) if above in self._folders), None)
        if folder is None:
            # Without `Cargo.toml`, a crate is where the nearest folder `src` is.
            sources = (above for above in folders_above(file.folder) if f"/{above}".endswith("/src"))
            folder = next(sources, "").removesuffix("src").removesuffix("/")
        return self._in_crate(folder, file.path)

    def _in_crate(self, folder: str, path: str) -> Key:
        inner = path[len(folder) + 1 :] if folder else path
        parts = inner.removesuffix(".rs").split("/")
        prefix = f"{folder}/" if folder else ""
        if parts[0] == "src":
            if len(parts) > 2 and parts[1] == "bin":
                return self._modules(f"{prefix}src/bin/{parts[2]}.rs", parts[3:])
            root = f"{prefix}src/lib.rs"
            if parts[1:] == ["main"] or root not in self.projects.paths:
                root = f"{prefix}src/main.rs"
            return self._modules(root, parts[1:])
        if len(parts) > 1 and parts[0] in _SINGLE:
            return self._modules(f"{prefix}{parts[0]}/{parts[1]}.rs", parts[2:])
        return self._modules(f"{prefix}{parts[0]}.rs", parts[1:])

    @staticmethod
    def _modules(root: str, parts: list[str]) -> Key:
        if parts and parts[-1] in ("mod", *_ROOTS) and (parts[-1] == "mod" or len(parts) == 1):
            parts = parts[:-1]
        return (root, *parts)

    def read_in_projects(self) -> Any:
        return [sorted((name, sorted(roots)) for name, roots in self._crates.items()), self._dependencies]

    def inner_spaces(self, scope: Scope) -> Iterator[Key]:
        """A block `mod` sees its own names alone; types are no scopes."""
        for key in super().inner_spaces(scope):
            if not self.tree.entries.get(key, ()) and not key[-1][:1].isupper():
                yield key
                return

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        is_star = row.name == "*"
        parts = [*row.module.removeprefix("::").split("::"), *([row.name] if row.name and not is_star else [])]
        name = None if is_star else row.alias or parts[-1]
        if parts[0] == "super" and self._has_blocks(file) and (is_star or (*file.unit, parts[1]) in self.tree.entries):
            # Written in a block `mod`, whose outside is the file.
            parts = ["self", *parts[1:]]
        key = self.path_key(file, parts)
        if key is None:
            if parts[0] not in ("crate", "self", "super"):
                yield ResolvedImport(Outside(parts[0], "::".join(parts[1:])), name, (), is_star, is_handed_on=True)
            return
        units = self.tree.units.rows
        holder = next((key[:size] for size in range(len(key), 0, -1) if key[:size] in units), None)
        files = tuple(found.path for found in units[holder]) if holder is not None else ()
        target = ModuleValue(key) if is_star or len(key) == 1 else Member(key[:-1], key[-1])
        if target == Member(file.unit, name or ""):
            target = ModuleValue(key)
        yield ResolvedImport(target, name, files if len(files) == 1 else (), is_star, is_handed_on=True)

    def _has_blocks(self, file: ScopedFile) -> bool:
        """Whether a file has modules in blocks, which hold functions or types."""
        return any(
            len(entry.parts) > 1
            and (*file.unit, entry.parts[0]) not in self.tree.entries
            and not entry.parts[0][0].isupper()
            for entry in file.definitions
        )

    def path_key(self, file: ScopedFile, parts: list[str]) -> Key | None:
        """The key that a path in a file names; None for a crate outside."""
        at = file.unit
        if parts[0] == "crate":
            at, parts = at[:1], parts[1:]
        elif parts[0] in ("self", "super"):
            while parts and parts[0] in ("self", "super"):
                at, parts = (at[:-1] if parts[0] == "super" and len(at) > 1 else at), parts[1:]
        elif (*at, parts[0]) not in self.tree.spaces and (*at, parts[0]) not in self.tree.units:
            crate = self._crate(file, parts[0])
            if crate is None:
                return None
            at, parts = crate, parts[1:]
        return (*at, *parts)

    def _crate(self, file: ScopedFile, name: str) -> Key | None:
        name = self._packages(file).get(name, name)
        roots = self._crates.get(name, set())
        return next(iter(roots)) if len(roots) == 1 else None

    def meant_by(self, scope: Scope, use: UseExpression, found: Scope) -> Scope | None:
        """Not what is never compiled together with its user."""
        condition = scope.definition.condition
        is_exclusive = condition and found.condition and not can_both_hold(condition, found.condition)
        return None if is_exclusive else found

    def value_of_root(self, scope: Scope, name: str) -> Value:
        """The first name of a path may be a crate, or a word that says where the path begins."""
        if name in ("crate", "super"):
            unit = scope.file.unit
            inline = next(self.inner_spaces(scope), None)
            start = inline if inline is not None else unit
            return ModuleValue(unit[:1] if name == "crate" else start[:-1] if len(start) > 1 else start)
        crate = self._crate(scope.file, name)
        if crate is not None:
            return ModuleValue(crate)
        return ExternalValue(name) if name in _STANDARD or name in self._packages(scope.file) else UNKNOWN

    def _packages(self, file: ScopedFile) -> dict[str, str]:
        """The crates that a file's own crate depends on, by the names it has for them."""
        folder = next((above for above in folders_above(file.folder) if above in self._dependencies), None)
        return self._dependencies[folder] if folder is not None else {}


def can_both_hold(first: str, second: str) -> bool:
    """Whether two conditions can be true at once, as far as that can be told; each is a list with commas."""
    written = re.sub(r"\s", "", f"all(all({first}),all({second}))")
    if len(written) > _LONGEST:
        return True
    names = sorted(set(_CONDITION_NAME.findall(written)))
    if len(names) > _MOST_NAMES or written.count("(") > _MOST_BRACKETS:
        return True
    return any(
        _holds(written, dict(zip(names, values, strict=True))) for values in product("10", repeat=len(names))
    )  # fmt: skip


def _holds(condition: str, values: Mapping[str, str]) -> bool:
    """Whether a condition is true; one that is no whole one is."""
    left, rest = "", _CONDITION_NAME.sub(lambda name: values[name[0]], condition)
    while left != rest:
        left, rest = rest, _APPLIED_TO_VALUES.sub(_value, rest)
    return rest != "0"


def _value(applied: re.Match[str]) -> str:
    operator, values = applied.groups()
    return str(int("1" in values if operator == "any" else ("0" in values) is (operator == "not")))
