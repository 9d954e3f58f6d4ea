"""How many of the functions and classes that Universal Ctags finds are found, and how fast.

    python benchmarks/ctags_completeness.py FOLDER LANGUAGE [--kinds function,method] [--examples 5] [--exclude vendor]

LANGUAGE is a name of this project (`cpp`, `c-sharp`, `bash`, …). Reads every file
of that language below FOLDER with both programs and counts, per kind of ctags,
the tags for which there is a symbol: same file, same name, and a line from two
before the symbol's first to two after its last (a tag's line is the name's, a
symbol's that of its first attribute). A symbol answers for one tag, the nearest
first; one at the very line of a tag answers for it even if it is called
otherwise, as what a macro like `TEST(Suite, Case)` makes. `--exclude` leaves out
paths with that text in them. The time is that of one process, beside the bare
parse of tree-sitter.

Wants the program `ctags` (`apt-get install universal-ctags`). It is no
authority: it reads no grammar, so look at the missed ones before believing.
"""

import argparse
import json
import re
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from tree_sitter import Language, Parser

from codesum_pipeline.model.errors import SkippedFile
from codesum_pipeline.model.options import HashPolicy
from codesum_pipeline.model.symbols import Symbol, SymbolType
from codesum_pipeline.parsing.parsers import DECLARATIONS, parse_file
from codesum_pipeline.source.decoding import decode_text
from codesum_pipeline.source.languages import language_of_path

# What ctags calls a language, where that is not its name here with a capital.
CTAGS_NAMES = {
    "bash": "Sh",
    "c-sharp": "C#",
    "cpp": "C++",
    "javascript": "JavaScript",
    "php": "PHP",
    "tsx": "TypeScript",
    "typescript": "TypeScript",
}
# Languages whose functions are written as clauses: each is a tag, and all are one symbol.
CLAUSAL = frozenset({"elixir", "haskell"})
FUNCTION_KINDS = frozenset({
    "function", "func", "method", "singletonMethod", "methodSpec", "constructor", "getter", "setter", "generator",
    "macro", "operator", "delegate", "guard", "callback",
})  # fmt: skip
CLASS_KINDS = frozenset({
    "class", "struct", "interface", "enum", "union", "trait", "object", "module", "protocol", "record", "annotation",
})  # fmt: skip
# What ctags calls what has no name.
ANONYMOUS = re.compile(r"__anon|Anonymous(?:Function|Class)[0-9a-f]{8}")
MARGIN = 2


@dataclass(frozen=True, slots=True)
class Tag:
    """A definition that ctags found."""

    path: str
    line: int
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Read:
    """What our parser found, and what that took."""

    symbols: Mapping[str, tuple[Symbol, ...]]
    megabytes: float
    lines: int
    broken: int
    seconds: float
    bare_seconds: float


