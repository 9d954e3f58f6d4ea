"""How many definitions are lost: two witnesses that read no grammar of ours, over many clones.

    python benchmarks/completeness.py CLONE... [--ctags] [--language LANGUAGE] [--show 20] [--write FILE]

CLONE is a git directory or a work tree; its files are those of HEAD, each parsed
alone, without an index. The first witness is a line outside comments and
strings that looks like a definition (patterns of `parsing/definition_lines`;
what is a comment or a string is told by Pygments). It is lost where its file
has no symbol of that name. Lines that were read and are no definitions are left
out by name: `benchmarks/completeness_false_alarms.txt` says which and why. The
second, with `--ctags`, is Universal Ctags, as in `ctags_completeness.py`.
"""

import argparse
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Literal, String
from rich.console import Console
from rich.table import Table

from benchmarks.ctags_completeness import CLASS_KINDS, CLAUSAL, FUNCTION_KINDS, compare, find_tags
from codesum_pipeline.model.errors import SkippedFile
from codesum_pipeline.model.files import SkipReason
from codesum_pipeline.model.options import HashPolicy, ScanOptions
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.model.symbols import Symbol
from codesum_pipeline.parsing.definition_lines import LANGUAGES, definition_lines
from codesum_pipeline.parsing.parsers import parse_file
from codesum_pipeline.source.content import judge_content
from codesum_pipeline.source.decoding import decode_text
from codesum_pipeline.source.rules import SYMLINK_MODE, PathRules

FALSE_ALARMS = Path(__file__).with_name("completeness_false_alarms.txt")
LEXERS = {"c-sharp": "csharp", "tsx": "typescript"}


@dataclass(frozen=True, slots=True)
class Lost:
    """A line that looks like a definition and has no symbol."""

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
    missed_tags: int = 0

    @property
    def share(self) -> float:
        return len(self.lost) / max(1, self.lines)


def main() -> None:
    """Read, count, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("clones", type=Path, nargs="+")
    parser.add_argument("--ctags", action="store_true", help="ask the second witness, too")
    parser.add_argument("--language", choices=sorted(LANGUAGES), help="read files of this language only")
    parser.add_argument("--show", type=int, default=0, help="lost lines to show per language")
    parser.add_argument("--write", type=Path, help="write the table as Markdown")
    given = parser.parse_args()
    counts = {language: Counts() for language in sorted(LANGUAGES)}
    false_alarms = read_false_alarms(FALSE_ALARMS)
    for clone in given.clones:
        read_clone(clone, counts, false_alarms, only=given.language, with_ctags=given.ctags)
    print_table(counts, given.show)
    if given.write:
        given.write.write_text(markdown(counts))


def read_false_alarms(path: Path) -> Sequence[tuple[str, str, str]]:
    """The patterns of repository, path and name on each line, without the reason that ends it."""
    rows = [line.split(maxsplit=3) for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return [(repository, file, name) for repository, file, name, _ in rows]


def read_clone(
    clone: Path,
    counts: Mapping[str, Counts],
    false_alarms: Sequence[tuple[str, str, str]],
    *,
    only: str | None,
    with_ctags: bool,
) -> None:
    """Count every program file of a clone's HEAD."""
    repository = (clone.parent if clone.name in ("repo", ".git") else clone).name.removesuffix(".git")
    ours = [row for row in false_alarms if fnmatch(repository, row[0])]
    symbols: dict[str, dict[str, tuple[Symbol, ...]]] = {}
    rules = PathRules.of(RepositoryEntry("clone", "clone"), ScanOptions())
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
                kinds = FUNCTION_KINDS | CLASS_KINDS
                tags = [tag for tag in find_tags(Path(folder), of_language, language) if tag.kind in kinds]
                missed, _ = compare(tags, of_language, has_clauses=language in CLAUSAL)
                counts[language].tags += len(tags)
                counts[language].missed_tags += len(missed)


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
    false_alarms: Sequence[tuple[str, str, str]],
) -> tuple[Symbol, ...] | None:
    """Count what one file has and what of it is lost; its symbols, or None where it is no text."""
    try:
        text = decode_text(data, language)
        parsed = parse_file(path, language, data, blob="", hash_policy=HashPolicy.CANONICAL)
    except SkippedFile:
        return None
    lines = list(definition_lines(text, language))
    names = {plain(symbol.name) for symbol in parsed.symbols}
    missing = [line for line in lines if plain(line.name) not in names]
    silent = silent_spans(text, language) if missing else []
    outside = [line for line in missing if not any(start <= line.start < end for start, end in silent)]
    lost = [
        line
        for line in outside
        if not any(fnmatch(path, file) and fnmatch(line.name, name) for _, file, name in false_alarms)
    ]
    count.repositories.add(repository)
    count.files += 1
    count.broken += parsed.facts.syntax_errors > 0
    count.excluded += len(outside) - len(lost)
    count.lines += len(lines) - (len(missing) - len(lost))
    count.lost += [Lost(repository, path, text.count("\n", 0, line.start) + 1, language, line.name) for line in lost]
    return parsed.symbols


def plain(name: str) -> str:
    """A name without what a language allows to be left out around it."""
    return " ".join(name.split()).replace("::", ":").strip("`").removeprefix("r#").removeprefix("#").removeprefix("~")


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


def print_table(counts: Mapping[str, Counts], show: int) -> None:
    """One row per language, then lines that are lost."""
    console = Console(width=160)
    heads = (
        "language", "repositories", "files", "skipped", "with errors", "lines", "lost", "share", "excluded", "tags",
        "missed",
    )  # fmt: skip
    table = Table(*heads)
    for language, count in [*counts.items(), ("all", total(counts))]:
        table.add_row(language, *map(str, cells(count)))
    console.print(table)
    for count in counts.values():
        step = max(1, len(count.lost) // max(1, show))
        for lost in count.lost[::step][:show]:
            print(f"{lost.language} {lost.repository} {lost.path}:{lost.line} {lost.name}")


def total(counts: Mapping[str, Counts]) -> Counts:
    """All languages as one."""
    of_all = list(counts.values())
    return Counts(
        set().union(*(count.repositories for count in of_all)),
        sum(count.files for count in of_all),
        sum(count.skipped for count in of_all),
        sum(count.broken for count in of_all),
        sum(count.lines for count in of_all),
        sum(count.excluded for count in of_all),
        [lost for count in of_all for lost in count.lost],
        sum(count.tags for count in of_all),
        sum(count.missed_tags for count in of_all),
    )


def cells(count: Counts) -> tuple[object, ...]:
    """What a row of the table shows of one language."""
    return (
        len(count.repositories), count.files, count.skipped, count.broken, count.lines, len(count.lost),
        f"{count.share:.2%}", count.excluded, count.tags or "", count.missed_tags if count.tags else "",
    )  # fmt: skip


def markdown(counts: Mapping[str, Counts]) -> str:
    """The table for a page."""
    heads = (
        "| language | repositories | files | skipped | with errors | lines | lost | share | left out by name | tags "
        "| missed |"
    )
    rows = [heads, "|---|" + "---:|" * 10]
    rows += [
        f"| {language} | " + " | ".join(map(str, cells(count))) + " |"
        for language, count in [*counts.items(), ("all", total(counts))]
    ]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    main()
