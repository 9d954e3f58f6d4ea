"""How many of the call graph's edges are right in languages other than Python.

    python benchmarks/declared_graph_precision.py FOLDER [--language go] [--sample 40] [--seed 0] [--unknown 20]

Parses and resolves all files below FOLDER, prints what became of the calls and
how long the graph took beside the parse, draws edges evenly over the reasons,
and prints each with the lines of the caller that name it, to be checked by a
person.
"""

import argparse
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.graded_calls import resolve_all
from codesum_pipeline.foundation.data_model.edge import CallRow
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.file import FileStatus, SourceFile
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import FileFacts, Symbol
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.foundation.store.rows import to_table
from codesum_pipeline.graph.resolvers.families import load_files
from codesum_pipeline.graph.resolvers.file_edges import CallOutcome
from codesum_pipeline.symbols.parsing.parsers import PARSERS, parse_file

SKIPPED = frozenset({".git", "node_modules"})


@dataclass(frozen=True, slots=True)
class Repository:
    symbols: dict[str, Symbol]
    lines: Counter[str]
    languages: dict[str, str]
    sites: dict[str, list[CallRow]]
    parse_s: float
    graph_s: float

    def calls_in(self, language: str | None) -> list[CallRow]:
        """The calls of one language, or of all."""
        paths = (path for path in sorted(self.sites) if language in (None, self.languages[path]))
        return [site for path in paths for site in self.sites[path]]


def read_repository(folder: Path) -> Repository:
    """Parse and resolve every file below a folder."""
    symbols: dict[str, Symbol] = {}
    lines: Counter[str] = Counter()
    facts = []
    started = time.process_time()
    for path, language in source_files(folder):
        name = path.relative_to(folder).as_posix()
        try:
            parsed = parse_file(name, language, path.read_bytes(), blob="", hash_policy=HashPolicy.CANONICAL)
        except CodesumError:
            continue
        lines[language] += parsed.facts.lines
        symbols.update((symbol.id, symbol) for symbol in parsed.symbols)
        facts.append(parsed.facts)
    parse_s = time.process_time() - started
    started = time.process_time()
    loaded = load_files(to_table(facts, FileFacts).to_pylist())
    languages = {fact.file_path: fact.language for fact in facts}
    tables = resolve_all(
        loaded,
        [SourceFile(path, "", 0, "", of, FileStatus.INDEXED, None, False, False) for path, of in languages.items()],
    )
    sites = {path: table.calls for path, table in tables.items()}
    return Repository(symbols, lines, languages, sites, parse_s, time.process_time() - started)


def source_files(folder: Path) -> Iterator[tuple[Path, str]]:
    """The files of a repository and their languages."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and not SKIPPED.intersection(path.parts):
            language = language_of_path(path.relative_to(folder).as_posix()) or "text"
            if path.stat().st_size < 1_000_000 and (language in PARSERS or path.suffix in (".json", ".toml", ".mod")):
                yield path, language


def draw_calls(sites: Sequence[CallRow], count: int, seed: int) -> list[CallRow]:
    """At most `count` calls, as evenly over the reasons as they allow."""
    by_reason: defaultdict[str, list[CallRow]] = defaultdict(list)
    for site in sites:
        by_reason[str(site.reason)].append(site)
    chooser = random.Random(seed)
    for group in by_reason.values():
        chooser.shuffle(group)
    drawn: list[CallRow] = []
    while len(drawn) < count and any(by_reason.values()):
        for reason in sorted(by_reason):
            if by_reason[reason] and len(drawn) < count:
                drawn.append(by_reason[reason].pop())
    return drawn


def print_calls(folder: Path, repository: Repository, sites: Sequence[CallRow]) -> None:
    """Print calls with the caller's lines that name them, and their target."""
    for number, site in enumerate(sites, start=1):
        caller = repository.symbols.get(site.caller_id)
        text = (folder / site.file_path).read_text("utf-8", "replace").splitlines()
        start, end = (caller.start_line, caller.end_line) if caller else (1, len(text))
        print(f"\n[{number}] {site.reason or site.outcome}  {site.caller_id}:{start}  calls {site.callee}")
        naming = [line for line in range(start, min(end, len(text)) + 1) if site.callee in text[line - 1]]
        for line in naming[:3]:
            print(f"    {line}: {text[line - 1].strip()[:150]}")
        if site.target in repository.symbols:
            target = repository.symbols[site.target]
            print(f"    -> {target.id}:{target.start_line}  {target.signature.splitlines()[0][:120]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--language")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--unknown", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reason")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    repository = read_repository(folder)
    for language in sorted({repository.languages[path] for path in repository.sites}):
        sites = repository.calls_in(language)
        outcomes = Counter(str(site.outcome) for site in sites)
        print(
            language,
            {name: f"{count / max(len(sites), 1):.1%}" for name, count in sorted(outcomes.items())},
            len(sites),
        )
        print("   ", dict(sorted(Counter(str(site.reason) for site in sites if site.reason).items())))
    total = sum(repository.lines[language] for language in PARSERS)
    print(f"{total} lines: parse {repository.parse_s:.2f} s, graph {repository.graph_s:.2f} s")
    kept = repository.calls_in(arguments.language)
    resolved = [site for site in kept if site.outcome is CallOutcome.RESOLVED]
    if arguments.reason:
        resolved = [site for site in resolved if site.reason == arguments.reason]
    print_calls(folder, repository, draw_calls(resolved, arguments.sample, arguments.seed))
    open_ones = [site for site in kept if site.outcome in (CallOutcome.UNKNOWN, CallOutcome.AMBIGUOUS)]
    print_calls(
        folder, repository, random.Random(arguments.seed).sample(open_ones, min(arguments.unknown, len(open_ones)))
    )


if __name__ == "__main__":
    main()
