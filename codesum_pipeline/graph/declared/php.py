"""PHP: namespaces; what a namespace does not have is looked for outside of all."""

from collections.abc import Iterable, Iterator

from codesum_pipeline.graph.declared.definitions import DeclaredFile, ImportRow, Key
from codesum_pipeline.graph.declared.projects import join
from codesum_pipeline.graph.declared.rules import Member, Outside, Resolved, Rules
from codesum_pipeline.graph.declared.values import Space


class PhpRules(Rules):
    """A name is imported by `use`, or of the namespace."""

    languages = frozenset({"php"})
    separator = "\\"
    own_words = frozenset({"$this", "this"})
    class_words = frozenset({"self", "static"})
    super_words = frozenset({"parent"})
    constructors = ("__construct",)

    def unit(self, file: DeclaredFile) -> Key:
        return tuple(part for part in (file.package or "").split("\\") if part)

    def spaces_of(self, file: DeclaredFile) -> Iterable[Key]:
        return (file.unit, ())

    def resolve_import(self, file: DeclaredFile, row: ImportRow) -> Iterator[Resolved]:
        if "/" in row.module or row.module.endswith(".php"):
            path = join(file.folder, row.module.lstrip("/"))
            if path in self.projects.paths:
                yield Resolved(None, None, (path,))
            return
        whole = "\\".join(part for part in (row.module, row.name) if part)
        parts = tuple(part for part in whole.split("\\") if part)
        if not parts:
            return
        name = row.alias or parts[-1]
        found = {entry.file.path for entry in self.tree.entries.get(parts, ())}
        if found:
            yield Resolved(Member(parts[:-1], parts[-1]), name, tuple(found) if len(found) == 1 else ())
        elif parts in self.tree.spaces:
            yield Resolved(Space(parts), name)
        elif parts[:1] not in self.tree.spaces:
            yield Resolved(Outside(parts[0], "\\".join(parts[1:])), name)
