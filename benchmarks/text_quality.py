"""How good the extractive texts of a folder of sources are, in figures, and a sample of them to be read.

    python -m benchmarks.text_quality FOLDER [--show 50]
    python -m benchmarks.text_quality CLONES --draw 60 --seed 7 [--language go]...

Counts equal summaries among functions with different bodies, where purposes
come from, how long the texts are, and how many functions are written per
second. `--show` prints an even sample of the documents of every level.

`--draw` draws so many documents of each language by chance, each with the
source beside it, out of a folder of git clones: half of them functions, and
classes, files and folders. Placeholders are not drawn. Equal seeds draw equal
documents of equal clones, whatever is written of them. Clones are equally likely, large or small.
"""

import argparse
import io
import json
import random
import subprocess
import tarfile
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

from codesum_pipeline.foundation.data_model.document import LEVELS, Level, PurposeSource, WrittenText
from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE, module_path_of, parent_modules, without_suffix
from codesum_pipeline.foundation.data_model.symbol import Symbol, SymbolType
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.foundation.settings.stage_settings import FilterSettings
from codesum_pipeline.foundation.store.rows import from_table, to_table
from codesum_pipeline.source.files.content import judge_content
from codesum_pipeline.symbols.parsing.parsers import PARSERS, parse_file
from codesum_pipeline.symbols.parsing.text import ParsedFile
from codesum_pipeline.texts.summaries.function_texts import trivial_functions
from codesum_pipeline.texts.summaries.inputs import (
    AnyInput,
    ChildText,
    ClassInput,
    FileInput,
    FunctionInput,
    ModuleInput,
    TextFileInput,
    UpperInput,
    children_of,
)
from codesum_pipeline.texts.summaries.placeholders import is_empty
from codesum_pipeline.texts.summaries.wanted_texts import EXTRACTIVE, PLACEHOLDER
from codesum_pipeline.texts.summaries.writers import write_text

MAX_BYTES = 1_000_000
# Of a language's clones so many are read, and no larger ones: what is drawn has to come from several.
MAX_CLONES, MAX_FILES = 6, 1500
# Of sixty documents.
SHARES = {Level.FUNCTION: 32, Level.CLASS: 12, Level.FILE: 11, Level.MODULE: 5}
SOURCE_LINES = 24
PER_CLONE = 8
LANGUAGES = ("python", "javascript", "typescript", "java", "go", "rust", "c", "cpp", "ruby", "php", "c-sharp",
             "kotlin", "swift", "scala", "elixir", "haskell", "lua", "bash", "zig")  # fmt: skip
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class Document:
    """One written text with what it was written from."""

    writer_input: AnyInput
    child: ChildText
    text: WrittenText
    source: PurposeSource


@dataclass
class Library:
    """The documents of a folder, level by level."""

    documents: dict[str, Document] = field(default_factory=dict)
    bodies: dict[str, str] = field(default_factory=dict)
    write_s: float = 0.0

    def add(self, writer_input: AnyInput, level: Level, name: str, *, is_trivial: bool) -> None:
        """Write one document with the writer that a build would choose."""
        text = write_text(writer_input, PLACEHOLDER if is_trivial else EXTRACTIVE)
        child = ChildText(writer_input.id, name, level, "", is_trivial, text.text.summary, text.text.keywords)
        self.documents[writer_input.id] = Document(writer_input, child, text.text, text.purpose_source)

    def add_upper(self, writer_input: UpperInput, level: Level, name: str) -> None:
        """The same of a class, file or folder."""
        self.add(writer_input, level, name, is_trivial=is_empty(writer_input, children_of(writer_input)))

    def children(self, ids: Sequence[str]) -> tuple[ChildText, ...]:
        return tuple(self.documents[id_].child for id_ in sorted(ids))


