"""The calls of a tree as the pipeline resolves them, each with the place of its callee's name."""

import os
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codesum_pipeline.foundation.data_model.edge import CallRow, Edge
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.file import FileStatus, SourceFile
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.data_model.symbol import FileFacts, Symbol, SymbolType
from codesum_pipeline.foundation.settings.stage_settings import ScanSettings
from codesum_pipeline.foundation.store.rows import to_table
from codesum_pipeline.graph.resolvers.families import LoadedFiles, families_of, indexed_paths, load_files
from codesum_pipeline.graph.resolvers.file_edges import EdgeTable
from codesum_pipeline.source.files.content import judge_content
from codesum_pipeline.source.files.encodings import read_text
from codesum_pipeline.source.files.origins import foreign_folders, is_below
from codesum_pipeline.source.files.path_rules import PathRules
from codesum_pipeline.symbols.parsing.parsers import parse_file


@dataclass(frozen=True, slots=True)
class PlacedCall:
    """A call with the place of its callee's last name: 1-based line, 0-based column in bytes; line 0 for none."""

    site: CallRow
    language: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Tree:
    """A folder as the pipeline reads it: decoded lines and languages by path, symbols by id, calls, all edges, and the
    seconds of resolving them."""

    folder: Path
    lines: Mapping[str, list[str]]
    languages: Mapping[str, str]
    symbols: Mapping[str, Symbol]
    calls: list[PlacedCall]
    resolve_s: float
    edges: list[Edge] = field(default_factory=list)

    def line(self, path: str, number: int) -> str:
        """A 1-based line; "" beyond the file's end."""
        lines = self.lines.get(path, [])
        return lines[number - 1] if 0 < number <= len(lines) else ""


_IMPLEMENTING = (".js", ".mjs", ".cjs", ".d.ts")


def _written_names(symbol: Symbol) -> list[str]:
    """The names of a definition and those around it."""
    return [name.rstrip("_") or name for name in symbol.qualified_name.split(".")]


class Definitions:
    """The symbols of a tree by where they are defined."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._named: defaultdict[tuple[str, str], list[Symbol]] = defaultdict(list)
        self._classes: defaultdict[str, list[Symbol]] = defaultdict(list)
        for symbol in tree.symbols.values():
            self._named[symbol.file_path, symbol.name].append(symbol)
            if symbol.type is SymbolType.CLASS:
                self._classes[symbol.file_path].append(symbol)

    def at(self, path: str, line: int, name: str) -> Symbol | None:
        """The symbol of this name whose head has it on this line."""
        around = [s for s in self._named.get((path, name), ()) if s.start_line <= line <= s.end_line]
        found = min(around, key=lambda s: (s.end_line - s.start_line, s.id), default=None)
        return found if found is not None and self._name_line(found) >= line else None

    def signatures(self, symbol: Symbol) -> Iterator[str]:
        """The ids of all symbols that have a symbol's name in the same place."""
        for other in self._named[symbol.file_path, symbol.name]:
            if (other.parent_id, other.qualified_name) == (symbol.parent_id, symbol.qualified_name):
                yield other.id

    def implementations(self, declared: Symbol, stem: str) -> Iterator[str]:
        """The ids of what a `.d.ts` file declares, in it and in the JavaScript files beside it."""
        names = _written_names(declared)
        for suffix in _IMPLEMENTING:
            for symbol in self._named.get((f"{stem}{suffix}", names[-1]), ()):
                if _written_names(symbol)[-len(names) :] == names[-len(_written_names(symbol)) :]:
                    yield symbol.id

    def class_around(self, path: str, line: int) -> Symbol | None:
        """The innermost class that a line stands in."""
        around = [s for s in self._classes.get(path, ()) if s.start_line <= line <= s.end_line]
        return min(around, key=lambda s: (s.end_line - s.start_line, s.id), default=None)

    def _name_line(self, symbol: Symbol) -> int:
        """The first line that has the symbol's name, decorators left out."""
        for number in range(symbol.start_line, symbol.end_line + 1):
            text = self._tree.line(symbol.file_path, number)
            if symbol.name in text and not text.lstrip().startswith("@"):
                return number
        return symbol.start_line


