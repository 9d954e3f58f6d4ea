"""The definitions and files at which commands, routes and programs start.

Manifests, main functions and scripts name some of them (`find_entry_points`), marks on definitions the others. Each has
the id of its document, so that a reader can follow the graph from there.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.search.overviews.overview_inputs import RepositoryView
from codesum_pipeline.search.overviews.package_manifests.manifest import EntryKind, EntryPoint
from codesum_pipeline.search.overviews.start_marks import (
    StartMark,
    command_of,
    marks_by_language,
    marks_of,
    routes_of,
)

# Further ones are left out.
MOST_STARTED = 5_000
_LONGEST_NAME = 80
_COMMAND, _ROUTE = "command", "route"
_KINDS = {
    EntryKind.COMMAND: _COMMAND,
    EntryKind.MAIN: "program",
    EntryKind.SCRIPT: "script",
    EntryKind.APPLICATION: "application",
}


class StartedCode(Struct, frozen=True, order=True):
    """A document's id, and how what starts there is called."""

    id: str
    kind: str
    name: str


def find_started_code(ws: Workspace, view: RepositoryView, entries: Sequence[EntryPoint]) -> list[StartedCode]:
    """All that is known of the own programs, without tests and examples, in the order of the ids."""
    found = {*_of_entries(view, entries)}
    for language, marks in _marked(ws, view):
        found.update(_of_marks(language, marks))
    return sorted(found)


def _of_entries(view: RepositoryView, entries: Sequence[EntryPoint]) -> Iterator[StartedCode]:
    for entry in entries:
        kind, id_ = _KINDS.get(entry.kind), document_of(view, entry)
        if kind and id_:
            yield StartedCode(id_, kind, _shown(entry.name))


def document_of(view: RepositoryView, entry: EntryPoint) -> str | None:
    """The document that an entry point leads to: its target, else what stands at its place; None where unknown."""
    if entry.target is None:
        return _at(view, entry.path, entry.line)
    module, is_function, name = entry.target.partition(":")
    if is_function:
        path = "/".join(module.split("."))
        files = [file for file in view.sources if f"/{file}".endswith((f"/{path}.py", f"/{path}/__init__.py"))]
        ids = [f"{file}{SEPARATOR}{name.replace('.', SEPARATOR)}" for file in files]
    else:
        folder = PurePosixPath(entry.path).parent
        files = [str(folder / module.removeprefix("./"))]
        ids = [f"{file}{SEPARATOR}main" for file in files] + files
    return next((id_ for id_ in ids if id_ in view.places), None)


def _at(view: RepositoryView, path: str, line: int) -> str | None:
    """The definition that begins on a line, else the file."""
    at = (each.id for each in view.definitions.get(path, ()) if each.line == line and line > 1)
    return next(at, path if path in view.places else None)


class _MarkedDefinition(Struct, frozen=True):
    id: str
    name: str
    marks: Sequence[StartMark]
    around: Sequence[StartMark]


def _of_marks(language: str, found: _MarkedDefinition) -> Iterator[StartedCode]:
    if command := command_of(language, found.name, found.marks):
        yield StartedCode(found.id, _COMMAND, _shown(command))
    for route in routes_of(language, found.marks, found.around):
        yield StartedCode(found.id, _ROUTE, _shown(route))


def _marked(ws: Workspace, view: RepositoryView) -> Iterator[tuple[str, _MarkedDefinition]]:
    """The definitions that have one of the known marks, with their languages."""
    sources = {*view.sources}
    for language, known in marks_by_language().items():
        if language not in view.languages:
            continue
        rows = [row for row in _rows(ws, language, known.pattern) if row["file_path"] in sources]
        rows = [row for row in rows if row["id"] in view.places]
        around = _marks_of_classes(ws, {row["parent_id"] for row in rows if row["parent_id"]})
        for row in rows:
            is_route = row["type"] == "function"
            marks = [mark for mark in marks_of(row["canonical_source"]) if is_route or mark.name in known.commands]
            if marks:
                yield language, _MarkedDefinition(row["id"], row["name"], marks, around.get(row["parent_id"], ()))


_COLUMNS = ["id", "type", "name", "file_path", "parent_id", "language", "canonical_source"]


def _rows(ws: Workspace, language: str, pattern: str) -> Iterator[dict[str, str]]:
    for part in ws.tables.read_parts("symbols", ws.key, columns=_COLUMNS):
        ours = part.filter(pc.equal(part.column("language"), language))
        yield from ours.filter(pc.match_substring_regex(ours.column("canonical_source"), pattern)).to_pylist()


def _marks_of_classes(ws: Workspace, ids: set[str]) -> Mapping[str, Sequence[StartMark]]:
    wanted, found = pa.array(sorted(ids), pa.string()), {}
    for part in ws.tables.read_parts("symbols", ws.key, columns=["id", "canonical_source"]) if ids else ():
        for row in part.filter(pc.is_in(part.column("id"), value_set=wanted)).to_pylist():
            found[row["id"]] = marks_of(row["canonical_source"])
    return found


def _shown(name: str) -> str:
    return shorten_text(one_line(name), most=_LONGEST_NAME)


def start_names_of(started: Sequence[StartedCode]) -> dict[str, tuple[str, ...]]:
    """The names by document, in order; of very many, the first."""
    names: dict[str, list[str]] = defaultdict(list)
    for each in started[:MOST_STARTED]:
        names[each.id].append(f"{each.kind} {each.name}")
    return {id_: tuple(some) for id_, some in names.items()}
