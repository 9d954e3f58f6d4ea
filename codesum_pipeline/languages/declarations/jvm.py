"""Java, Kotlin and Scala: one tree of packages, in which each may name what the others define."""

from collections.abc import Iterator

from codesum_pipeline.foundation.data_model.ids import without_suffix
from codesum_pipeline.foundation.data_model.possible_values import UNKNOWN, ExternalValue, ModuleValue, Value
from codesum_pipeline.foundation.data_model.scopes import ImportRow, Key, Scope, ScopedFile, UseExpression
from codesum_pipeline.languages.declarations.rules import Member, Outside, ResolvedImport, Rules

_STANDARD = frozenset({"java", "javax", "kotlin", "kotlinx", "scala"})


class JvmRules(Rules):
    """A name is looked up among members, then in the file, its imports, its package, and packages imported whole."""

    languages = frozenset({"java", "kotlin", "scala"})
    names_files = False
    library = "java"
    sees_members = True
    has_overloads = True
    has_companions = True
    constructors = ("constructor", "<init>", "this")

    def unit_of(self, file: ScopedFile) -> Key:
        return tuple(file.package.split(".")) if file.package else ()

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        parts = tuple(row.module.split("."))
        name = row.name
        if name is None and len(parts) > 1:
            parts, name = parts[:-1], parts[-1]
        if name in ("*", "_", None):
            yield from self._whole(parts)
            return
        target_key = (*parts, name)
        files = self.files_of(target_key) or self.files_of(parts)
        if files or target_key in self.tree.spaces or self._is_own(parts):
            is_space = target_key not in self.tree.entries and target_key in self.tree.spaces
            target = ModuleValue(target_key) if is_space else Member(parts, name)
            yield ResolvedImport(target, row.alias or name, files)
        else:
            yield ResolvedImport(_outside(target_key), row.alias or name)

    def value_of_root(self, scope: Scope, name: str) -> Value:
        """A whole name begins with a package."""
        if name in _STANDARD:
            return ExternalValue(name)
        return ModuleValue((name,)) if (name,) in self.tree.spaces and (name,) not in self.tree.entries else UNKNOWN

    def meant_by(self, scope: Scope, use: UseExpression, found: Scope) -> Scope | None:
        """As a value, Scala's object beside a class is meant; Kotlin's private names are those of their file."""
        if found.file.language == "kotlin":
            return found if found.file is scope.file or "private" not in found.modifiers else None
        entries = self.tree.entries.get(found.key, ()) if found.is_class and found.file.language == "scala" else ()
        of_name = [one for one in entries if one.file is found.file]
        objects = [one for one in of_name if one.id is not None and one.id != without_suffix(one.id)]
        # Of a class and the object beside it, the object has a suffix.
        is_pair = len(of_name) == 2 and len(objects) == 1
        return objects[0] if is_pair and use.may_be_function else found

    def _whole(self, parts: Key) -> Iterator[ResolvedImport]:
        if parts in self.tree.spaces or parts in self.tree.entries:
            yield ResolvedImport(ModuleValue(parts), None, self.files_of(parts), is_star=True)
        elif not self._is_own(parts):
            yield ResolvedImport(_outside(parts), None, (), is_star=True)

    def _is_own(self, parts: Key) -> bool:
        """Whether a package is the repository's, if only by one above it that has files."""
        return any(parts[:size] in self.tree.units for size in range(2, len(parts) + 1))


def _outside(key: Key) -> Outside:
    """A package, which is what comes before the first name of a class, and what is in it."""
    size = next((number for number, part in enumerate(key) if part[:1].isupper()), len(key)) or 1
    return Outside(".".join(key[:size]), ".".join(key[size:]))
