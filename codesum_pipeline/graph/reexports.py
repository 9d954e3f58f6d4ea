"""Which definitions a file hands on, however many files stand between.

Every step from a file to the next is an import edge of the first, so nothing is
guessed about modules here: among the files that one imports, the name decides,
and the last part of the module as it is written where several have the name.
What is still ambiguous is left out.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.graph.edges import EdgeTable
from codesum_pipeline.graph.reasons import Reason
from codesum_pipeline.model.graph import Edge, EdgeKind
from codesum_pipeline.model.ids import SEPARATOR, without_suffix
from codesum_pipeline.model.symbols import Reexport
from codesum_pipeline.store.tables import TableStore

ALL = "*"
# How many files a name is followed through, and how many names `*` may stand for in one file.
MAX_STEPS = 8
MAX_NAMES = 500

_SEPARATORS = re.compile(r"::|[./\\]")
# What leads to a module and is no name of it.
_WAYS = frozenset({"crate", "self", "super"})
# Files that stand for the folder that they are in.
ENTRY_STEMS = frozenset({"__init__", "index", "mod", "lib", "init", "main", "package"})


class FileExports(Struct, frozen=True):
    """What others may take from one file: its own definitions at the top by name, what it hands on, and the names that
    it exports with what they are called here: none where it does not say."""

    definitions: Mapping[str, str]
    reexports: Sequence[Reexport]
    exported_as: Mapping[str, str]
    imports: Sequence[str]

    def offered(self) -> Iterator[tuple[str, str]]:
        """The definitions that `*` stands for: those exported, where the file says which."""
        if self.exported_as:
            found = ((name, self.definitions.get(inner)) for name, inner in self.exported_as.items())
            yield from ((name, id_) for name, id_ in found if id_ is not None)
        else:
            yield from ((name, id_) for name, id_ in self.definitions.items() if not name.startswith("_"))


class HandedOn(Struct, frozen=True, order=True):
    """`path` hands on the document `target` as `name`."""

    path: str
    name: str
    target: str


class HandedOnNames:
    """Follows what the files of a repository hand on."""

    def __init__(self, files: Mapping[str, FileExports]) -> None:
        self._files = files
        self._found: dict[tuple[str, str, int], str | None] = {}
        self._all: dict[tuple[str, int], list[tuple[str, str]]] = {}
        self._called: dict[str, Mapping[str, list[str]]] = {}

    def of(self, path: str) -> Iterator[HandedOn]:
        """What one file hands on, each name once."""
        found: dict[str, str | None] = {}
        for name, target in self._handed_on(path, MAX_STEPS):
            if found.setdefault(name, target) != target:
                found[name] = None
        yield from (HandedOn(path, name, target) for name, target in found.items() if target is not None)

    def _handed_on(self, path: str, steps: int) -> Iterator[tuple[str, str]]:
        for reexport in self._files[path].reexports:
            if reexport.name == ALL:
                if (file := self._meant(path, reexport)) is not None:
                    yield from self._all_of(file, steps - 1)
            elif (target := self._target(path, reexport, steps)) is not None:
                yield reexport.name, target

    def _imported(self, path: str) -> list[str]:
        return [file for file in self._files[path].imports if file in self._files and file != path]

    def _meant(self, path: str, reexport: Reexport) -> str | None:
        """The one imported file that the module of a re-export is."""
        meant = self._imported_as(path, reexport.source)
        return meant[0] if len(meant) == 1 else None

    def _imported_as(self, path: str, module: str) -> list[str]:
        """The imported files in whose name, or in that of the folder they stand for, a module as it is written ends."""
        if path not in self._called:
            self._called[path] = _by_name(self._imported(path))
        called = self._called[path]
        parts = [part for part in _SEPARATORS.split(module) if part and part not in _WAYS]
        if not parts:
            return called.get("", [])
        # What looks like the last part of a module may be the ending of a path.
        ending = f"{parts[-2]}.{parts[-1]}" if len(parts) > 1 else ""
        as_path = [file for file in called.get(parts[-2], ()) if file.endswith(ending)] if ending else []
        return list(dict.fromkeys((*called.get(parts[-1], ()), *as_path)))

    def _target(self, path: str, reexport: Reexport, steps: int) -> str | None:
        """The one document that is handed on under a name."""
        if reexport.original is None:
            return self._meant(path, reexport)
        meant = self._imported_as(path, reexport.source)
        found = self._of_any(meant, reexport.original, steps)
        found = found or self._of_any(self._imported(path), reexport.original, steps)
        found = found or {*self._imported_as(path, reexport.original)}
        return found.pop() if len(found) == 1 else None

    def _of_any(self, files: Sequence[str], name: str, steps: int) -> set[str]:
        return {found for file in files if (found := self._find(file, name, steps)) is not None}

    def _find(self, path: str, name: str, steps: int) -> str | None:
        """The one document that a file shows under a name."""
        key = path, name, steps
        if key not in self._found:
            file = self._files[path]
            own = file.definitions.get(file.exported_as.get(name, name))
            self._found[key] = own if own is not None or steps == 0 else self._find_further(path, name, steps - 1)
        return self._found[key]

    def _find_further(self, path: str, name: str, steps: int) -> str | None:
        found = set()
        for reexport in self._files[path].reexports:
            if reexport.name == name:
                found.add(self._target(path, reexport, steps))
            elif reexport.name == ALL and (file := self._meant(path, reexport)) is not None:
                found.add(self._find(file, name, steps))
        found.discard(None)
        return found.pop() if len(found) == 1 else None

    def _all_of(self, path: str, steps: int) -> list[tuple[str, str]]:
        """What `*` stands for in one file."""
        key = path, steps
        if key not in self._all:
            further = self._handed_on(path, steps) if steps else ()
            self._all[key] = [*self._files[path].offered(), *islice(further, MAX_NAMES)][:MAX_NAMES]
        return self._all[key]


def _by_name(files: Iterable[str]) -> Mapping[str, list[str]]:
    """Files by their names without ending; those that stand for their folder also by its name, and by none."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in files:
        folder, _, name = file.rpartition("/")
        stem = name.partition(".")[0]
        found[stem].append(file)
        if stem in ENTRY_STEMS:
            found[folder.rpartition("/")[2]].append(file)
            if folder.rpartition("/")[2]:
                found[""].append(file)
    return found