def main() -> None:
    """Read, compare, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("language", choices=sorted(declaration.spec.name for declaration in DECLARATIONS))
    parser.add_argument("--kinds", help="kinds of ctags, by commas (default: all that are functions or classes)")
    parser.add_argument("--examples", type=int, default=5, help="missed ones to show per kind")
    parser.add_argument("--exclude", action="append", default=[], metavar="TEXT", help="leave out such paths")
    given = parser.parse_args()
    kinds = frozenset(given.kinds.split(",")) if given.kinds else FUNCTION_KINDS | CLASS_KINDS
    paths = [
        path
        for path in sorted(str(path.relative_to(given.folder)) for path in given.folder.rglob("*") if path.is_file())
        if language_of_path(path) == given.language and not any(text in path for text in given.exclude)
    ]
    read = read_files(given.folder, paths, given.language)
    tags = [tag for tag in find_tags(given.folder, read.symbols, given.language) if tag.kind in kinds]
    missed, renamed = compare(tags, read.symbols, has_clauses=given.language in CLAUSAL)
    totals = Counter(tag.kind for tag in tags)
    print_comparison(read, missed, Counter(tag.kind for tag in renamed), totals, given.examples)


def read_files(folder: Path, paths: Sequence[str], language: str) -> Read:
    """Parse every file; those that are no text are left out."""
    spec = next(declaration.spec for declaration in DECLARATIONS if declaration.spec.name == language)
    bare = Parser(Language(spec.grammar()))
    symbols: dict[str, tuple[Symbol, ...]] = {}
    size = lines = broken = 0
    seconds = bare_seconds = 0.0
    for path in paths:
        data = (folder / path).read_bytes()
        try:
            text = decode_text(data, language).encode()
        except SkippedFile:
            continue
        started = time.process_time()
        bare.parse(text)
        between = time.process_time()
        parsed = parse_file(path, language, data, blob="", hash_policy=HashPolicy.CANONICAL)
        bare_seconds += between - started
        seconds += time.process_time() - between
        size += len(text)
        lines += parsed.facts.lines
        broken += parsed.facts.syntax_errors > 0
        symbols[path] = parsed.symbols
    return Read(symbols, size / 1e6, lines, broken, seconds, bare_seconds)


def find_tags(folder: Path, paths: Mapping[str, Any], language: str) -> Iterator[Tag]:
    """What ctags finds in these files, each read as this language."""
    name = CTAGS_NAMES.get(language, language.capitalize())
    command = ["ctags", "--output-format=json", "--fields=+nKZeS", f"--language-force={name}", "-L", "-", "-f", "-"]
    answer = subprocess.run(
        command, cwd=folder, input="\n".join(paths), capture_output=True, text=True, errors="replace", check=True
    )
    for row in answer.stdout.splitlines():
        tag = json.loads(row)
        is_constant = tag.get("kind") == "macro" and "signature" not in tag
        if tag["_type"] == "tag" and not ANONYMOUS.match(tag["name"]) and not is_constant:
            # Of Lua, ctags gives `module.name` and `class:name` as one name.
            short = re.split(r"[.:]", tag["name"])[-1] if language == "lua" else tag["name"]
            yield Tag(tag["path"], tag["line"], short, tag["kind"])


def compare(
    tags: Sequence[Tag], symbols: Mapping[str, Sequence[Symbol]], *, has_clauses: bool
) -> tuple[list[Tag], list[Tag]]:
    """The tags without a symbol, and those of them at whose line one of the kind begins that is called otherwise."""
    waiting: dict[tuple[str, bool, str], list[Symbol]] = defaultdict(list)
    for path, found in symbols.items():
        for symbol in found:
            waiting[path, symbol.type is SymbolType.CLASS, _plain(symbol.name)].append(symbol)
    missed = []
    for tag in tags:
        candidates = waiting[tag.path, tag.kind in CLASS_KINDS, _plain(tag.name)]
        near = [s for s in candidates if s.start_line - MARGIN <= tag.line <= s.end_line + MARGIN]
        if near and not has_clauses:
            candidates.remove(min(near, key=lambda symbol: abs(symbol.start_line - tag.line)))
        elif not near:
            missed.append(tag)
    begins = {(path, is_class, symbol.start_line) for (path, is_class, _), rest in waiting.items() for symbol in rest}
    renamed = {tag for tag in missed if (tag.path, tag.kind in CLASS_KINDS, tag.line) in begins}
    return [tag for tag in missed if tag not in renamed], [tag for tag in missed if tag in renamed]


def _plain(name: str) -> str:
    return "".join(name.split())


def print_comparison(
    read: Read, missed: Sequence[Tag], renamed: Mapping[str, int], totals: Mapping[str, int], examples: int
) -> None:
    """One row per kind, then examples of what was missed."""
    console = Console(width=140)
    table = Table("kind", "in ctags", "found", "by another name", "missed", "share")
    misses = Counter(tag.kind for tag in missed)
    for kind, total in [*sorted(totals.items()), ("all", sum(totals.values()))]:
        lost, other = (misses[kind], renamed.get(kind, 0)) if kind != "all" else (len(missed), sum(renamed.values()))
        share = f"{1 - lost / total:.2%}" if total else ""
        table.add_row(kind, str(total), str(total - lost - other), str(other), str(lost), share)
    console.print(table)
    for kind in sorted(misses):
        of_kind = [tag for tag in missed if tag.kind == kind]
        step = max(1, len(of_kind) // max(1, examples))
        for tag in of_kind[::step][:examples]:
            console.print(f"missed {kind}: {tag.path}:{tag.line} {tag.name}", markup=False, highlight=False)
    count = sum(map(len, read.symbols.values()))
    console.print(
        f"{len(read.symbols)} files, {read.megabytes:.1f} MB, {read.lines} lines, {count} symbols, "
        f"{read.broken} files with syntax errors",
        f"\n{read.seconds:.1f} s = {read.lines / max(read.seconds, 1e-9):,.0f} lines/s, "
        f"{read.seconds / max(read.bare_seconds, 1e-9):.1f} x the bare parse",
        highlight=False,
    )


if __name__ == "__main__":
    main()
