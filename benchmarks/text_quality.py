"""How good the extractive texts of a folder of Python sources are, in figures.

    python benchmarks/text_quality.py FOLDER [--show 50]

Counts equal summaries among functions with different bodies, where purposes
come from, how long the texts are, and how many functions are written per
second. `--show` prints an even sample of the documents of every level.
"""

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from codesum_pipeline.model.documents import LEVELS, Level, PurposeSource
from codesum_pipeline.model.ids import ROOT_MODULE, module_path_of, parent_modules, without_suffix
from codesum_pipeline.model.options import FilterOptions
from codesum_pipeline.model.symbols import Symbol, SymbolType
from codesum_pipeline.parsing.parsed import ParsedFile
from codesum_pipeline.parsing.python import parse_python
from codesum_pipeline.summaries.inputs import (
    ChildText,
    ClassInput,
    FileInput,
    FunctionInput,
    ModuleInput,
    TextFileInput,
)
from codesum_pipeline.summaries.placeholder import AnyInput, is_trivial
from codesum_pipeline.summaries.writers import EXTRACTIVE, PLACEHOLDER, write

# Read as text files beside the Python sources.
TEXT_SUFFIXES = {
    ".md": "markdown",
    ".rst": "rst",
    ".txt": "text",
    ".toml": "toml",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".cfg": "ini",
    ".ini": "ini",
}
MAX_BYTES = 1_000_000
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class Document:
    """One written text with what it was written from."""

    given: AnyInput
    child: ChildText
    source: PurposeSource


@dataclass
class Library:
    """The documents of a folder, level by level."""

    documents: dict[str, Document] = field(default_factory=dict)
    bodies: dict[str, str] = field(default_factory=dict)
    write_s: float = 0.0

    def add(self, given: AnyInput, level: Level, name: str) -> None:
        """Write one document with the writer that a build would choose."""
        writer = PLACEHOLDER if is_trivial(given, FilterOptions()) else EXTRACTIVE
        written = write(given, writer)
        child = ChildText(given.id, name, level, written.text, writer == PLACEHOLDER)
        self.documents[given.id] = Document(given, child, written.purpose_source)

    def children(self, ids: Sequence[str]) -> tuple[ChildText, ...]:
        return tuple(self.documents[id_].child for id_ in sorted(ids))


