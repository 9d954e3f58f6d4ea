"""The tree of documents, and what the writers of each level are shown: both read from the tables of one snapshot.

Classes hold methods, files top-level symbols, folders files and folders. A child's name is relative to its parent, so
that a moved folder shows its writer the same children, and without the suffix of an overload, which means nothing to a
writer.

Above functions a writer sees metadata and its children's texts, never code. Classes may hold classes and folders hold
folders, so these two levels come in layers: each is shown the texts of the layers before it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from graphlib import TopologicalSorter
from itertools import chain, takewhile
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.evidence.inputs import (
    ChildText,
    ClassInput,
    FileInput,
    ModuleInput,
    TextFileInput,
    UpperInput,
)
from codesum_pipeline.evidence.own_sources import own_source
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.file import FileStatus
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.ids import (
    ROOT_MODULE,
    SEPARATOR,
    module_path_of,
    parent_modules,
    without_suffix,
)
from codesum_pipeline.foundation.data_model.symbol import FileFacts, Import, SymbolType
from codesum_pipeline.foundation.language_facts.language_profiles import language_of_code
from codesum_pipeline.foundation.store.last_reading import LastReading
from codesum_pipeline.foundation.store.rows import lists_of_field, tuples_of, values_of
from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.symbols.parsing.outline_parser import OUTLINE_PARSERS
from codesum_pipeline.symbols.parsing.parsers import COMPONENT_PARSERS, PARSERS
from codesum_pipeline.texts.summaries.holders import Holders


class Child(NamedTuple):
    """One document below another."""

    id: str
    name: str
    level: Level


class Children(Mapping[str, tuple[Child, ...]]):
    """The children of each document that has some, by name, then by id. They are put in this order when they are first
    looked up, and remembered: many documents are never looked up in a build that changes little."""

    def __init__(self, below: Mapping[str, Sequence[tuple[str, Level]]]) -> None:
        self._below = below
        self._ordered: dict[str, tuple[Child, ...]] = {}

    def __getitem__(self, parent: str) -> tuple[Child, ...]:
        found = self._ordered.get(parent)
        if found is None:
            ordered = sorted((_name_of(id_, level), id_, level) for id_, level in self._below[parent])
            found = self._ordered[parent] = tuple([Child(id_, name, level) for name, id_, level in ordered])
        return found

    def __contains__(self, parent: object) -> bool:
        return parent in self._below

    def __iter__(self) -> Iterator[str]:
        return iter(self._below)

    def __len__(self) -> int:
        return len(self._below)


class DocumentTree(Struct):
    """The documents of a snapshot as a tree; `children` remembers those that were looked up.

    Functions within functions have a parent (`parents`) but are not among its children: its source already shows them.
    Functions without a name of their own (`unnamed`) are among nobody's: no text above them is made from theirs.
    """

    children: Children
    parents: Mapping[str, str | None]
    files: tuple[str, ...]
    modules: tuple[str, ...]
    levels: Mapping[str, Level]
    unnamed: Set[str] = frozenset()

    def above(self, id_: str) -> Iterator[str]:
        """The documents that hold one, the nearest first."""
        above = self.parents.get(id_)
        while above is not None:
            yield above
            above = self.parents.get(above)

    def all_above(self, ids: Iterable[str]) -> set[str]:
        """All that holds one of some documents."""
        found: set[str] = set()
        for id_ in ids:
            # A holder that was met before has its own holders in the set.
            found.update(takewhile(lambda holder: holder not in found, self.above(id_)))
        return found


# What an outline is made from.
_COLUMNS = {
    "files": ["path", "status"],
    "symbols": ["id", "type", "file_path", "parent_id", "is_unnamed"],
    "file_facts": ["file_path"],
}
# A class has the memory of about 16 symbols of an outline.
_SYMBOLS_OF_CLASS = 4


# Most steps of a build read the same one; with the files whose symbols it has, None for all.
_LAST_OUTLINE = LastReading[tuple[frozenset[str] | None, DocumentTree]]()


def read_outline(workspace: Workspace, of_files: Collection[str] | None = None) -> DocumentTree:
    """The outline of the repository's current `files` and `symbols` tables; or with the symbols of some files at least,
    and all files and folders."""
    tables, key, root = workspace.tables, workspace.key, workspace.entry.root_module
    hashes = (tables.hash_read(table, key, columns=columns) for table, columns in _COLUMNS.items())
    made_from, wanted = (root, *hashes), None if of_files is None else frozenset(of_files)
    if known := _LAST_OUTLINE.find(made_from):
        with_symbols, outline = known
        if with_symbols is None or (wanted is not None and wanted <= with_symbols):
            return outline
    files, facts = (tables.read(table, key, columns=_COLUMNS[table]) for table in ("files", "file_facts"))
    symbols = tables.read_files("symbols", key, of_files, columns=_COLUMNS["symbols"])
    readable = set(facts.column("file_path").to_pylist())
    statuses = tuples_of(files, ("path", "status"))
    indexed = [path for path, status in statuses if status == FileStatus.INDEXED and path in readable]
    outline = build_outline(indexed, symbols, root=root)
    _LAST_OUTLINE.keep(made_from, (wanted, outline), rows=symbols.num_rows)
    return outline


def build_outline(files: list[str], symbols: pa.Table, *, root: str) -> DocumentTree:
    """The tree over `files` (paths) and `symbols` (id, type, file_path, parent_id, is_unnamed) below the folder
    `root`."""
    ids, types, paths, around = (symbols.column(name).to_pylist() for name in ("id", "type", "file_path", "parent_id"))
    unnamed = frozenset(symbols.filter(symbols.column("is_unnamed")).column("id").to_pylist())
    known = {level.value: level for level in Level}
    levels = dict(zip(ids, map(known.__getitem__, types), strict=True))
    parents: dict[str, str | None] = {}
    below: defaultdict[str, list[tuple[str, Level]]] = defaultdict(list)
    for id_, path, parent_id in zip(ids, paths, around, strict=True):
        parent = parents[id_] = parent_id or path
        if levels.get(parent) is not Level.FUNCTION and id_ not in unnamed:
            below[parent].append((id_, levels[id_]))
    modules: set[str] = set()
    for path in files:
        folder = parents[path] = module_path_of(path)
        below[folder].append((path, Level.FILE))
        if folder not in modules:
            modules.update(parent_modules(path, root=root))
    for folder in modules:
        parent = parents[folder] = None if folder == root else module_path_of(folder)
        if parent is not None:
            below[parent].append((folder, Level.MODULE))
    return DocumentTree(
        children=Children(dict(below)),
        parents=parents,
        files=tuple(sorted(files)),
        modules=tuple(sorted(modules)),
        levels={**levels, **dict.fromkeys(files, Level.FILE), **dict.fromkeys(modules, Level.MODULE)},
        unnamed=unnamed,
    )


def base_name(path: str) -> str:
    """The last part of a path."""
    return path.rsplit("/", 1)[-1]


def _name_of(id_: str, level: Level) -> str:
    """What a document is called below its parent."""
    return base_name(id_) if level in (Level.FILE, Level.MODULE) else without_suffix(id_).rsplit(SEPARATOR, 1)[-1]


# What a module's writer sees of its README: the head of a long one says what it is about.
README_SHOWN_CHARS = 8_000
# Best first: of several READMEs in a folder the writer is shown one.
_README_NAMES = ("readme.md", "readme.rst", "readme.txt", "readme", "readme.markdown", "readme.adoc", "readme.org")


_OF_CLASSES = ["id", "qualified_name", "name", "language", "signature", "docstring", "bases", "modifiers"]
# The plan and the step that carries it out read the same ones.
_LAST_CLASSES = LastReading[list[ClassInput]]()


def read_classes(workspace: Workspace, of_files: Collection[str] | None = None) -> list[ClassInput]:
    """The classes of the repository, or of some files, without their methods and nested classes."""
    tables, key, names = workspace.tables, workspace.key, _OF_CLASSES
    # A step depends on all: which of them it looks at follows from what they were before.
    read = tables.hash_read("symbols", key, columns=["type", "file_path", *names, "facts", "canonical_source"])
    made_from = (read, hash_of(None if of_files is None else sorted(of_files)))
    if known := _LAST_CLASSES.find(made_from):
        return known
    wanted, kind = ["type", *names, "facts", "canonical_source"], ("type", SymbolType.CLASS.value)
    parts = tables.read_parts("symbols", key, columns=wanted, having=kind, paths=of_files)
    classes = pa.concat_tables([TABLES["symbols"].schema.empty_table().select(wanted), *parts])
    sources = map(own_source, classes.column("canonical_source").to_pylist())
    fields = lists_of_field(pc.struct_field(classes.column("facts"), "fields"), "text")
    columns = [classes.column(name).to_pylist() for name in names[:-2]]
    lists = [map(tuple, column.to_pylist()) for column in (*map(classes.column, names[-2:]), fields)]
    classes_read = (ClassInput(*row) for row in zip(*columns, *lists, strict=True))
    found = [
        replace(one, own_source=source, language=language_of_code(one.language))
        for one, source in zip(classes_read, sources, strict=True)
    ]
    _LAST_CLASSES.keep(made_from, found, rows=len(found) << _SYMBOLS_OF_CLASS)
    return found


def read_files(workspace: Workspace, of_files: Collection[str] | None = None) -> list[FileInput | TextFileInput]:
    """The files of the repository, or some, children left out; the text only of those that are read as texts."""
    tables, key = workspace.tables, workspace.key
    names = ["file_path", "language", "docstring", "imports", "globals", "exports", "reexports", "literals"]
    tables.hash_read("file_facts", key, columns=["source"])
    facts = tables.read_files("file_facts", key, of_files, columns=names)
    is_parsed = _have_definitions(workspace, facts)
    parsed = facts.filter(is_parsed)
    found: list[FileInput | TextFileInput] = [
        FileInput(
            id=path,
            name=base_name(path),
            language=language,
            docstring=docstring,
            imports=tuple(sorted({_dotted(one) for one in imports if one.scope_id is None})),
            globals=constants,
            exports=exports,
            reexports=reexports or (),
            literals=literals,
        )
        for path, language, docstring, imports, constants, exports, reexports, literals in zip(
            *(values_of(parsed, FileFacts, name) for name in names), strict=True
        )
    ]
    others = facts.filter(pc.invert(is_parsed))
    languages: dict[str, str] = dict(tuples_of(others, ("file_path", "language")))
    sources = _read_sources(workspace, languages)
    found += [TextFileInput(path, base_name(path), languages[path], sources[path]) for path in languages]
    return sorted(found, key=lambda shown: shown.id)


def text_files(workspace: Workspace) -> set[str]:
    """The files that are read as texts."""
    facts = workspace.tables.read("file_facts", workspace.key, columns=["file_path", "language"])
    return set(facts.column("file_path").filter(pc.invert(_have_definitions(workspace, facts))).to_pylist())


def _have_definitions(workspace: Workspace, facts: pa.Table) -> pa.ChunkedArray:
    """Which rows of `file_facts` are of files that a parser reads. One that is read by a table, or as a component, and
    defines nothing is a text: its words alone tell what it is for."""
    languages, paths = facts.column("language"), facts.column("file_path")
    is_parsed = pc.is_in(languages, value_set=pa.array(sorted(PARSERS), pa.string()))
    others = pa.array(sorted([*OUTLINE_PARSERS, *COMPONENT_PARSERS]), pa.string())
    outlined = paths.filter(pc.is_in(languages, value_set=others)).to_pylist()
    if not outlined:
        return is_parsed
    symbols = workspace.tables.read_files("symbols", workspace.key, outlined, columns=["file_path"])
    return pc.or_(is_parsed, pc.is_in(paths, value_set=pc.unique(symbols.column("file_path"))))


def _read_sources(workspace: Workspace, paths: Collection[str]) -> dict[str, str]:
    """The text of some files, by path."""
    if not paths:
        return {}
    wanted = workspace.tables.read_files("file_facts", workspace.key, paths, columns=["file_path", "source"])
    return dict(tuples_of(wanted, ("file_path", "source")))


def head_layers(
    workspace: Workspace, level: Level, outline: DocumentTree, of_files: Collection[str] | None = None
) -> list[list[UpperInput]]:
    """Classes, files or folders without their children, in layers: what one holds is in an earlier layer. Of
    classes and files, only those `of_files`; of folders, only those."""
    if level is Level.CLASS:
        holders = Holders.of(workspace, of_files)
        classes = [
            replace(one, holder=holders.of_symbol(outline.parents.get(one.id), one.id.partition(SEPARATOR)[0]))
            for one in read_classes(workspace, of_files)
        ]
        return _class_layers(classes, outline)
    if level is Level.FILE:
        return [[*read_files(workspace, of_files)]]
    layers = module_layers(outline)
    if of_files is not None:
        layers = [[path for path in layer if path in of_files] for layer in layers]
    readmes = _read_readmes(workspace, outline, chain.from_iterable(layers))
    names = {workspace.entry.root_module: workspace.key}
    return [
        [
            ModuleInput(path, names.get(path) or base_name(path), readme, readme_name=name)
            for path in layer
            for name, readme in [readmes.get(path, (None, None))]
        ]
        for layer in layers
    ]


def _class_layers(classes: Sequence[ClassInput], outline: DocumentTree) -> list[list[UpperInput]]:
    """Classes by height: those without nested classes first.

    The order in the file does not matter: many languages let `A.B` be written before `A`.
    """
    by_id = {class_.id: class_ for class_ in classes}
    nested = {id_: [child.id for child in outline.children.get(id_, ()) if child.id in by_id] for id_ in by_id}
    sorter, layers = TopologicalSorter(nested), list[list[UpperInput]]()
    sorter.prepare()
    while ready := sorter.get_ready():
        layers.append([by_id[id_] for id_ in sorted(ready)])
        sorter.done(*ready)
    return layers


def module_layers(outline: DocumentTree) -> list[list[str]]:
    """Folders by depth, deepest first."""
    layers: defaultdict[int, list[str]] = defaultdict(list)
    for path in outline.modules:
        layers[0 if path == ROOT_MODULE else path.count("/") + 1].append(path)
    return [sorted(layers[depth]) for depth in sorted(layers, reverse=True)]


def with_children(head: UpperInput, children: tuple[ChildText, ...]) -> UpperInput:
    """A document's head with its children: what its writer is shown."""
    return head if isinstance(head, TextFileInput) else replace(head, children=children)


