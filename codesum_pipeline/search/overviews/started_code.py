"""The definitions and files at which commands, routes and programs start.

Manifests, main functions and scripts name some of them (`find_entry_points`), the code itself the others. Each has
the id of its document, so that a reader can follow the graph from there.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.edge import Alias, AliasKind
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.foundation.store.rows import from_table
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.search.overviews.overview_inputs import RepositoryView
from codesum_pipeline.search.overviews.package_manifests.manifest import EntryKind, EntryPoint

# Further ones are left out.
MOST_STARTED = 5_000
_LONGEST_NAME = 80
_KINDS = {
    EntryKind.COMMAND: "command",
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
    return sorted({*_of_entries(view, entries), *_of_aliases(ws, view)})


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
    return next((id_ for id_ in ids if id_ in view.documents), None)


def _at(view: RepositoryView, path: str, line: int) -> str | None:
    """The definition that begins on a line, else the file."""
    inside = view.documents.defined_in(path) if line > 1 else ()
    at = (each.id for each in inside if each.line == line)
    return next(at, path if path in view.documents else None)


def _of_aliases(ws: Workspace, view: RepositoryView) -> Iterator[StartedCode]:
    """The routes and commands that the code of own programs declares."""
    sources = {*view.sources}
    aliases = ws.tables.read_or_empty("aliases", ws.key)
    wanted = pa.array([str(kind) for kind in (AliasKind.COMMAND, AliasKind.ROUTE)])
    for alias in from_table(aliases.filter(pc.is_in(aliases["kind"], value_set=wanted)), Alias):
        if alias.file_path in sources and alias.target in view.documents:
            yield StartedCode(alias.target, str(alias.kind), _shown(alias.name))


def _shown(name: str) -> str:
    return shorten_text(one_line(name), most=_LONGEST_NAME)


def start_names_of(started: Sequence[StartedCode]) -> dict[str, tuple[str, ...]]:
    """The names by document, in order; of very many, the first."""
    names: dict[str, list[str]] = defaultdict(list)
    for each in started[:MOST_STARTED]:
        names[each.id].append(f"{each.kind} {each.name}")
    return {id_: tuple(some) for id_, some in names.items()}