def read_folder(root: Path) -> tuple[list[ParsedFile], dict[str, tuple[str, str]]]:
    """The parsed Python files, and the texts of the others by path."""
    parsed, texts = [], {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if not path.is_file() or "__pycache__" in name or path.stat().st_size > MAX_BYTES:
            continue
        source = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
        if path.suffix in (".py", ".pyi"):
            parsed.append(parse_python(source.encode(), name))
        elif path.suffix in TEXT_SUFFIXES or path.name.lower() in ("license", "makefile", "dockerfile"):
            texts[name] = (TEXT_SUFFIXES.get(path.suffix, "text"), source)
    return parsed, texts


def write_library(parsed: Sequence[ParsedFile], texts: Mapping[str, tuple[str, str]], *, key: str) -> Library:
    """Write every document, children before parents."""
    library = Library()
    symbols = [symbol for one in parsed for symbol in one.symbols]
    functions = [FunctionInput.of(symbol) for symbol in symbols if symbol.type is SymbolType.FUNCTION]
    started = time.perf_counter()
    for given in functions:
        library.add(given, Level.FUNCTION, without_suffix(given.id).rpartition("::")[2])
    library.write_s = time.perf_counter() - started
    library.bodies = {given.id: given.canonical_source for given in functions}
    within = defaultdict(list)
    types = {symbol.id: symbol.type for symbol in symbols}
    for symbol in symbols:
        within[symbol.parent_id or symbol.file_path].append(symbol.id)
    classes = [symbol for symbol in symbols if symbol.type is SymbolType.CLASS]
    for symbol in sorted(classes, key=lambda one: -one.id.count("::")):
        library.add(
            class_input(symbol, library.children(_members(within[symbol.id], types))),
            Level.CLASS,
            without_suffix(symbol.id).rpartition("::")[2],
        )
    for one in parsed:
        file = file_input(one, library.children(within[one.facts.file_path]))
        library.add(file, Level.FILE, file.name)
    for path, (language, text) in texts.items():
        library.add(TextFileInput(path, path.rpartition("/")[2], language, text), Level.FILE, path.rpartition("/")[2])
    _write_modules(library, [*(one.facts.file_path for one in parsed), *texts], texts, key)
    return library


def _members(ids: Sequence[str], types: Mapping[str, SymbolType]) -> list[str]:
    return [id_ for id_ in ids if id_ in types]


def class_input(symbol: Symbol, children: tuple[ChildText, ...]) -> ClassInput:
    """A class as its writer sees it."""
    fields = tuple(one.text for one in symbol.facts.fields)
    return ClassInput(
        symbol.id, symbol.qualified_name, symbol.name, symbol.language, symbol.signature, symbol.docstring,
        symbol.bases, symbol.modifiers, fields, children,
    )  # fmt: skip


def file_input(parsed: ParsedFile, children: tuple[ChildText, ...]) -> FileInput:
    """A parsed file as its writer sees it."""
    facts = parsed.facts
    found = [one for one in facts.imports if one.scope_id is None]
    imports = {"." * one.level + ".".join(filter(None, (one.module, one.name))) for one in found}
    name = facts.file_path.rpartition("/")[2]
    return FileInput(
        facts.file_path, name, facts.language, facts.docstring,
        tuple(sorted(imports)), facts.globals, facts.exports, children, facts.reexports or (), facts.literals,
    )  # fmt: skip


def _write_modules(library: Library, paths: Sequence[str], texts: Mapping[str, tuple[str, str]], key: str) -> None:
    within = defaultdict(set)
    for path in paths:
        child = path
        for folder in parent_modules(path):
            within[folder].add(child)
            child = folder
    for folder in sorted(within, key=lambda one: (one == ROOT_MODULE, -one.count("/"), one)):
        readme = next(
            (
                texts[path][1]
                for path in sorted(texts)
                if module_path_of(path) == folder and path.rpartition("/")[2].lower().startswith("readme")
            ),
            None,
        )
        name = key if folder == ROOT_MODULE else folder.rpartition("/")[2]
        library.add(
            ModuleInput(folder, name, readme, library.children(sorted(within[folder] - {folder}))), Level.MODULE, name
        )


def measure(library: Library) -> dict[str, object]:
    """The figures of one folder."""
    functions = [
        one for one in library.documents.values() if one.child.level is Level.FUNCTION and not one.child.is_placeholder
    ]
    by_text = defaultdict(set)
    for one in functions:
        by_text[one.child.text.summary].add(library.bodies[one.given.id])
    equal = sum(len(by_text[one.child.text.summary]) > 1 for one in functions)
    levels = {
        level.value: _level_figures([one for one in library.documents.values() if one.child.level is level])
        for level in LEVELS
    }
    return {
        "functions_written": len(functions),
        "equal_texts_share": round(equal / max(1, len(functions)), 4),
        "functions_per_s": round(len(library.bodies) / max(library.write_s, 1e-9)),
        "levels": levels,
    }


def _level_figures(documents: Sequence[Document]) -> dict[str, object]:
    written = [one for one in documents if not one.child.is_placeholder]
    sources = Counter(one.source.value for one in written)
    return {
        "documents": len(documents),
        "placeholders": len(documents) - len(written),
        "purposes": {name: round(count / max(1, len(written)), 3) for name, count in sorted(sources.items())},
        "summary_chars": _quantiles([len(one.child.text.summary) for one in written]),
        "intent_chars": _quantiles([len(one.child.text.business_intent) for one in written]),
        "keywords": _quantiles([len(one.child.text.keywords) for one in written]),
    }


def _quantiles(values: Sequence[int]) -> list[int]:
    ordered = sorted(values)
    return [ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in QUANTILES] if ordered else []


def figures_table(name: str, figures: dict[str, object]) -> Table:
    """A row for each level."""
    table = Table(
        "level",
        "documents",
        "placeholders",
        "purposes",
        "summary chars",
        "intent chars",
        "keywords",
        title=f"{name}: {figures['equal_texts_share']:.2%} equal texts, {figures['functions_per_s']} functions/s",
    )
    levels = figures["levels"]
    assert isinstance(levels, dict)
    for level, one in levels.items():
        purposes = ", ".join(f"{source} {share:.0%}" for source, share in one["purposes"].items())
        table.add_row(
            level,
            str(one["documents"]),
            str(one["placeholders"]),
            purposes,
            *(" ".join(map(str, one[key])) for key in ("summary_chars", "intent_chars", "keywords")),
        )
    return table


def sample(library: Library, count: int) -> Iterator[Document]:
    """An even sample over every level, in the order of ids."""
    for level in LEVELS:
        documents = [
            library.documents[id_] for id_ in sorted(library.documents) if library.documents[id_].child.level is level
        ]
        step = max(1, len(documents) // max(1, count))
        yield from documents[::step][:count]


def show(document: Document) -> str:
    """One document as a reader sees it."""
    text = document.child.text
    lines = [
        f"[{document.child.level}, {document.source}] {document.given.id}",
        f"  {text.summary}",
        f"  why: {text.business_intent}",
        f"  words: {', '.join(text.keywords)}",
    ]
    lines.extend(f"  in: {one.name} ({one.type}): {one.description}" for one in text.inputs)
    if text.returns:
        lines.append(f"  out: {text.returns.type} | {text.returns.type_summary} | {text.returns.details}")
    lines.extend(f"  effect: {one}" for one in text.side_effects)
    lines.extend(f"  must: {one}" for one in text.invariants)
    lines.extend(f"  part: {one}" for one in text.responsibilities)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of Python sources")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N documents of each level")
    arguments = parser.parse_args()
    parsed, texts = read_folder(arguments.folder)
    library = write_library(parsed, texts, key=arguments.folder.name)
    for document in sample(library, arguments.show) if arguments.show else ():
        print(show(document), end="\n\n")
    figures = measure(library)
    Console(width=160).print(figures_table(arguments.folder.name, figures))
    print(json.dumps({"folder": arguments.folder.name, **figures}))


if __name__ == "__main__":
    main()
