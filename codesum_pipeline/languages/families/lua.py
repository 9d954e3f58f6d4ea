"""Lua: a file gives the table that it returns."""

from collections.abc import Iterator

from codesum_pipeline.languages.projects import join
from codesum_pipeline.languages.rules import Outside, ResolvedImport, Rules
from codesum_pipeline.model.scopes import ImportRow, Key, Scope, ScopedFile
from codesum_pipeline.model.values import ModuleValue


class LuaRules(Rules):
    """`require` finds files by their path from a source folder."""

    languages = frozenset({"lua"})
    library = "lua"
    own_words = frozenset({"self"})
    super_words = frozenset()

    def inner_spaces(self, scope: Scope) -> Iterator[Key]:
        """The functions of a table are seen only through it."""
        yield from ()

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        path = self._file(file, row.module)
        if path is not None:
            yield ResolvedImport(ModuleValue((path,)), row.alias, (path,))
        elif not row.module.endswith(".lua"):
            yield ResolvedImport(Outside(row.module.partition(".")[0], ".".join(row.module.split(".")[1:])), row.alias)

    def _file(self, file: ScopedFile, module: str) -> str | None:
        if module.endswith(".lua"):
            near = join(file.folder, module)
            return near if near in self.projects.paths else None
        inner = module.replace(".", "/")
        found = [*self.projects.ending(f"{inner}.lua"), *self.projects.ending(f"{inner}/init.lua")]
        first = [path for path in found if path in (f"{inner}.lua", f"lua/{inner}.lua", f"{inner}/init.lua",
                                                    f"lua/{inner}/init.lua", f"src/{inner}.lua")]  # fmt: skip
        chosen = first or found
        return chosen[0] if len(chosen) == 1 else None

    def local_key(self, key: Key, name: str) -> Key:
        """A member of the table that a file returns: the only one with that name."""
        if key not in self.tree.units or (*key, name) in self.tree.entries:
            return (*key, name)
        owners = {
            entry.key for entry in self.tree.by_name.get(name, ()) if entry.key[:1] == key and len(entry.key) == 3
        }
        return next(iter(owners)) if len(owners) == 1 else (*key, name)
