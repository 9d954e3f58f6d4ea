"""C#: namespaces, which a file sees with all those around its own."""

from collections.abc import Iterable, Iterator

from codesum_pipeline.languages.rules import Member, Outside, ResolvedImport, Rules
from codesum_pipeline.model.scopes import ImportRow, Key, Scope, ScopedFile
from codesum_pipeline.model.values import UNKNOWN, ExternalValue, ModuleValue, Value


class CSharpRules(Rules):
    """A class may be partial: its members are those of all its files."""

    languages = frozenset({"c-sharp"})
    library = "c-sharp"
    sees_members = True
    has_overloads = True
    is_merged = True
    super_words = frozenset({"base"})
    transparent = frozenset({"Task", "ValueTask", "Lazy", "Nullable"})

    def unit(self, file: ScopedFile) -> Key:
        return tuple(file.package.split(".")) if file.package else ()

    def spaces_of(self, file: ScopedFile) -> Iterable[Key]:
        return [file.unit[:size] for size in range(len(file.unit), -1, -1)]

    def root(self, scope: Scope, name: str) -> Value:
        """A whole name begins with a namespace of the platform."""
        return ExternalValue(name) if name in ("System", "Microsoft") and (name,) not in self.tree.spaces else UNKNOWN

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        parts = tuple(row.module.removeprefix("global::").split("."))
        if row.name not in (None, "*"):
            parts = (*parts, row.name or "")
        is_star = row.name == "*"
        name = None if is_star else row.alias or parts[-1]
        if parts in self.tree.entries and not is_star:
            yield ResolvedImport(Member(parts[:-1], parts[-1]), name)
        elif parts in self.tree.spaces or parts in self.tree.entries:
            yield ResolvedImport(ModuleValue(parts), name, (), is_star)
        elif parts[:1] not in self.tree.spaces:
            yield ResolvedImport(Outside(".".join(parts), ""), name, (), is_star)
