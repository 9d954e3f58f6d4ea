"""Ruby: constants in one tree that all files share; classes and modules may be reopened."""

from collections.abc import Iterator

from codesum_pipeline.languages.projects import join
from codesum_pipeline.languages.rules import Outside, ResolvedImport, Rules
from codesum_pipeline.model.scopes import ImportRow, Key, ScopedFile


class RubyRules(Rules):
    """A plain name is a method of the object or of its class; a constant is one of the scopes around or of the top."""

    languages = frozenset({"ruby"})
    library = "ruby"
    sees_members = True
    is_merged = True
    separator = "::"
    own_words = frozenset({"self"})
    constructors = ("initialize",)

    def unit(self, file: ScopedFile) -> Key:
        return ()

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        name = row.module if row.module.endswith(".rb") else f"{row.module}.rb"
        near = join(file.folder, name) if row.level or row.module.startswith(".") else None
        found = [near] if near is not None and near in self.projects.paths else self._on_load_path(name)
        if len(found) == 1:
            yield ResolvedImport(None, None, (found[0],))
        elif not found and not row.level and not row.module.startswith("."):
            yield ResolvedImport(Outside(row.module.partition("/")[0], ""))

    def _on_load_path(self, name: str) -> list[str]:
        found = self.projects.ending(name.removeprefix("./"))
        return [path for path in found if f"/{path}".endswith((f"/lib/{name}", f"/app/{name}"))] or [
            path for path in found if path == name
        ]
