"""Languages whose files may look at each other: Python by itself, and each family of declared languages."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Protocol

from codesum_pipeline.graph import declared
from codesum_pipeline.graph.declared.resolver import DeclaredResolver
from codesum_pipeline.graph.declared.rules import Rules
from codesum_pipeline.graph.edges import EdgeTable, edges_of_file
from codesum_pipeline.graph.interfaces import interface_of
from codesum_pipeline.graph.loading import LazyFiles, LoadedFiles, Row
from codesum_pipeline.graph.python.resolver import PythonResolver, Telling, telling_names
from codesum_pipeline.graph.scopes import ScopedFile
from codesum_pipeline.languages.projects import Projects
from codesum_pipeline.languages.python.module_paths import ModulePaths
from codesum_pipeline.model.files import FilePlace, FileStatus, SourceFile
from codesum_pipeline.model.guard import FailureGuard


@cache
def rules_of_families() -> tuple[type[Rules], ...]:
    """The rules of each family of declared languages, found by looking through their package."""
    for found in iter_modules(declared.__path__, f"{declared.__name__}."):
        import_module(found.name)
    return tuple(sorted(Rules.__subclasses__(), key=lambda rules: rules.__name__))


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

    def resolver(self, telling: Mapping[str, Telling]) -> Callable[[str], EdgeTable]:
        """What gives the edges that start in a file; the order does not matter, nor whether it failed on others.

        `telling` holds the telling names of all.
        """
        ...


class PythonFamily:
    """Python's files; only those that others lead to are read."""

    name = "python"

    def __init__(self, files: LazyFiles, places: Sequence[SourceFile | FilePlace], *, root: str) -> None:
        self._files = files
        self._places = places
        self._root = root

    @cached_property
    def _paths(self) -> ModulePaths:
        return ModulePaths(self._places, self._files, root=self._root)

    @property
    def rows(self) -> Mapping[str, Row]:
        return self._files.rows

    def interface(self, path: str) -> str:
        return interface_of(self._files[path])

    def surroundings(self) -> Any:
        return self._paths.signature()

    def telling_names(self, path: str) -> dict[str, int]:
        return telling_names(self._files[path])

    def resolver(self, telling: Mapping[str, Telling]) -> Callable[[str], EdgeTable]:
        resolver = PythonResolver(self._files, self._paths, telling)
        return lambda path: edges_of_file(resolver, self._files[path])


class DeclaredFamily:
    """The files of a family of declared languages; all are read as soon as one is to be resolved.

    A file that the family cannot take in is a failure of that file, and none of the family's.
    """

    def __init__(self, rules: type[Rules], files: LazyFiles, projects: Projects, guard: FailureGuard) -> None:
        self.name = _name(rules)
        self._rules = rules
        self._files = files
        self._projects = projects
        self._guard = guard

    @property
    def rows(self) -> Mapping[str, Row]:
        return self._files.rows

    def interface(self, path: str) -> str:
        return interface_of(self._files[path], gives_variables=self._rules.has_modules)

    def surroundings(self) -> Any:
        return [sorted(self._projects.paths), dict(self._projects.texts)]

    def telling_names(self, path: str) -> dict[str, int]:
        return {}

    def resolver(self, telling: Mapping[str, Telling]) -> Callable[[str], EdgeTable]:
        resolver, files = self._resolver, self._resolver.tree.files
        return lambda path: edges_of_file(resolver, files[path]) if path in files else EdgeTable()

    @cached_property
    def _resolver(self) -> DeclaredResolver:
        files: Mapping[str, ScopedFile] = self._files
        while True:
            guard = FailureGuard()
            resolver = DeclaredResolver(self._project_rules(), files, guard)
            self._guard.add(guard.failures)
            if not guard.failed:
                return resolver
            files = {path: files[path] for path in files if path not in guard.failed}

    def _project_rules(self) -> Rules:
        """The rules of the repository's project files; where these cannot be read, as if there were none."""
        with self._guard.item(f"project files of {self.name}"):
            return self._rules(self._projects)
        return self._rules(Projects(self._projects.paths, {}))


def families_of(
    loaded: LoadedFiles, places: Sequence[SourceFile | FilePlace], indexed: Collection[str], *, root: str
) -> list[LanguageFamily]:
    """The families that a repository has indexed files of."""
    found: list[LanguageFamily] = []
    python, declared = loaded.python.only(indexed), loaded.declared.only(indexed)
    projects = Projects(indexed, {path: text for path, text in loaded.projects.items() if path in indexed})
    if python:
        found.append(PythonFamily(python, places, root=root))
    for rules in rules_of_families():
        own = declared.only([path for path, row in declared.rows.items() if row["language"] in rules.languages])
        if own:
            found.append(DeclaredFamily(rules, own, projects, loaded.guard))
    return found


def family_of(language: str) -> str:
    """The name of a language's family; a language that no other belongs to is one by itself."""
    return next((_name(rules) for rules in rules_of_families() if language in rules.languages), language)


def _name(rules: type[Rules]) -> str:
    return ", ".join(sorted(rules.languages))


def indexed_paths(places: Iterable[SourceFile | FilePlace]) -> set[str]:
    """The files that are documents."""
    return {place.path for place in places if place.status is FileStatus.INDEXED}