def read_tree(folder: Path, only: Collection[str] = ()) -> Tree:
    """Parse and resolve all files that the pipeline would index; `only`: of these languages, if any are named."""
    places, sources = _list_files(folder)
    lines: dict[str, list[str]] = {}
    symbols: dict[str, Symbol] = {}
    facts: list[FileFacts] = []
    positions: dict[str, tuple[int, ...]] = {}
    for place in places:
        if only and place.language not in only and not place.path.endswith((".json", ".toml", ".mod")):
            continue
        try:
            parsed = parse_file(
                place.path, place.language, sources[place.path], blob="", hash_policy=HashPolicy.CANONICAL
            )
        except CodesumError:
            continue
        lines[place.path] = read_text(sources[place.path], place.language).text.split("\n")
        symbols.update((symbol.id, symbol) for symbol in parsed.symbols)
        positions[place.path] = parsed.facts.call_places or ()
        facts.append(parsed.facts)
    started = time.process_time()
    tables = resolve_all(load_files(to_table(facts, FileFacts).to_pylist()), places)
    sites = {path: table.calls for path, table in tables.items()}
    resolve_s = time.process_time() - started
    languages = {place.path: place.language for place in places}
    calls = [call for path, found in sites.items() for call in _place_calls(found, languages[path], positions[path])]
    edges = [edge for table in tables.values() for edge in table.edges()]
    return Tree(folder, lines, languages, symbols, calls, resolve_s, edges)


def resolve_all(loaded: LoadedFiles, places: list[SourceFile]) -> dict[str, EdgeTable]:
    """The edges of each file, resolved as a build resolves them."""
    tables: dict[str, EdgeTable] = {}
    for family in families_of(loaded, places, indexed_paths(places), root="."):
        edges_of = family.resolver({path: family.telling_names(path) for path in family.rows})
        tables.update((path, edges_of(path)) for path in family.rows)
    return tables


def _place_calls(sites: list[CallRow], language: str, positions: tuple[int, ...]) -> Iterator[PlacedCall]:
    for site, line, column in zip(sites, positions[::2], positions[1::2], strict=True):
        yield PlacedCall(site, language, line, column)


def _list_files(folder: Path) -> tuple[list[SourceFile], dict[str, bytes]]:
    """The files that the scan rules index, by path, and their contents."""
    rules = PathRules.of(RepositoryEntry("graded", str(folder)), ScanSettings())
    found: list[SourceFile] = []
    sources: dict[str, bytes] = {}
    sizes: dict[str, int] = {}
    for path in sorted(_find_paths(folder, rules)):
        size = (folder / path).stat().st_size
        sizes[path] = size
        if rules.why_skipped(path, mode="100644", size=size) is not None:
            continue
        data = (folder / path).read_bytes()
        verdict = judge_content(path, data)
        if verdict.reason is None:
            sources[path] = data
            is_test, is_vendored = rules.is_test(path), rules.is_vendored(path)
            found.append(
                SourceFile(path, "", size, "", verdict.language, FileStatus.INDEXED, None, is_test, is_vendored)
            )
    foreign = foreign_folders(
        sizes, lambda paths: {path: (folder / path).read_text("utf-8", "replace") for path in paths}
    )
    return [place for place in found if not is_below(place.path, foreign)], sources


def _find_paths(folder: Path, rules: PathRules) -> Iterator[str]:
    for at, folders, names in os.walk(folder):
        here = Path(at).relative_to(folder)
        folders[:] = [name for name in folders if name != ".git" and not rules.skip.match_file(f"{here / name}/")]
        yield from ((here / name).as_posix() for name in names if not (Path(at) / name).is_symlink())
