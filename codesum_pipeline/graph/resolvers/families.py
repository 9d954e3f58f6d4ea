"""Languages whose files may look at each other: Python by itself, and each family of declared languages."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from msgspec import Struct

from codesum_pipeline.foundation.data_model.file import FilePlace, FileStatus, SourceFile
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.foundation.data_model.scopes import LazyFiles, Row, ScopedFile
from codesum_pipeline.foundation.language_facts.file_languages import is_notebook
from codesum_pipeline.foundation.language_facts.language_profiles import is_project_file
from codesum_pipeline.foundation.store.memory import no_collection
from codesum_pipeline.graph.resolvers.cells import NO_ANSWERS, Answers, answers_of_file, owner_of
from codesum_pipeline.graph.resolvers.file_edges import EdgeTable, edges_of_file
from codesum_pipeline.graph.resolvers.late_facts import hash_of_references, says_nothing
from codesum_pipeline.graph.resolvers.lookup_table import LookupTable
from codesum_pipeline.graph.resolvers.python.python_lookups import Telling, answers_of_methods, answers_of_modules
from codesum_pipeline.graph.resolvers.python.python_resolver import PythonResolver, telling_names
from codesum_pipeline.graph.resolvers.rule_based_languages.declared_resolver import DeclaredResolver
from codesum_pipeline.languages.declarations.language_registry import rules_of_families
from codesum_pipeline.languages.declarations.projects import Projects
from codesum_pipeline.languages.declarations.python.module_paths import ModulePaths
from codesum_pipeline.languages.declarations.rules import Rules
from codesum_pipeline.languages.outlines.outline_rules import rules_of_outlines
from codesum_pipeline.symbols.parsing.text import project_text


class LoadedFiles(Struct, frozen=True):
    """What parsers have read for the graph, by path: Python's files, those of declared languages, project files.

    `guard` keeps those that cannot be read.
    """

    python: LazyFiles
    declared: LazyFiles
    projects: Mapping[str, Row]
    guard: FailureGuard


def load_files(facts: Sequence[Row]) -> LoadedFiles:
    """Load the files that have references; the others say nothing to the graph."""
    python, declared, projects = {}, {}, {}
    guard = FailureGuard()
    for row in facts:
        path = row["file_path"]
        if says_nothing(row):
            continue
        if row["language"] == "python":
            python[path] = row
        elif is_project_file(path):
            projects[path] = row
        else:
            declared[path] = row
    return LoadedFiles(LazyFiles(python, guard), LazyFiles(declared, guard), projects, guard)


class FamilyChanges(Struct, frozen=True):
    """What differs from the last build: files that are changed, new or gone, by path with what they answer now; and, if
    `is_elsewhere`, the surroundings of the family.

    `same` are the other files of the family, `lookups` what they asked for. `telling` has the names that identify a
    method, of all files, `last_telling` those that the files that differ had.
    """

    same: Collection[str]
    lookups: LookupTable
    answers: Mapping[str, Answers]
    telling: Mapping[str, Telling]
    last_telling: Mapping[str, Telling]
    is_elsewhere: bool


class LanguageFamily(ABC):
    """The files of one family of a repository; a file's edges follow from its row, what the other files let it see, and
    what is around them. `rows` are what parsers wrote down, in the order of paths."""

    def __init__(self, name: str, files: LazyFiles) -> None:
        self.name = name
        self.rows = files.rows
        self._files = files

    def telling_names(self, path: str) -> dict[str, str]:
        """The names of a file by which a method of it may be known, where the family's files look for such."""
        return {}

    def answers(self, path: str) -> Answers:
        """What a file answers to the others, as far as that follows from the file alone."""
        return {}

    def unrecorded(self, changes: FamilyChanges) -> set[str]:
        """The files without a record, if anything changed in the family."""
        is_changed = changes.is_elsewhere or not self.rows.keys().isdisjoint(changes.answers)
        return {path for path in changes.same if path not in changes.lookups.numbers} if is_changed else set()

    @abstractmethod
    def find_outdated(self, changes: FamilyChanges) -> set[str]:
        """The files whose facts are as they were, and whose edges may differ."""

    @abstractmethod
    def surroundings(self) -> Any:
        """What besides its files decides how the family's names are found, as JSON can hold it."""

    @abstractmethod
    def resolver(self, telling: Mapping[str, Telling]) -> Callable[[str], EdgeTable]:
        """A function that gives the edges of a file; neither their order nor another file's failure changes them.

        `telling` maps each file to its names that identify a method.
        """


