"""Bash, Elixir, Haskell, Zig and Swift: languages whose modules need few rules."""

from collections.abc import Iterator

from codesum_pipeline.languages.projects import join
from codesum_pipeline.languages.rules import Member, Outside, ResolvedImport, Rules
from codesum_pipeline.model.scopes import ImportRow, Key, Scope, ScopedFile
from codesum_pipeline.model.values import ModuleValue


class BashRules(Rules):
    """A sourced file's functions are the script's own."""

    languages = frozenset({"bash"})
    own_words = frozenset()
    super_words = frozenset()

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        path = row.module.strip("\"'")
        # A variable at the beginning is the folder of the script, or one near it.
        plain = path.rpartition("}/")[2] if "}/" in path else path
        if plain.startswith("$"):
            plain = plain.partition("/")[2] if not plain.startswith("$(") else plain.rpartition(")/")[2]
        near = join(file.folder, plain) if plain else None
        found = (
            [near] if near in self.projects.paths else self.projects.ending(plain.removeprefix("./")) if plain else []
        )
        if len(found) == 1 and found[0] is not None:
            yield ResolvedImport(ModuleValue((found[0],)), None, (found[0],), is_star=True, is_handed_on=True)


class ElixirRules(Rules):
    """Modules by name, in one tree for all files."""

    languages = frozenset({"elixir"})
    library = "elixir"
    sees_members = True
    is_merged = True
    has_overloads = True
    own_words = frozenset()
    super_words = frozenset()
    class_words = frozenset({"__MODULE__"})

    def unit(self, file: ScopedFile) -> Key:
        return ()

    def scope_of_bases(self, class_: Scope) -> Scope:
        """`use` and `@behaviour` stand in the module, below its aliases."""
        return class_

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        is_star = row.name == "*"
        parts = (
            tuple(f"{row.module}.{row.name}".split(".")) if row.name and not is_star else tuple(row.module.split("."))
        )
        found = self.tree.entries.get((".".join(parts),)) or self.tree.entries.get(parts) or []
        files = {entry.file.path for entry in found}
        name = None if is_star else row.alias or parts[-1]
        if found:
            key = found[0].key
            target = ModuleValue(key) if is_star else Member(key[:-1], key[-1])
            yield ResolvedImport(target, name, tuple(files) if len(files) == 1 else (), is_star)
        elif parts[:1] not in self.tree.spaces:
            yield ResolvedImport(Outside(".".join(parts), ""), name, (), is_star)


class HaskellRules(Rules):
    """A file is the module that its head names."""

    languages = frozenset({"haskell"})
    library = "haskell"
    own_words = frozenset()
    super_words = frozenset()

    def unit(self, file: ScopedFile) -> Key:
        return (file.package or file.path,)

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        held = self.tree.units.get((row.module,), [])
        files = tuple(found.path for found in held) if len(held) == 1 else ()
        is_whole = row.name in (None, "*")
        name = row.alias or (row.module if row.name is None else row.name)
        if held:
            if row.name == "*":
                yield ResolvedImport(ModuleValue((row.module,)), None, files, is_star=True, is_handed_on=True)
                if row.alias:
                    yield ResolvedImport(ModuleValue((row.module,)), row.alias)
            else:
                target = ModuleValue((row.module,)) if is_whole else Member((row.module,), row.name or "")
                yield ResolvedImport(target, name, files, is_handed_on=True)
        else:
            outside = Outside(row.module, row.name if row.name not in (None, "*") else "")
            yield ResolvedImport(outside, None if row.name == "*" else name, (), row.name == "*")


class ZigRules(Rules):
    """A file is a struct; `@import` gives it."""

    languages = frozenset({"zig"})
    library = "zig"
    sees_members = True
    files_are_types = True
    own_words = frozenset()
    super_words = frozenset()
    class_words = frozenset({"Self"})

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        if row.module.endswith(".zig"):
            path = join(file.folder, row.module)
            if path is None or path not in self.projects.paths:
                return
            if row.name == "*":
                yield ResolvedImport(ModuleValue((path,)), None, (path,), is_star=True, is_handed_on=True)
                return
            inner = tuple((row.name or "").split(".")) if row.name else ()
            target = Member((path, *inner[:-1]), inner[-1]) if inner else ModuleValue((path,))
            yield ResolvedImport(target, row.alias or (inner[-1] if inner else None), (path,), is_handed_on=True)
        else:
            yield ResolvedImport(Outside(row.module, row.name or ""), row.alias)


class SwiftRules(Rules):
    """The files of a target see each other: those of a folder below `Sources`, or of the repository."""

    languages = frozenset({"swift"})
    library = "swift"
    sees_members = True
    is_merged = True
    has_overloads = True
    own_words = frozenset({"self"})
    class_words = frozenset({"Self"})
    constructors = ("init",)

    def unit(self, file: ScopedFile) -> Key:
        parts = file.folder.split("/")
        for marker in ("Sources", "Tests"):
            if marker in parts and parts.index(marker) + 1 < len(parts):
                return ("/".join(parts[: parts.index(marker) + 2]),)
        return (parts[0],)

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        name = row.module.partition(".")[0]
        found = [unit for unit in self.tree.units if unit and unit[0].rpartition("/")[2] == name]
        if len(found) == 1:
            yield ResolvedImport(ModuleValue(found[0]), None, (), is_star=True)
        elif not found:
            yield ResolvedImport(Outside(name, ""), None, (), is_star=True)
