"""Languages whose files may look at each other: Python by itself, and each family of declared languages."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

from codesum_pipeline.graph.declared import interfaces as declared_interfaces
from codesum_pipeline.graph.declared.definitions import DeclaredFile
from codesum_pipeline.graph.declared.edges import FAMILIES, Family
from codesum_pipeline.graph.declared.projects import Projects
from codesum_pipeline.graph.declared.rules import Rules
from codesum_pipeline.graph.edge_table import EdgeTable
from codesum_pipeline.graph.edges import edges_of_file
from codesum_pipeline.graph.facts import FileScopes
from codesum_pipeline.graph.interfaces import interface_of
from codesum_pipeline.graph.loading import LazyFiles, LoadedFiles, Row
from codesum_pipeline.graph.module_paths import ModulePaths
from codesum_pipeline.graph.resolver import Resolver
from codesum_pipeline.graph.unique_names import Telling, UniqueNames, telling_names
from codesum_pipeline.model.files import FilePlace, FileStatus, SourceFile


class LanguageFamily(Protocol):
    """The files of one family of a repository.

    A file's edges follow from its row, the interfaces of all files of the
    family, and what is around them.
    """

    @property
    def name(self) -> str: ...

    @property
    def rows(self) -> Mapping[str, Row]:
        """What parsers wrote down, in the order of paths."""
        ...

    def interface(self, path: str) -> str:
        """The hash of what other files may see of one."""
        ...

    def surroundings(self) -> Any:
        """What besides its files decides how the family's names are found, as JSON can hold it."""
        ...

    def telling_names(self, path: str) -> dict[str, int]:
        """The names of a file by which a method of it may be known, where the family's files look for such."""
        ...

    def resolve(self, paths: Iterable[str], telling: Mapping[str, Telling]) -> Iterator[EdgeTable]:
        """The edges that start in each file; the order does not matter. `telling` holds the telling names of all."""
        ...


class PythonFamily:
    """Python's files; only those that others lead to are read."""

    name = "python"

    def __init__(self, files: LazyFiles[FileScopes], places: Sequence[SourceFile | FilePlace], *, root: str) -> None:
        self._files = files
        self._paths = ModulePaths(places, files, root=root)

    @property
    def rows(self) -> Mapping[str, Row]:
        return self._files.rows

    def interface(self, path: str) -> str:
        row = self.rows[path]
        return interface_of(row["references"], row["exports"])

    def surroundings(self) -> Any:
        return self._paths.signature()

    def telling_names(self, path: str) -> dict[str, int]:
        return telling_names(self._files[path])

    def resolve(self, paths: Iterable[str], telling: Mapping[str, Telling]) -> Iterator[EdgeTable]:
        resolver, unique_names = Resolver(self._files, self._paths), UniqueNames(self._files, telling)
        return (edges_of_file(resolver, unique_names, self._files[path]) for path in paths)


class DeclaredFamily:
    """The files of a family of declared languages; all are read as soon as one is to be resolved."""

    def __init__(self, rules: type[Rules], files: LazyFiles[DeclaredFile], projects: Projects) -> None:
        self.name = ", ".join(sorted(rules.languages))
        self._rules = rules
        self._files = files
        self._projects = projects

    @property
    def rows(self) -> Mapping[str, Row]:
        return self._files.rows

    def interface(self, path: str) -> str:
        return declared_interfaces.interface_of(self.rows[path]["references"])

    def surroundings(self) -> Any:
        return [sorted(self._projects.paths), dict(self._projects.texts)]

    @cached_property
    def _family(self) -> Family:
        return Family(self._rules(self._projects), self._files)

    def telling_names(self, path: str) -> dict[str, int]:
        return {}

    def resolve(self, paths: Iterable[str], telling: Mapping[str, Telling]) -> Iterator[EdgeTable]:
        return (self._family.edges(path) for path in paths)


def families_of(
    loaded: LoadedFiles, places: Sequence[SourceFile | FilePlace], indexed: Collection[str], *, root: str
) -> list[LanguageFamily]:
    """The families that a repository has indexed files of."""
    found: list[LanguageFamily] = []
    python, declared = loaded.python.only(indexed), loaded.declared.only(indexed)
    projects = Projects(indexed, {path: text for path, text in loaded.projects.items() if path in indexed})
    if python:
        found.append(PythonFamily(python, places, root=root))
    for rules in FAMILIES:
        own = declared.only([path for path, row in declared.rows.items() if row["language"] in rules.languages])
        if own:
            found.append(DeclaredFamily(rules, own, projects))
    return found


def indexed_paths(places: Iterable[SourceFile | FilePlace]) -> set[str]:
    """The files that are documents."""
    return {place.path for place in places if place.status is FileStatus.INDEXED}