def read_folder(root: Path) -> tuple[list[ParsedFile], dict[str, tuple[str, str]]]:
    """The parsed source files, and the texts of the others by path."""
    parsed, texts = [], {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if not path.is_file() or path.is_symlink() or path.stat().st_size > MAX_BYTES:
            continue
        language = language_of_path(name) or ("text" if "license" in name.lower() else "")
        data = path.read_bytes()
        if judge_content(name, data).reason:
            continue
        try:
            read = parse_file(name, language, data, blob="", hash_policy=HashPolicy.CANONICAL) if language else None
        except SkippedFile:
            continue
        if read and language in PARSERS:
            parsed.append(read)
        elif read:
            texts[name] = (language, data.decode("utf-8", "replace"))
    return parsed, texts


def write_library(parsed: Sequence[ParsedFile], texts: Mapping[str, tuple[str, str]], *, key: str) -> Library:
    """Write every document, children before parents."""
    library = Library()
    symbols = [symbol for one in parsed for symbol in one.symbols]
    table = to_table([symbol for symbol in symbols if symbol.type is SymbolType.FUNCTION], Symbol)
    functions = from_table(table, FunctionInput)
    trivial = trivial_functions(table, FilterSettings())
    started = time.perf_counter()
    for function in functions:
        name = without_suffix(function.id).rpartition("::")[2]
        library.add(function, Level.FUNCTION, name, is_trivial=function.id in trivial)
    library.write_s = time.perf_counter() - started
    library.bodies = {function.id: function.canonical_source for function in functions}
    within = defaultdict(list)
    types = {symbol.id: symbol.type for symbol in symbols}
    for symbol in symbols:
        within[symbol.parent_id or symbol.file_path].append(symbol.id)
    classes = [symbol for symbol in symbols if symbol.type is SymbolType.CLASS]
    for symbol in sorted(classes, key=lambda one: -one.id.count("::")):
        library.add_upper(
            class_input(symbol, library.children(_members(within[symbol.id], types))),
            Level.CLASS,
            without_suffix(symbol.id).rpartition("::")[2],
        )
    for one in parsed:
        file = file_input(one, library.children(within[one.facts.file_path]))
        library.add_upper(file, Level.FILE, file.name)
    for path, (language, text) in texts.items():
        library.add_upper(
            TextFileInput(path, path.rpartition("/")[2], language, text), Level.FILE, path.rpartition("/")[2]
        )
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
        library.add_upper(
            ModuleInput(folder, name, readme, library.children(sorted(within[folder] - {folder}))), Level.MODULE, name
        )


def measure(library: Library) -> dict[str, object]:
    """The figures of one folder."""
    functions = [
        one for one in library.documents.values() if one.child.level is Level.FUNCTION and not one.child.is_placeholder
    ]
    by_text = defaultdict(set)
    for one in functions:
        by_text[one.text.summary].add(library.bodies[one.writer_input.id])
    equal = sum(len(by_text[one.text.summary]) > 1 for one in functions)
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
        "summary_chars": _quantiles([len(one.text.summary) for one in written]),
        "intent_chars": _quantiles([len(one.text.business_intent) for one in written]),
        "keywords": _quantiles([len(one.text.keywords) for one in written]),
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


def sample_documents(library: Library, count: int) -> Iterator[Document]:
    """An even sample over every level, in the order of ids."""
    for level in LEVELS:
        documents = [
            library.documents[id_] for id_ in sorted(library.documents) if library.documents[id_].child.level is level
        ]
        step = max(1, len(documents) // max(1, count))
        yield from documents[::step][:count]


def format_document(document: Document) -> str:
    """One document as a reader sees it."""
    text = document.text
    lines = [
        f"[{document.child.level}, {document.source}] {document.writer_input.id}",
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


def draw_documents(clones: Path, language: str, *, count: int, seed: int) -> Iterator[str]:
    """Documents of one language as a reader is shown them, in the order in which chance gave them."""
    chance = random.Random(f"{seed} {language}")
    found = [one for one in sorted(clones.iterdir()) if one.is_dir() and main_language(clone_in(one)) == language]
    chance.shuffle(found)
    read = (read_clone(clone_in(one), one.name) for one in found)
    libraries = [*islice(filter(None, read), MAX_CLONES)]
    for level, share in SHARES.items():
        drawn = [
            (name, library.documents[id_], sources)
            for name, library, sources in libraries
            for id_ in _draw_level(library, level, language, chance)
        ]
        chance.shuffle(drawn)
        for name, document, sources in drawn[: max(1, round(share * count / sum(SHARES.values())))]:
            text = document.text
            text_lines = f"### {name}: {document.writer_input.id}\n{text.summary}\nwhy: {text.business_intent}"
            yield f"{text_lines}\n{source_beside(document, sources)}"


def _draw_level(library: Library, level: Level, language: str, chance: random.Random) -> list[str]:
    """Some documents of a level, of each clone as many: a large one is not drawn from more often."""
    found = [id_ for id_ in sorted(library.documents) if _is_drawn(library.documents[id_], level, language)]
    return chance.sample(found, min(len(found), PER_CLONE))


def _is_drawn(document: Document, level: Level, language: str) -> bool:
    child = document.child
    is_in_language = getattr(document.writer_input, "language", language) == language
    return child.level is level and is_in_language and not child.is_placeholder


def clone_in(folder: Path) -> Path:
    """A git folder, or the one inside a folder."""
    return next((one for one in (folder, *sorted(folder.iterdir())) if (one / "HEAD").is_file()), folder / ".git")


def main_language(clone: Path) -> str:
    """The language that most of a clone's source files are in; "" where there are none or too many."""
    listing = subprocess.run(
        ["git", "--git-dir", clone, "ls-tree", "-r", "--name-only", "HEAD"], capture_output=True, text=True, check=False
    )
    languages = Counter(filter(None, map(language_of_path, listing.stdout.splitlines())))
    parsed = {language: count for language, count in languages.items() if language in PARSERS}
    return max(parsed, key=lambda one: parsed[one]) if parsed and sum(parsed.values()) <= MAX_FILES else ""


def read_clone(clone: Path, key: str) -> tuple[str, Library, Mapping[str, list[str]]] | None:
    """The documents of a clone's last commit, and the lines of every symbol and file that they are about; None of a
    clone that lacks objects."""
    done = subprocess.run(["git", "--git-dir", clone, "archive", "HEAD"], capture_output=True, check=False)
    if done.returncode:
        return None
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tree:
            tree.extractall(folder, filter="tar")
        parsed, texts = read_folder(Path(folder))
        lines = {one.facts.file_path: _read_lines(Path(folder, one.facts.file_path)) for one in parsed}
        lines |= {path: text.splitlines() for path, (_, text) in texts.items()}
    library = write_library(parsed, texts, key=key)
    for symbol in (symbol for one in parsed for symbol in one.symbols):
        first = max(1, symbol.start_line - 8)
        lines[symbol.id] = lines[symbol.file_path][first - 1 : symbol.end_line]
    return key, library, lines


def _read_lines(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8", "replace").splitlines()


def source_beside(document: Document, sources: Mapping[str, list[str]]) -> str:
    """The first lines of what a document is about, from a few before it; of a folder what it holds."""
    writer_input = document.writer_input
    lines = sources.get(writer_input.id, [])
    if isinstance(writer_input, ModuleInput):
        lines = [*(writer_input.readme or "").splitlines()[:8], *(child.name for child in writer_input.children)]
    return "\n".join(f"    | {line[:150]}" for line in lines[:SOURCE_LINES])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of sources, or of git clones with --draw")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N documents of each level")
    parser.add_argument("--draw", type=int, default=0, metavar="N", help="print N documents of each language")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--language", action="append", choices=LANGUAGES, help="these languages alone")
    arguments = parser.parse_args()
    if arguments.draw:
        for language in arguments.language or LANGUAGES:
            print(f"## {language}\n")
            print(*draw_documents(arguments.folder, language, count=arguments.draw, seed=arguments.seed), sep="\n\n")
        return
    parsed, texts = read_folder(arguments.folder)
    library = write_library(parsed, texts, key=arguments.folder.name)
    for document in sample_documents(library, arguments.show) if arguments.show else ():
        print(format_document(document), end="\n\n")
    figures = measure(library)
    Console(width=160).print(figures_table(arguments.folder.name, figures))
    print(json.dumps({"folder": arguments.folder.name, **figures}))


if __name__ == "__main__":
    main()