def shown_files(
    facts: Iterable[tuple[str, Sequence[str] | None, Sequence[Mapping[str, str | None]] | None]],
    ids: Iterable[str],
    imports: Iterable[tuple[str, str]],
) -> HandedOnNames:
    """The files of a repository from rows of `file_facts` (path, exports, reexports), ids of definitions and import
    edges inside the repository."""
    definitions: dict[str, dict[str, str]] = defaultdict(dict)
    for id_ in ids:
        path, _, name = id_.partition(SEPARATOR)
        if SEPARATOR not in name and without_suffix(id_) == id_:
            definitions[path][name] = id_
    imported: dict[str, list[str]] = defaultdict(list)
    for path, target in imports:
        imported[path].append(target)
    return HandedOnNames({
        path: FileExports(
            definitions.get(path, {}),
            [Reexport(one["name"] or "", one["original"], one["source"] or "") for one in reexports or ()],
            _exported_as(exports or ()),
            sorted(imported.get(path, ())),
        )
        for path, exports, reexports in facts
    })  # fmt: skip


def handed_on(
    tables: TableStore,
    key: str,
    *,
    imports: Callable[[], Iterable[tuple[str, str]]],
    ids: Callable[[], Iterable[str]],
) -> Iterator[HandedOn]:
    """All that a repository's files hand on; `imports` and `ids` are asked for only where there is something."""
    read = tables.read_or_empty("file_facts", key, columns=["file_path", "reexports"])
    counts = pc.fill_null(pc.list_value_length(read.column("reexports")), 0)
    handing = read.column("file_path").filter(pc.greater(counts, 0)).to_pylist()
    if not handing:
        return
    facts = tables.read("file_facts", key, columns=["file_path", "exports", "reexports"])
    columns = (facts.column(name).to_pylist() for name in facts.column_names)
    names = shown_files(zip(*columns, strict=True), ids(), imports())
    for path in sorted(handing):
        yield from names.of(path)


def reexport_edges(handed_on: Iterable[HandedOn], imports: Collection[tuple[str, str]]) -> list[Edge]:
    """An import edge from each file that hands a definition on to the file that defines it, where there is none."""
    table = EdgeTable()
    for path, target in sorted({(one.path, one.target.partition(SEPARATOR)[0]) for one in handed_on}):
        if path != target and (path, target) not in imports:
            table.add(path, target, EdgeKind.IMPORT, Reason.REEXPORT)
    return list(table.edges())


def read_imports(tables: TableStore, key: str) -> list[tuple[str, str]]:
    """The import edges between files that their own statements make."""
    columns = ["src_id", "dst", "kind", "is_external", "reason"]
    parts = tables.read_parts("edges", key, columns=columns, having=("kind", str(EdgeKind.IMPORT)))
    return [edge for part in parts for edge in imports_in(part)]


def imports_in(edges: pa.Table) -> list[tuple[str, str]]:
    """The import edges between files, but for those of `reexport_edges`."""
    is_import = pc.and_(pc.equal(edges.column("kind"), str(EdgeKind.IMPORT)), pc.invert(edges.column("is_external")))
    own = edges.filter(pc.and_(is_import, pc.not_equal(edges.column("reason"), str(Reason.REEXPORT))))
    return list(zip(own.column("src_id").to_pylist(), own.column("dst").to_pylist(), strict=True))


def _exported_as(exports: Iterable[str]) -> dict[str, str]:
    """The names that a file exports: what each is called there by what others call it."""
    pairs = (export.partition(" as ") for export in exports)
    return {outer if renamed else inner: inner for inner, renamed, outer in pairs}
