"""How many definitions are lost: two witnesses that read no grammar of ours, over many clones.

    python -m benchmarks.completeness CLONE... [--ctags] [--language LANGUAGE] [--show 20] [--write FILE]

CLONE is a git directory or a work tree; its files are those of HEAD, each parsed
alone, without an index. The first witness is a line outside comments and
strings that looks like a definition (each language's `definition_lines`;
what is a comment or a string is told by Pygments). It is lost where its file
has no symbol of that name. The second, with `--ctags`, is Universal Ctags: a tag
of a function or class is lost as `benchmarks/ctags.py` says. Lines and tags that
were read and are no definitions are left out by name:
`benchmarks/completeness_false_alarms.txt` says which and why.
"""

import argparse
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Literal, String
from rich.console import Console
from rich.table import Table

from benchmarks.ctags import CLAUSAL, WORDS, Tag, find_tags, missed_tags
from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.file import SkipReason
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.data_model.symbol import Symbol
from codesum_pipeline.foundation.settings.stage_settings import ScanSettings
from codesum_pipeline.source.files.content import judge_content
from codesum_pipeline.source.files.encodings import read_text
from codesum_pipeline.source.files.path_rules import PathRules
from codesum_pipeline.source.git.trees import SYMLINK_MODE
from codesum_pipeline.symbols.parsing.lost_definitions import lines_of, plain_name
from codesum_pipeline.symbols.parsing.parsers import PARSERS, parse_file

