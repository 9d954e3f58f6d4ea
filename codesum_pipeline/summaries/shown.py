"""What the writers of each level are shown, read from the tables of one snapshot.

Above functions a writer sees metadata and its children's texts, never code.
Classes may hold classes and folders hold folders, so these two levels come in
layers: each is shown the texts of the layers before it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.model.documents import Level, TextRow, WrittenBy, WrittenText
from codesum_pipeline.model.ids import ROOT_MODULE
from codesum_pipeline.model.symbols import Import, Reexport, SymbolType
from codesum_pipeline.parsing.parsers import PARSERS
from codesum_pipeline.store.rows import column_names, from_table, lists_of_field
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.inputs import (
    ChildHead,
    ChildText,
    ClassInput,
    FileInput,
    ModuleInput,
    TextFileInput,
)
from codesum_pipeline.summaries.outline import DocumentTree, base_name
from codesum_pipeline.summaries.placeholder import UpperInput

# What a module's writer sees of its README: the head of a long one says what it is about.
README_SHOWN_CHARS = 8_000
# Best first: of several READMEs in a folder the writer is shown one.
_README_NAMES = ("readme.md", "readme.rst", "readme.txt", "readme", "readme.markdown", "readme.adoc", "readme.org")


@dataclass(frozen=True, slots=True)
class ClassHead:
    """What a class's writer is shown of its symbol."""

    id: str
    qualified_name: str
    name: str
    language: str
    signature: str
    docstring: str | None
    bases: tuple[str, ...]
    modifiers: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileHead:
    """What a file's writer is shown of its facts; the text only of files that no parser reads."""

    file_path: str
    language: str
    docstring: str | None
    imports: tuple[Import, ...]
    globals: tuple[str, ...]
    exports: tuple[str, ...] | None
    reexports: tuple[Reexport, ...] | None
    literals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Readme:
    """The head of a folder's README."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class _NamedText:
    id: str
    text: WrittenText


class Texts:
    """The texts below a level: of all what tells whether they changed, of those asked for the words.

    `previous` are the level's own texts of the last build, for documents that
    hold others of their level; `add` replaces those that are written anew.
    """

    def __init__(self, workspace: Workspace, *levels: Level, previous: pa.Table | None = None) -> None:
        self._workspace = workspace
        self._previous = previous
        self._heads: dict[str, tuple[str, bool]] = {}
        self._written: dict[str, WrittenText] = {}
        names = ["id", "text_hash", "written_by"]
        tables = [workspace.tables.read(texts_table(level), workspace.key, columns=names) for level in levels]
        self._ids = {level: table.column("id") for level, table in zip(levels, tables, strict=True)}
        for table in [previous.select(names), *tables] if previous is not None else tables:
            is_placeholder = pc.equal(table.column("written_by"), WrittenBy.PLACEHOLDER.value)
            heads = zip(table.column("text_hash").to_pylist(), is_placeholder.to_pylist(), strict=True)
            self._heads.update(zip(table.column("id").to_pylist(), heads, strict=True))

    def add(self, rows: Iterable[TextRow]) -> None:
        """Take in texts that were just written."""
        for row in rows:
            self._heads[row.id] = (row.text_hash, row.written_by is WrittenBy.PLACEHOLDER)
            self._written[row.id] = row.text

    def has(self, id_: str) -> bool:
        """Whether a document has a text of one of the levels."""
        return id_ in self._heads

    def heads(self, id_: str, outline: DocumentTree) -> list[ChildHead]:
        """The children of one document."""
        return [
            ChildHead(child.id, child.name, child.level, *self._heads[child.id])
            for child in outline.children.get(id_, ())
        ]

    def children(self, ids: Iterable[str], outline: DocumentTree) -> dict[str, tuple[ChildText, ...]]:
        """The children of some documents with their words."""
        heads = {id_: self.heads(id_, outline) for id_ in ids}
        words = self._words({child.id for found in heads.values() for child in found})
        return {
            id_: tuple(ChildText(c.id, c.name, c.level, words[c.id], c.is_placeholder) for c in found)
            for id_, found in heads.items()
        }

    def _words(self, ids: Collection[str]) -> dict[str, WrittenText]:
        found = {id_: self._written[id_] for id_ in ids if id_ in self._written}
        # This build's before the last one's: a name may have changed its kind.
        for level in self._ids:
            found |= self._read(level, set(ids) - found.keys())
        if self._previous is not None:
            missing = pa.array(list(set(ids) - found.keys()), pa.string())
            rows = self._previous.filter(pc.is_in(self._previous.column("id"), value_set=missing))
            found |= {row.id: row.text for row in from_table(rows, _NamedText)}
        return found

    def _read(self, level: Level, ids: Collection[str]) -> dict[str, WrittenText]:
        """The words of those that a level has."""
        is_one = pc.is_in(self._ids[level], value_set=pa.array(list(ids), pa.string()))
        rows = np.flatnonzero(is_one.to_numpy())
        if not len(rows):
            return {}
        table = self._workspace.tables.read_at(texts_table(level), self._workspace.key, rows, columns=["id", "text"])
        return {row.id: row.text for row in from_table(table, _NamedText)}


def read_classes(workspace: Workspace) -> list[ClassHead]:
    """The classes of the repository."""
    names = [*(name for name in column_names(ClassHead) if name != "fields"), "facts", "type"]
    symbols = workspace.tables.read("symbols", workspace.key, columns=names)
    classes = symbols.filter(pc.equal(symbols.column("type"), SymbolType.CLASS.value))
    fields = lists_of_field(pc.struct_field(classes.column("facts"), "fields"), "text")
    return from_table(classes.append_column("fields", fields), ClassHead)


def read_files(workspace: Workspace) -> list[FileInput | TextFileInput]:
    """The files of the repository, children left out."""
    tables, key = workspace.tables, workspace.key
    facts = tables.read("file_facts", key, columns=column_names(FileHead))
    is_parsed = pc.is_in(facts.column("language"), value_set=pa.array(sorted(PARSERS), pa.string()))
    found: list[FileInput | TextFileInput] = [
        _file_head(head) for head in from_table(facts.filter(is_parsed), FileHead)
    ]
    others = facts.filter(pc.invert(is_parsed))
    languages = dict(zip(*(others.column(name).to_pylist() for name in ("file_path", "language")), strict=True))
    sources = read_sources(workspace, languages)
    found += [TextFileInput(path, base_name(path), languages[path], sources[path]) for path in languages]
    return sorted(found, key=lambda shown: shown.id)


def read_sources(workspace: Workspace, paths: Collection[str]) -> dict[str, str]:
    """The text of some files, by path."""
    if not paths:
        return {}
    facts = workspace.tables.read("file_facts", workspace.key, columns=["file_path", "source"])
    wanted = facts.filter(pc.is_in(facts.column("file_path"), value_set=pa.array(sorted(paths), pa.string())))
    return dict(zip(wanted.column("file_path").to_pylist(), wanted.column("source").to_pylist(), strict=True))


def class_layers(symbols: Sequence[ClassHead], outline: DocumentTree) -> list[list[ClassHead]]:
    """Classes by height: those without nested classes first.

    Where a class stands in its file says nothing: many languages let `A.B` be written before `A`.
    """
    by_id = {symbol.id: symbol for symbol in symbols}
    heights: dict[str, int] = {}
    layers: defaultdict[int, list[ClassHead]] = defaultdict(list)
    waiting = sorted(by_id)
    while waiting:
        nested = [child.id for child in outline.children.get(waiting[-1], ()) if child.id in by_id]
        unknown = [id_ for id_ in nested if id_ not in heights]
        waiting.extend(unknown)
        if not unknown and (found := waiting.pop()) not in heights:
            heights[found] = 1 + max((heights[id_] for id_ in nested), default=-1)
            layers[heights[found]].append(by_id[found])
    return [sorted(layers[height], key=lambda symbol: symbol.id) for height in sorted(layers)]


def class_head(symbol: ClassHead) -> ClassInput:
    """A class without its methods and nested classes."""
    return ClassInput(
        id=symbol.id,
        qualified_name=symbol.qualified_name,
        name=symbol.name,
        language=symbol.language,
        signature=symbol.signature,
        docstring=symbol.docstring,
        bases=symbol.bases,
        modifiers=symbol.modifiers,
        fields=symbol.fields,
        children=(),
    )


def module_layers(outline: DocumentTree) -> list[list[str]]:
    """Folders by depth, deepest first."""
    layers: defaultdict[int, list[str]] = defaultdict(list)
    for path in outline.modules:
        layers[0 if path == ROOT_MODULE else path.count("/") + 1].append(path)
    return [sorted(layers[depth]) for depth in sorted(layers, reverse=True)]


def module_head(path: str, workspace: Workspace, readmes: Mapping[str, Readme]) -> ModuleInput:
    """A folder with its README, its files and sub-folders left out."""
    name = workspace.key if path == workspace.entry.root_module else base_name(path)
    readme = readmes.get(path)
    return ModuleInput(path, name, readme.text if readme else None, (), readme.name if readme else None)


def with_children(head: UpperInput, children: tuple[ChildText, ...]) -> UpperInput:
    """What the writer of a document is shown, once the words below it are read."""
    return head if isinstance(head, TextFileInput) else replace(head, children=children)


def read_readmes(workspace: Workspace, outline: DocumentTree) -> dict[str, Readme]:
    """The head of each folder's README, cut at a line end."""
    chosen: dict[str, str] = {}
    for path in outline.modules:
        names = {child.name.lower(): child.id for child in outline.children.get(path, ()) if child.level is Level.FILE}
        found = next((names[name] for name in _README_NAMES if name in names), None)
        if found:
            chosen[path] = found
    sources = read_sources(workspace, chosen.values())
    return {folder: Readme(base_name(path), _head(sources[path])) for folder, path in chosen.items()}


def _file_head(facts: FileHead) -> FileInput:
    return FileInput(
        id=facts.file_path,
        name=base_name(facts.file_path),
        language=facts.language,
        docstring=facts.docstring,
        imports=tuple(sorted({_dotted(found) for found in facts.imports if found.scope_id is None})),
        globals=facts.globals,
        exports=facts.exports,
        children=(),
        reexports=facts.reexports or (),
        literals=facts.literals,
    )


def _dotted(found: Import) -> str:
    """`from ..a import b` as `..a.b`; `import a.b as c` as `a.b`."""
    dots = "." * found.level
    if found.name is None:
        return dots + found.module
    return f"{dots}{found.module}.{found.name}" if found.module else dots + found.name


def _head(text: str) -> str:
    if len(text) <= README_SHOWN_CHARS:
        return text
    cut = text.rfind("\n", 0, README_SHOWN_CHARS)
    return text[: cut if cut > 0 else README_SHOWN_CHARS]
