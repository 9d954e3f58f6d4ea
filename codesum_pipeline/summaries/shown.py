"""What the writers of each level are shown, read from the tables of one snapshot.

Above functions a writer sees metadata and its children's texts, never code.
Classes may hold classes and folders hold folders, so these two levels come in
layers: each is shown the texts of the layers before it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.model.documents import Level, TextRow, WrittenBy
from codesum_pipeline.model.ids import ROOT_MODULE
from codesum_pipeline.model.symbols import FileFacts, Import, Symbol, SymbolType
from codesum_pipeline.parsing.parsers import PARSERS
from codesum_pipeline.store.rows import from_table
from codesum_pipeline.store.schemas import texts_table
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.inputs import (
    ChildText,
    ClassInput,
    FileInput,
    FunctionInput,
    ModuleInput,
    TextFileInput,
)
from codesum_pipeline.summaries.outline import Outline, base_name

# What a module's writer sees of its README: the head of a long one says what it is about.
README_SHOWN_CHARS = 8_000
# Best first: of several READMEs in a folder the writer is shown one.
_README_NAMES = ("readme.md", "readme.rst", "readme.txt", "readme", "readme.markdown", "readme.adoc", "readme.org")

Texts = Mapping[str, TextRow]


def read_texts(workspace: Workspace, *levels: Level) -> dict[str, TextRow]:
    """The texts of these levels, by id."""
    return {
        row.id: row
        for level in levels
        for row in workspace.tables.read_rows(texts_table(level), workspace.key, TextRow)
    }


def read_symbols(workspace: Workspace, kind: SymbolType) -> list[Symbol]:
    """The functions or the classes of the repository."""
    symbols = workspace.tables.read("symbols", workspace.key)
    return from_table(symbols.filter(pc.equal(symbols.column("type"), kind.value)), Symbol)


def function_inputs(workspace: Workspace) -> list[FunctionInput]:
    """Every function and method, nested ones too."""
    return [FunctionInput.of(symbol) for symbol in read_symbols(workspace, SymbolType.FUNCTION)]


def class_layers(symbols: Sequence[Symbol], outline: Outline) -> list[list[Symbol]]:
    """Classes by height: those without nested classes first."""
    by_id = {symbol.id: symbol for symbol in symbols}
    heights: dict[str, int] = {}
    layers: defaultdict[int, list[Symbol]] = defaultdict(list)
    # A nested class starts after the one around it, or on its line with an earlier end.
    for symbol in sorted(symbols, key=lambda found: (found.file_path, -found.start_line, found.end_line, found.id)):
        nested = [child.id for child in outline.children.get(symbol.id, ()) if child.id in by_id]
        heights[symbol.id] = 1 + max((heights[id_] for id_ in nested), default=-1)
        layers[heights[symbol.id]].append(symbol)
    return [sorted(layers[height], key=lambda symbol: symbol.id) for height in sorted(layers)]


def class_input(symbol: Symbol, outline: Outline, texts: Texts) -> ClassInput:
    """A class with the texts of its methods and nested classes."""
    return ClassInput(
        id=symbol.id,
        qualified_name=symbol.qualified_name,
        name=symbol.name,
        language=symbol.language,
        signature=symbol.signature,
        docstring=symbol.docstring,
        bases=symbol.bases,
        modifiers=symbol.modifiers,
        fields=tuple(field.text for field in symbol.facts.fields),
        children=_children(symbol.id, outline, texts),
    )


def file_input(facts: FileFacts, outline: Outline, texts: Texts) -> FileInput | TextFileInput:
    """A parsed file with the texts of its top-level symbols, or the text of any other."""
    name = base_name(facts.file_path)
    if facts.language not in PARSERS:
        return TextFileInput(facts.file_path, name, facts.language, facts.source)
    return FileInput(
        id=facts.file_path,
        name=name,
        language=facts.language,
        docstring=facts.docstring,
        imports=tuple(sorted({_dotted(found) for found in facts.imports if found.scope_id is None})),
        globals=facts.globals,
        exports=facts.exports,
        children=_children(facts.file_path, outline, texts),
    )


def module_layers(outline: Outline) -> list[list[str]]:
    """Folders by depth, deepest first."""
    layers: defaultdict[int, list[str]] = defaultdict(list)
    for path in outline.modules:
        layers[0 if path == ROOT_MODULE else path.count("/") + 1].append(path)
    return [sorted(layers[depth]) for depth in sorted(layers, reverse=True)]


def module_input(
    path: str, workspace: Workspace, outline: Outline, texts: Texts, readmes: Mapping[str, str]
) -> ModuleInput:
    """A folder with its README and the texts of its files and sub-folders."""
    name = workspace.key if path == workspace.entry.root_module else base_name(path)
    return ModuleInput(path, name, readmes.get(path), _children(path, outline, texts))


def read_readmes(workspace: Workspace, outline: Outline) -> dict[str, str]:
    """The head of each folder's README, cut at a line end."""
    chosen: dict[str, str] = {}
    for path in outline.modules:
        names = {child.name.lower(): child.id for child in outline.children.get(path, ()) if child.level is Level.FILE}
        found = next((names[name] for name in _README_NAMES if name in names), None)
        if found:
            chosen[path] = found
    facts = workspace.tables.read("file_facts", workspace.key, columns=["file_path", "source"])
    wanted = facts.filter(pc.is_in(facts.column("file_path"), value_set=pa.array(sorted(chosen.values()), pa.string())))
    sources = {row["file_path"]: row["source"] for row in wanted.to_pylist()}
    return {folder: _head(sources[path]) for folder, path in chosen.items()}


def _children(id_: str, outline: Outline, texts: Texts) -> tuple[ChildText, ...]:
    return tuple(
        ChildText(
            id=child.id,
            name=child.name,
            level=child.level,
            text=texts[child.id].text,
            is_placeholder=texts[child.id].written_by is WrittenBy.PLACEHOLDER,
        )
        for child in outline.children.get(id_, ())
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