class _PythonFamily(LanguageFamily):
    """The Python files of a repository. A file is read when it is resolved or when a name of another one leads to
    it."""

    def __init__(self, files: LazyFiles, places: Sequence[SourceFile | FilePlace], *, root: str) -> None:
        super().__init__("python", files)
        # Nothing imports a notebook.
        self._paths = ModulePaths(places, (path for path in files if not is_notebook(path)), root=root)

    def surroundings(self) -> Any:
        return self._paths.signature()

    def telling_names(self, path: str) -> dict[str, str]:
        return telling_names(self._files[path])

    def answers(self, path: str) -> Answers:
        return answers_of_file(self._files[path])

    def find_outdated(self, changes: FamilyChanges) -> set[str]:
        now = {owner_of(path): answers for path, answers in changes.answers.items()}
        now |= answers_of_methods(changes.telling, changes.last_telling)
        if changes.is_elsewhere:
            now |= answers_of_modules(self._paths, changes.lookups.modules)
        return self.unrecorded(changes) | changes.lookups.find_outdated(now)

    def resolver(self, telling: Mapping[str, Telling]) -> Callable[[str], EdgeTable]:
        resolver = PythonResolver(self._files, self._paths, telling)
        return lambda path: edges_of_file(resolver, self._files[path])


class _DeclaredFamily(LanguageFamily):
    """The files of a family of declared languages; all are read as soon as one is to be resolved.

    A file that the family cannot take in is a failure of that file, and none of the family's.
    """

    def __init__(
        self, rules: type[Rules], files: LazyFiles, projects: Projects, hashes: Mapping[str, str], guard: FailureGuard
    ) -> None:
        super().__init__(_name(rules), files)
        self._rules = rules
        self._projects = projects
        self._hashes = hashes
        self._guard = guard

    def find_outdated(self, changes: FamilyChanges) -> set[str]:
        if not changes.is_elsewhere and self.rows.keys().isdisjoint(changes.answers):
            return set()
        told = self._resolver.lookups
        now = told.answers(changes.answers, changes.lookups.keys_of(told.owner))
        gone = {owner_of(path): NO_ANSWERS for path in changes.answers}
        return self.unrecorded(changes) | changes.lookups.find_outdated(gone | now)

    def surroundings(self) -> Any:
        return [sorted(self._projects.paths), self._hashes, [*self.rows]]

    def resolver(self, telling: Mapping[str, Telling]) -> Callable[[str], EdgeTable]:
        resolver, files = self._resolver, self._resolver.files
        return lambda path: edges_of_file(resolver, files[path]) if path in files else EdgeTable()

    @cached_property
    def _resolver(self) -> DeclaredResolver:
        files: Mapping[str, ScopedFile] = self._files
        while True:
            # Project files that cannot be read are as if there were none.
            rules = None
            with self._guard.item(f"project files of {self.name}"):
                rules = self._rules(self._projects)
            guard = FailureGuard()
            with no_collection():
                resolver = DeclaredResolver(
                    rules or self._rules(Projects(self._projects.paths, lambda path: None)), files, guard
                )
            self._guard.add(guard.failures)
            if not guard.failed:
                return resolver
            files = {path: files[path] for path in files if path not in guard.failed}


def _texts_of_projects(rows: Mapping[str, Row], guard: FailureGuard) -> Callable[[str], str | None]:
    """Gives the text of a project file, which is read when it is asked for; None for one that cannot be read."""

    @cache
    def text_at(path: str) -> str | None:
        with guard.item(path):
            return project_text(rows[path]["references"]) if path in rows else None
        return None

    return text_at


def families_of(
    loaded: LoadedFiles, places: Sequence[SourceFile | FilePlace], indexed: Collection[str], *, root: str
) -> list[LanguageFamily]:
    """The families that a repository has indexed files of."""
    found: list[LanguageFamily] = []
    python, declared = loaded.python.only(indexed), loaded.declared.only(indexed)
    # No other language names a Python file by its path: one more of them changes nothing there.
    others = {*indexed} - python.rows.keys()
    rows = {path: row for path, row in loaded.projects.items() if path in indexed}
    hashes = {path: hash_of_references(row) for path, row in rows.items()}
    texts = _texts_of_projects(rows, loaded.guard)
    projects, project_files = Projects(others, texts), Projects(hashes, texts)
    if python:
        found.append(_PythonFamily(python, places, root=root))
    for rules in (*rules_of_families(), *rules_of_outlines()):
        own = declared.only({path for path, row in declared.rows.items() if row["language"] in rules.languages})
        if own:
            seen = projects if rules.names_files else project_files
            found.append(_DeclaredFamily(rules, own, seen, hashes, loaded.guard))
    return found


def family_of(language: str) -> str:
    """The name of the family that a language belongs to; a language without rules is a family by itself."""
    return next((_name(rules) for rules in rules_of_families() if language in rules.languages), language)


def _name(rules: type[Rules]) -> str:
    return ", ".join(sorted(rules.languages))


def indexed_paths(places: Iterable[SourceFile | FilePlace]) -> set[str]:
    """The files that are documents."""
    return {place.path for place in places if place.status is FileStatus.INDEXED}
