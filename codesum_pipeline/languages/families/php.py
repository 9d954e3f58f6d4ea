"""PHP: namespaces; what a namespace does not have is looked for outside of all."""

from collections.abc import Iterable, Iterator, Sequence

from codesum_pipeline.languages.projects import Projects, folders_above, join, table, texts
from codesum_pipeline.languages.rules import Member, Outside, ResolvedImport, Rules
from codesum_pipeline.model.expressions import ROOT
from codesum_pipeline.model.scopes import ImportRow, Key, Scope, ScopedFile
from codesum_pipeline.model.values import UNKNOWN, ExternalValue, ModuleValue, Reason, Value


class PhpRules(Rules):
    """A name is imported by `use`, or of the namespace."""

    languages = frozenset({"php"})
    library = "php"
    separator = "\\"
    own_words = frozenset({"$this", "this"})
    class_words = frozenset({"self", "static"})
    super_words = frozenset({"parent"})
    constructors = ("__construct",)

    def __init__(self, projects: Projects) -> None:
        super().__init__(projects)
        # By folder of a `composer.json`: prefixes of namespaces, and the folders of their classes.
        self._autoload: dict[str, list[tuple[str, str]]] = {}
        for path in projects.named("composer.json"):
            folder, content = path.rpartition("/")[0], projects.json(path)
            self._autoload[folder] = [
                (prefix.strip("\\"), whole)
                for part in ("autoload", "autoload-dev")
                for prefix, said in table(content, part, "psr-4").items()
                for inner in ([said] if isinstance(said, str) else texts(said))
                if (whole := join(folder, inner)) is not None
            ]

    def _picked(self, file: ScopedFile | None, found: Sequence[Scope], why: Reason) -> Value:
        """Of several classes of one name, the one in the file that Composer would load."""
        if len(found) > 1 and not any(entry.file is file for entry in found):
            found = [entry for entry in found if self._is_loaded(entry)] or found
        return super()._picked(file, found, why)

    def _is_loaded(self, entry: Scope) -> bool:
        folder = next((above for above in folders_above(entry.file.folder) if above in self._autoload), None)
        return folder is not None and any(
            entry.file.path == "/".join([*filter(None, [target]), *entry.key[len(_parts(prefix)) :]]) + ".php"
            for prefix, target in self._autoload[folder]
            if entry.key[: len(_parts(prefix))] == _parts(prefix)
        )

    def unit(self, file: ScopedFile) -> Key:
        return _parts(file.package or "")

    def spaces_of(self, file: ScopedFile) -> Iterable[Key]:
        return (file.unit, ())

    def whole_name(self, names: Sequence[str]) -> Value:
        """A name that begins with `\\` is no namespace's."""
        return ExternalValue(self.separator.join(names[1:])) if names[0] == ROOT else UNKNOWN

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        if "/" in row.module or row.module.endswith(".php"):
            path = join(file.folder, row.module.lstrip("/"))
            if path in self.projects.paths:
                yield ResolvedImport(None, None, (path,))
            return
        whole = "\\".join(part for part in (row.module, row.name) if part)
        parts = _parts(whole)
        if not parts:
            return
        name = row.alias or parts[-1]
        found = {entry.file.path for entry in self.tree.entries.get(parts, ())}
        if found:
            yield ResolvedImport(Member(parts[:-1], parts[-1]), name, tuple(found) if len(found) == 1 else ())
        elif parts in self.tree.spaces:
            yield ResolvedImport(ModuleValue(parts), name)
        elif parts[:1] not in self.tree.spaces:
            yield ResolvedImport(Outside(parts[0], "\\".join(parts[1:])), name)


def _parts(namespace: str) -> Key:
    return tuple(part for part in namespace.split("\\") if part)
