"""The extractive texts of a folder or a clone, written without a build: in seconds, from what its parsers find."""

import io
import subprocess
import tarfile
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codesum_pipeline.evidence.inputs import (
    AnyInput,
    ChildText,
    ClassInput,
    FileInput,
    FunctionInput,
    Holder,
    ModuleInput,
    TextFileInput,
    UpperInput,
    children_of,
)
from codesum_pipeline.evidence.own_sources import own_source
from codesum_pipeline.foundation.data_model.document import Level, PurposeSource, WrittenText
from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE, module_path_of, parent_modules, without_suffix
from codesum_pipeline.foundation.data_model.symbol import FileFacts, Symbol, SymbolType
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.foundation.settings.stage_settings import FilterSettings
from codesum_pipeline.foundation.store.rows import from_table, to_table
from codesum_pipeline.source.files.content import judge_content
from codesum_pipeline.symbols.parsing.parsers import PARSERS, parse_file
from codesum_pipeline.symbols.parsing.text import ParsedFile
from codesum_pipeline.texts.summaries.function_texts import trivial_functions
from codesum_pipeline.texts.summaries.holders import Holders
from codesum_pipeline.texts.summaries.placeholders import is_empty
from codesum_pipeline.texts.summaries.wanted_texts import EXTRACTIVE, PLACEHOLDER
from codesum_pipeline.texts.summaries.writers import write_text

MAX_BYTES = 1_000_000
# No larger clones are read.
MAX_FILES = 1500


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

    def add(
        self, writer_input: AnyInput, level: Level, name: str, *, is_trivial: bool, holder: Holder | None = None
    ) -> None:
        """Write one document with the writer that a build would choose; a `holder` is that of a function."""
        text = write_text(writer_input, PLACEHOLDER if is_trivial else EXTRACTIVE, holder)
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
    facts = to_table([one.facts for one in parsed], FileFacts).select(["file_path", "language", "docstring"])
    holders = Holders.of_tables(to_table(symbols, Symbol), facts)
    _write_functions(library, [symbol for symbol in symbols if symbol.type is SymbolType.FUNCTION], holders)
    within = defaultdict(list)
    types = {symbol.id: symbol.type for symbol in symbols}
    for symbol in symbols:
        within[symbol.parent_id or symbol.file_path].append(symbol.id)
    classes = [symbol for symbol in symbols if symbol.type is SymbolType.CLASS]
    for symbol in sorted(classes, key=lambda one: -one.id.count("::")):
        members = library.children(_members(within[symbol.id], types))
        holder = holders.of_symbol(symbol.parent_id, symbol.file_path)
        name = without_suffix(symbol.id).rpartition("::")[2]
        library.add_upper(class_input(symbol, members, holder), Level.CLASS, name)
    for one in parsed:
        path = one.facts.file_path
        file = file_input(one, library.children(within[path]))
        library.add_upper(file, Level.FILE, file.name)
    for path, (language, text) in texts.items():
        name = path.rpartition("/")[2]
        library.add_upper(TextFileInput(path, name, language, text), Level.FILE, name)
    _write_modules(library, [*(one.facts.file_path for one in parsed), *texts], texts, key)
    return library


def _write_functions(library: Library, symbols: Sequence[Symbol], holders: Holders) -> None:
    table = to_table(symbols, Symbol)
    trivial = trivial_functions(table, FilterSettings())
    started = time.perf_counter()
    for function, symbol in zip(from_table(table, FunctionInput), symbols, strict=True):
        name, is_trivial = without_suffix(function.id).rpartition("::")[2], function.id in trivial
        holder = holders.of_symbol(symbol.parent_id, symbol.file_path)
        library.add(function, Level.FUNCTION, name, is_trivial=is_trivial, holder=holder)
    library.write_s = time.perf_counter() - started
    library.bodies = {symbol.id: symbol.canonical_source for symbol in symbols}


def _members(ids: Sequence[str], types: Mapping[str, SymbolType]) -> list[str]:
    return [id_ for id_ in ids if id_ in types]


def class_input(symbol: Symbol, children: tuple[ChildText, ...], holder: Holder | None = None) -> ClassInput:
    """A class as its writer sees it."""
    fields = tuple(one.text for one in symbol.facts.fields)
    return ClassInput(
        symbol.id, symbol.qualified_name, symbol.name, symbol.language, symbol.signature, symbol.docstring,
        symbol.bases, symbol.modifiers, fields, children, holder, own_source(symbol.canonical_source),
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
        readme_path = next(
            (
                path
                for path in sorted(texts)
                if module_path_of(path) == folder and path.rpartition("/")[2].lower().startswith("readme")
            ),
            "",
        )
        name = key if folder == ROOT_MODULE else folder.rpartition("/")[2]
        children = library.children(sorted(within[folder] - {folder}))
        readme = texts[readme_path][1] if readme_path else None
        shown = ModuleInput(folder, name, readme, children, readme_path.rpartition("/")[2] or None)
        library.add_upper(shown, Level.MODULE, name)


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