def _read_readmes(workspace: Workspace, outline: DocumentTree, folders: Iterable[str]) -> dict[str, tuple[str, str]]:
    """By folder its README's name and head, cut at a line end."""
    # A step depends on all: which of them it looks at follows from what they were before.
    workspace.tables.hash_read("file_facts", workspace.key, columns=["file_path", "source"])
    chosen: dict[str, str] = {}
    for path in folders:
        names = {child.name.lower(): child.id for child in outline.children.get(path, ()) if child.level is Level.FILE}
        found = next((names[name] for name in _README_NAMES if name in names), None)
        if found:
            chosen[path] = found
    sources = _read_sources(workspace, chosen.values())
    return {folder: (base_name(path), _head(sources[path])) for folder, path in chosen.items()}


def _dotted(import_: Import) -> str:
    """`from ..a import b` as `..a.b`; `import a.b as c` as `a.b`."""
    dots = "." * import_.level
    if import_.name is None:
        return dots + import_.module
    return f"{dots}{import_.module}.{import_.name}" if import_.module else dots + import_.name


def _head(text: str) -> str:
    if len(text) <= README_SHOWN_CHARS:
        return text
    cut = text.rfind("\n", 0, README_SHOWN_CHARS)
    return text[: cut if cut > 0 else README_SHOWN_CHARS]
