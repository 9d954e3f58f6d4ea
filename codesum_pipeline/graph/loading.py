"""What parsers wrote down for the graph: one row per file, read only when somebody looks at the file."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from codesum_pipeline.graph.declared.definitions import DeclaredFile, load_declared
from codesum_pipeline.graph.facts import FileScopes, ScopeFacts, load_file
from codesum_pipeline.languages.python.references.scopes import ScopeKind
from codesum_pipeline.model.guard import FailureGuard
from codesum_pipeline.parsing.parsed import NO_REFERENCES
from codesum_pipeline.parsing.project_files import is_project_file, project_text

Row = Mapping[str, Any]
File = TypeVar("File")


class LazyFiles(Mapping[str, File], Generic[File]):
    """Files by path, in the order of paths; each is read once, and is empty where it cannot be."""

    def __init__(
        self, rows: Mapping[str, Row], read: Callable[[Row], File], empty: Callable[[Row], File], guard: FailureGuard
    ) -> None:
        self.rows = dict(sorted(rows.items()))
        self._read = read
        self._empty = empty
        self._guard = guard
        self._files: dict[str, File] = {}
        self._offers: dict[str, frozenset[str] | None] = {}

    def exports(self, path: str) -> frozenset[str] | None:
        """What a file says that it offers to others, which can be told without reading the file; None if nothing."""
        if path not in self._offers:
            offered = self.rows[path]["exports"]
            self._offers[path] = None if offered is None else frozenset(offered)
        return self._offers[path]

    def __getitem__(self, path: str) -> File:
        file = self._files.get(path)
        if file is None:
            with self._guard.item(path):
                file = self._read(self.rows[path])
            file = self._files[path] = self._empty(self.rows[path]) if file is None else file
        return file

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, path: object) -> bool:
        return path in self.rows

    def only(self, paths: Collection[str]) -> Self:
        """Those of these paths."""
        rows = {path: row for path, row in self.rows.items() if path in paths}
        return type(self)(rows, self._read, self._empty, self._guard)


@dataclass(frozen=True, slots=True)
class LoadedFiles:
    """What parsers have read for the graph, by path: Python's files, those of declared languages, project files.

    `guard` keeps those that cannot be read.
    """

    python: LazyFiles[FileScopes]
    declared: LazyFiles[DeclaredFile]
    projects: Mapping[str, str]
    guard: FailureGuard


def load_files(facts: Sequence[Row]) -> LoadedFiles:
    """The files that say something to the graph; the others have no references."""
    python, declared, projects = {}, {}, {}
    guard = FailureGuard()
    for row in facts:
        path, references = row["file_path"], row["references"]
        if references == NO_REFERENCES:
            continue
        if row["language"] == "python":
            python[path] = row
        elif is_project_file(path):
            with guard.item(path):
                projects[path] = project_text(references)
        else:
            declared[path] = row
    return LoadedFiles(
        LazyFiles(python, _python_file, _empty_python_file, guard),
        LazyFiles(declared, _declared_file, _empty_declared_file, guard),
        projects,
        guard,
    )


def _python_file(row: Row) -> FileScopes:
    return load_file(row["file_path"], row["references"], row["exports"])


def _empty_python_file(row: Row) -> FileScopes:
    file = FileScopes(row["file_path"], None, [], [], [], [])
    file.scopes.append(ScopeFacts(file, 0, ScopeKind.MODULE, None, None, file.path, {}))
    return file


def _empty_declared_file(row: Row) -> DeclaredFile:
    return DeclaredFile(row["file_path"], row["language"], None, (), [], [], [], {}, {})


def _declared_file(row: Row) -> DeclaredFile:
    return load_declared(row["file_path"], row["references"])
