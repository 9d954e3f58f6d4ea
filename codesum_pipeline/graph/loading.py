"""What parsers wrote down for the graph: one row per file, read only when somebody looks at the file."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Self

from msgspec import Struct, convert

from codesum_pipeline.graph.scopes import ScopedFile, empty_file, load_declared, load_python
from codesum_pipeline.languages.profiles import is_project_file
from codesum_pipeline.model.guard import FailureGuard
from codesum_pipeline.model.symbols import Reexport
from codesum_pipeline.parsing.text import NO_REFERENCES, project_text

Row = Mapping[str, Any]


class LazyFiles(Mapping[str, ScopedFile]):
    """Files by path, in the order of paths; each is read once, and is empty where it cannot be."""

    def __init__(self, rows: Mapping[str, Row], read: Callable[[Row], ScopedFile], guard: FailureGuard) -> None:
        self.rows = dict(sorted(rows.items()))
        self._read = read
        self._guard = guard
        self._files: dict[str, ScopedFile] = {}
        self._offers: dict[str, frozenset[str] | None] = {}

    def exports(self, path: str) -> frozenset[str] | None:
        """What a file says that it offers to others, which can be told without reading the file; None if nothing."""
        if path not in self._offers:
            offered = self.rows[path]["exports"]
            self._offers[path] = None if offered is None else frozenset(offered)
        return self._offers[path]

    def __getitem__(self, path: str) -> ScopedFile:
        file = self._files.get(path)
        if file is None:
            row = self.rows[path]
            with self._guard.item(path):
                file = self._read(row)
                file.reexports = convert(row["reexports"] or (), list[Reexport])
            file = self._files[path] = file or empty_file(path, row["language"])
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
        return type(self)(rows, self._read, self._guard)


class LoadedFiles(Struct, frozen=True):
    """What parsers have read for the graph, by path: Python's files, those of declared languages, project files.

    `guard` keeps those that cannot be read.
    """

    python: LazyFiles
    declared: LazyFiles
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
        LazyFiles(python, _python_file, guard), LazyFiles(declared, _declared_file, guard), projects, guard
    )


def _python_file(row: Row) -> ScopedFile:
    return load_python(row["file_path"], row["references"], row["exports"])


def _declared_file(row: Row) -> ScopedFile:
    return load_declared(row["file_path"], row["references"])