FALSE_ALARMS = Path(__file__).with_name("completeness_false_alarms.txt")
LEXERS = {"c-sharp": "csharp", "tsx": "typescript"}
HEADS = (
    "language", "repositories", "files", "skipped", "with errors", "lines", "lost", "share", "left out by name",
    "tags", "lost", "share",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lost:
    """A line that looks like a definition, or a tag, that has no symbol."""

    repository: str
    path: str
    line: int
    language: str
    name: str


@dataclass(slots=True)
class Counts:
    """Of one language: files, those with syntax errors, lines that look like definitions, and the tags of ctags."""

    repositories: set[str] = field(default_factory=set)
    files: int = 0
    skipped: int = 0
    broken: int = 0
    lines: int = 0
    excluded: int = 0
    lost: list[Lost] = field(default_factory=list)
    tags: int = 0
    lost_tags: list[Lost] = field(default_factory=list)

    def add(self, other: "Counts") -> None:
        """Count what another counted, too."""
        self.repositories |= other.repositories
        for counted in fields(self)[1:]:
            setattr(self, counted.name, getattr(self, counted.name) + getattr(other, counted.name))

    def cells(self) -> tuple[object, ...]:
        """What a row of the table shows."""
        share = f"{len(self.lost) / max(1, self.lines):.2%}"
        tags = (self.tags, len(self.lost_tags), f"{len(self.lost_tags) / self.tags:.2%}") if self.tags else ("",) * 3
        counted = (len(self.repositories), self.files, self.skipped, self.broken, self.lines)
        return (*counted, len(self.lost), share, self.excluded, *tags)


def main() -> None:
    """Read, count, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("clones", type=Path, nargs="+")
    parser.add_argument("--ctags", action="store_true", help="ask the second witness, too")
    parser.add_argument("--language", choices=sorted(PARSERS), help="read files of this language only")
    parser.add_argument("--show", type=int, default=0, help="lost lines and lost tags to show per language")
    parser.add_argument("--write", type=Path, help="write the table as Markdown")
    arguments = parser.parse_args()
    counts = {language: Counts() for language in sorted(PARSERS)}
    false_alarms = FalseAlarms.read(FALSE_ALARMS)
    for clone in arguments.clones:
        read_clone(clone, counts, false_alarms, only=arguments.language, with_ctags=arguments.ctags)
    total = Counts()
    for count in counts.values():
        total.add(count)
    rows = [(language, count) for language, count in [*counts.items(), ("all", total)] if count.files]
    print_table(rows)
    for _, count in rows[:-1]:
        print_lost("line", count.lost, arguments.show)
        print_lost("tag", count.lost_tags, arguments.show)
    if arguments.write:
        arguments.write.write_text(format_markdown(rows))


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    """Patterns of repository, path and name, each for lines and tags that define nothing."""

    rows: Sequence[tuple[str, str, str]]

    @classmethod
    def read(cls, path: Path) -> "FalseAlarms":
        """Those of a file: three patterns on each line, and the reason, which is for people."""
        lines = path.read_text().splitlines()
        rows = [line.split(maxsplit=3) for line in lines if line and not line.startswith("#")]
        return cls([(repository, file, name) for repository, file, name, _ in rows])

    def of_repository(self, repository: str) -> "FalseAlarms":
        """Those that speak of a repository."""
        return FalseAlarms([row for row in self.rows if fnmatch(repository, row[0])])

    def has_name(self, path: str, name: str) -> bool:
        """Whether one speaks of this name."""
        return any(fnmatch(path, file) and fnmatch(name, pattern) for _, file, pattern in self.rows)


def read_clone(
    clone: Path, counts: Mapping[str, Counts], false_alarms: FalseAlarms, *, only: str | None, with_ctags: bool
) -> None:
    """Count every program file of a clone's HEAD."""
    repository = (clone.parent if clone.name in ("repo", ".git") else clone).name.removesuffix(".git")
    ours = false_alarms.of_repository(repository)
    symbols: dict[str, dict[str, tuple[Symbol, ...]]] = {}
    rules = PathRules.of(RepositoryEntry("clone", "clone"), ScanSettings())
    with tempfile.TemporaryDirectory() as folder:
        for path, mode, data in files_of(clone):
            verdict = judge_content(path, data)
            language = verdict.language
            why = rules.why_skipped(path, mode=mode, size=len(data)) or verdict.reason
            if language not in counts or only not in (None, language) or mode == SYMLINK_MODE:
                continue
            if why not in (None, SkipReason.GENERATED, SkipReason.MINIFIED):
                continue
            count = counts[language]
            if why is not None:
                count.skipped += 1
                continue
            found = read_file(repository, path, language, data, count, ours)
            if found is not None:
                symbols.setdefault(language, {})[path] = found
                if with_ctags:
                    copy = Path(folder, path)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_bytes(data)
        if with_ctags:
            for language, of_language in symbols.items():
                count_tags(repository, Path(folder), language, of_language, counts[language], ours)


def count_tags(
    repository: str,
    folder: Path,
    language: str,
    symbols: Mapping[str, tuple[Symbol, ...]],
    count: Counts,
    false_alarms: FalseAlarms,
) -> None:
    """Count the tags of one language's files, and those of which their file has no symbol of any kind.

    A missed one in a comment or string is no tag.
    """
    tags = list(find_tags(folder, symbols, language))
    names = {path: {plain_name(symbol.name) for symbol in found} for path, found in symbols.items()}
    missed = [
        tag
        for tag in missed_tags(tags, symbols, has_clauses=language in CLAUSAL)
        if plain_name(tag.name) not in names[tag.path]
    ]
    texts = {path: read_text((folder / path).read_bytes(), language).text for path in {tag.path for tag in missed}}
    silent = {path: silent_spans(text, language) for path, text in texts.items()}
    in_code = [tag for tag in missed if _is_in_code(tag, texts[tag.path], silent[tag.path], language)]
    lost = [tag for tag in in_code if not false_alarms.has_name(tag.path, tag.name)]
    count.tags += len(tags) - (len(missed) - len(lost))
    count.excluded += len(in_code) - len(lost)
    count.lost_tags += [Lost(repository, tag.path, tag.line, language, tag.name) for tag in lost]


def _is_in_code(tag: Tag, text: str, silent: Sequence[tuple[int, int]], language: str) -> bool:
    """Whether the line of a tag names it, outside of comments and strings, with a word that defines."""
    start = 0
    for _ in range(tag.line - 1):
        start = text.find("\n", start) + 1
    line = text[start:].partition("\n")[0]
    found = re.search(rf"(?<!\w){re.escape(tag.name)}(?!\w)", line)
    if found is None or (language in WORDS and not WORDS[language].search(line)):
        return False
    return not any(first <= start + found.start() < end for first, end in silent)


def files_of(clone: Path) -> Iterator[tuple[str, str, bytes]]:
    """Path, mode and bytes of each file of HEAD that may be a program."""
    listed = subprocess.run(
        ["git", "-C", str(clone), "ls-tree", "-r", "-z", "HEAD"], capture_output=True, check=True
    ).stdout.decode("utf-8", "replace")
    rows = [row.split("\t", 1) for row in listed.split("\0") if row]
    wanted = [(path, *head.split()[:3:2]) for head, path in rows if head.split()[1] == "blob"]
    with subprocess.Popen(
        ["git", "-C", str(clone), "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdin and reader.stdout
        for path, mode, blob in wanted:
            reader.stdin.write(f"{blob}\n".encode())
            reader.stdin.flush()
            head = reader.stdout.readline().split()
            if head[-1] == b"missing":
                continue
            data = reader.stdout.read(int(head[2]))
            reader.stdout.read(1)
            yield path, mode, data
        reader.stdin.close()


def read_file(
    repository: str,
    path: str,
    language: str,
    data: bytes,
    count: Counts,
    false_alarms: FalseAlarms,
) -> tuple[Symbol, ...] | None:
    """Count what one file has and what of it is lost; its symbols, or None where it is no text."""
    try:
        text = read_text(data, language).text
        parsed = parse_file(path, language, data, blob="", hash_policy=HashPolicy.CANONICAL)
    except SkippedFile:
        return None
    lines = [*lines_of(PARSERS[language].declaration, text.encode())]
    names = {plain_name(symbol.name) for symbol in parsed.symbols}
    missing = [line for line in lines if plain_name(line.name) not in names]
    silent = silent_spans(text, language) if missing else []
    outside = [line for line in missing if not any(start <= line.start < end for start, end in silent)]
    lost = [line for line in outside if not false_alarms.has_name(path, line.name)]
    count.repositories.add(repository)
    count.files += 1
    count.broken += parsed.facts.syntax_errors > 0
    count.excluded += len(outside) - len(lost)
    count.lines += len(lines) - (len(missing) - len(lost))
    count.lost += [Lost(repository, path, text.count("\n", 0, line.start) + 1, language, line.name) for line in lost]
    return parsed.symbols


def silent_spans(text: str, language: str) -> list[tuple[int, int]]:
    """Where comments and strings are, in characters, as Pygments reads the text."""
    spans: list[tuple[int, int]] = []
    for start, kind, value in lexer_of(language).get_tokens_unprocessed(text):
        is_silent = kind in Comment or kind in String or kind is Literal
        if is_silent and kind not in String.Interpol and kind not in String.Symbol:
            spans.append((start, start + len(value)))
    return spans


@cache
def lexer_of(language: str) -> Lexer:
    """The lexer of a language, by Pygments' name for it."""
    options = {"startinline": False} if language == "php" else {}
    return get_lexer_by_name(LEXERS.get(language, language), **options)


def print_table(rows: Sequence[tuple[str, Counts]]) -> None:
    """One row per language."""
    table = Table(*HEADS)
    for language, count in rows:
        table.add_row(language, *map(str, count.cells()))
    Console(width=160).print(table)


def print_lost(witness: str, lost: Sequence[Lost], show: int) -> None:
    """Some of what is lost, from all over."""
    step = max(1, len(lost) // max(1, show))
    for one in lost[::step][:show]:
        print(f"{witness} {one.language} {one.repository} {one.path}:{one.line} {one.name}")


def format_markdown(rows: Sequence[tuple[str, Counts]]) -> str:
    """The table for a page."""
    lines = [f"| {' | '.join(HEADS)} |", "|---|" + "---:|" * (len(HEADS) - 1)]
    lines += [f"| {' | '.join([language, *map(str, count.cells())])} |" for language, count in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
