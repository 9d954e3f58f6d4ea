"""How many of the call graph's edges are right.

    python benchmarks/graph_precision.py FOLDER [--sample 40] [--seed 0] [--show] [--jedi 300] [--unknown 20]

Resolves the calls of the Python files below FOLDER, draws some that stay inside
it, evenly over the reasons, and prints each with the line of the call and of
its target, to be checked by a person. Where jedi can be imported it gives a
second opinion on a larger draw: an edge agrees when jedi goes to the same
definition, and is left out where jedi goes nowhere or only back to a name.
"""

import argparse
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Query, QueryCursor

from benchmarks.graded_calls import resolve_all
from codesum_pipeline.foundation.data_model.edge import CallRow
from codesum_pipeline.foundation.data_model.file import FileStatus, SourceFile
from codesum_pipeline.foundation.data_model.symbol import FileFacts, Symbol
from codesum_pipeline.foundation.store.rows import to_table
from codesum_pipeline.graph.resolvers.families import load_files
from codesum_pipeline.graph.resolvers.file_edges import CallOutcome
from codesum_pipeline.symbols.parsing.parsers import PARSERS

_LANGUAGE = Language(tree_sitter_python.language())
_CALLEES = Query(
    _LANGUAGE,
    """
    (call function: (_) @callee)
    (decorator (identifier) @callee)
    (decorator (attribute attribute: (identifier) @accessor) @callee
      (#not-any-of? @accessor "setter" "getter" "deleter"))
    """,
)


@dataclass(frozen=True, slots=True)
class Located:
    """A call with the place of the last name of its callee: 1-based line, 0-based column."""

    site: CallRow
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Repository:
    folder: Path
    symbols: dict[str, Symbol]
    calls: list[Located]
    resolve_s: float
    lines: int


def read_repository(folder: Path) -> Repository:
    """Parse and resolve every Python file below a folder."""
    sources = {path.relative_to(folder.parent).as_posix(): path for path in sorted(folder.rglob("*.py"))}
    symbols: dict[str, Symbol] = {}
    facts: list[FileFacts] = []
    lines = 0
    for name, path in sources.items():
        text = path.read_bytes().replace(b"\r\n", b"\n")
        lines += text.count(b"\n")
        parsed = PARSERS["python"].parse(text, name)
        symbols.update((symbol.id, symbol) for symbol in parsed.symbols)
        facts.append(parsed.facts)
    files = [SourceFile(name, "", 0, "", "python", FileStatus.INDEXED, None, False, False) for name in sources]
    started = time.perf_counter()
    tables = resolve_all(load_files(to_table(facts, FileFacts).to_pylist()), files)
    resolve_s = time.perf_counter() - started
    calls = [call for name in tables for call in _locate_calls(sources[name], tables[name].calls)]
    return Repository(folder.parent, symbols, calls, resolve_s, lines)


def _locate_calls(path: Path, sites: Sequence[CallRow]) -> Iterator[Located]:
    tree = Parser(_LANGUAGE).parse(path.read_bytes().replace(b"\r\n", b"\n"))
    nodes = QueryCursor(_CALLEES).captures(tree.root_node).get("callee", [])
    nodes.sort(key=lambda node: (node.start_byte, -node.end_byte))
    for site, node in zip(sites, nodes, strict=True):
        name: Node = (node.child_by_field_name("attribute") if node.type == "attribute" else node) or node
        yield Located(site, name.start_point[0] + 1, name.start_point[1])


def draw_calls(calls: Sequence[Located], count: int, seed: int) -> list[Located]:
    """At most `count` internal calls, as evenly over the reasons as they allow."""
    by_reason: defaultdict[str, list[Located]] = defaultdict(list)
    for call in calls:
        if call.site.outcome is CallOutcome.RESOLVED:
            by_reason[str(call.site.reason)].append(call)
    chooser = random.Random(seed)
    for group in by_reason.values():
        chooser.shuffle(group)
    drawn: list[Located] = []
    while len(drawn) < count and any(by_reason.values()):
        for reason in sorted(by_reason):
            if by_reason[reason] and len(drawn) < count:
                drawn.append(by_reason[reason].pop())
    return drawn


def source_line(repository: Repository, path: str, line: int) -> str:
    """One line of a file, stripped."""
    lines = (repository.folder / path).read_text("utf-8", "replace").splitlines()
    return lines[line - 1].strip()[:110] if line <= len(lines) else ""


def print_calls(repository: Repository, calls: Sequence[Located]) -> None:
    """Print calls with their source and their target's."""
    for number, call in enumerate(calls, start=1):
        site = call.site
        print(f"\n[{number}] {site.reason or site.outcome}  {site.file_path}:{call.line} in {site.caller_id}")
        print(f"    {source_line(repository, site.file_path, call.line)}")
        if site.target in repository.symbols:
            target = repository.symbols[site.target]
            print(f"    -> {target.id}:{target.start_line}  {target.signature.splitlines()[0][:100]}")


def second_opinion(repository: Repository, calls: Sequence[Located]) -> None:
    """Compare with jedi, and print what it disagrees about."""
    jedi = import_module("jedi")
    project = jedi.Project(str(repository.folder), smart_sys_path=False, sys_path=[str(repository.folder)])
    verdicts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for call in calls:
        script = jedi.Script(path=str(repository.folder / call.site.file_path), project=project)
        try:
            found = _definitions(script, call)
        except (AttributeError, RecursionError):
            # jedi's own faults are no opinion.
            found = []
        verdict = _verdict(repository, call, found)
        verdicts[str(call.site.reason)][verdict] += 1
        if verdict == "disagrees":
            places = [f"{name.module_path}:{name.line} {name.name} ({name.type})" for name in found]
            print_calls(repository, [call])
            print(f"    jedi: {places}")
    for reason, counts in sorted(verdicts.items()):
        print(f"{reason:24} {dict(sorted(counts.items()))}")


def _definitions(script: Any, call: Located) -> Sequence[Any]:
    found: Sequence[Any] = script.goto(call.line, call.column, follow_imports=True, follow_builtin_imports=False)
    if any(name.type in ("param", "statement", "module") for name in found) or not found:
        found = script.infer(call.line, call.column)
    return found


def _verdict(repository: Repository, call: Located, found: Sequence[Any]) -> str:
    target = repository.symbols[str(call.site.target)]
    definitions = [name for name in found if name.type in ("function", "class", "property") and name.module_path]
    for name in definitions:
        is_there = Path(name.module_path) == repository.folder / target.file_path
        if is_there and target.start_line <= name.line <= target.end_line and name.name == target.name:
            return "agrees"
        # jedi goes on from a class to its constructor.
        if is_there and name.name == "__init__" and target.start_line <= name.line <= target.end_line:
            return "agrees"
    return "disagrees" if definitions else "no opinion"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--jedi", type=int, default=0)
    parser.add_argument("--unknown", type=int, default=0)
    parser.add_argument("--reason")
    arguments = parser.parse_args()
    repository = read_repository(arguments.folder.resolve())
    outcomes = Counter(str(call.site.outcome) for call in repository.calls)
    reasons = Counter(str(call.site.reason) for call in repository.calls if call.site.reason)
    shares = {outcome: f"{count} ({count / outcomes.total():.1%})" for outcome, count in sorted(outcomes.items())}
    print(f"{arguments.folder.name}: {repository.lines} lines, {outcomes.total()} calls, {repository.resolve_s:.2f} s")
    print(shares)
    print(dict(sorted(reasons.items())))
    if arguments.reason:
        repository.calls[:] = [call for call in repository.calls if call.site.reason == arguments.reason]
    if arguments.show:
        print_calls(repository, draw_calls(repository.calls, arguments.sample, arguments.seed))
    if arguments.unknown:
        unknown = [c for c in repository.calls if c.site.outcome in (CallOutcome.UNKNOWN, CallOutcome.AMBIGUOUS)]
        print_calls(repository, random.Random(arguments.seed).sample(unknown, min(arguments.unknown, len(unknown))))
    if arguments.jedi:
        if find_spec("jedi") is None:
            print("jedi is not installed: no second opinion")
        else:
            second_opinion(repository, draw_calls(repository.calls, arguments.jedi, arguments.seed))


if __name__ == "__main__":
    main()
