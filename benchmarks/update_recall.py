"""Does a text, or what is kept of its facts, change where a function's meaning did, and never where it did not?

    python -m benchmarks.update_recall CLONES [--edits 500] [--seed 1] [--language go]... [--show 20] [--json OUT.json]

CLONES is a folder of git clones. So many mutants and so many cosmetic edits (`benchmarks/code_edits.py`) are drawn by
chance out of files that are no tests, of each kind and language as many where there are so many. Each is one edit of
one file, which is read and written before and after as a build does it; one after which less of the file parses, or its
function has another id, is replaced by another.

*Recall* is the share of mutants after which the function's text differs, or its facts do, wherever their lines are.
*False alarms* is the share of cosmetic edits after which any text or fact of the file differs, its citations included.
`--show` prints edits that were missed and false alarms.
"""

import argparse
import json
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace
from rich.console import Console
from rich.table import Table

from benchmarks.code_edits import COSMETIC, LANGUAGES, MUTANTS, Code, Edit, Maker
from benchmarks.text_library import clone_in, main_language, write_library
from codesum_pipeline.foundation.data_model.document import WrittenText
from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import Symbol, SymbolType
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.source.files.content import judge_content
from codesum_pipeline.source.files.encodings import read_text
from codesum_pipeline.source.git.git import BlobReader
from codesum_pipeline.symbols.parsing.parsers import parse_file

# Of each language so many clones, of each clone so many files of at most so many bytes, of each so many edits a kind.
CLONES, FILES, MOST_BYTES, EDITS_OF_A_FILE = 6, 25, 60_000, 2
_LINES = ("line", "signature_line", "docstring_line")


class SourceCode(Struct, frozen=True):
    """One file of a clone."""

    clone: str
    path: str
    language: str
    source: bytes


class Reading(Struct, frozen=True):
    """What a build makes of one file: its symbols and its texts by id."""

    symbols: Mapping[str, Symbol]
    texts: Mapping[str, WrittenText]
    errors: int


class Candidate(Struct, frozen=True):
    """An edit of a file, which is not yet tried."""

    code: SourceCode
    edit: Edit


class Outcome(Struct, frozen=True):
    """What an edit changed: of a mutant in its function, of a cosmetic edit in the file."""

    candidate: Candidate
    text: bool
    facts: bool
    id: str


def read_code(code: SourceCode, source: bytes) -> Reading | None:
    """The symbols and texts of a file; None if it cannot be read."""
    try:
        parsed = parse_file(code.path, code.language, source, blob="", hash_policy=HashPolicy.CANONICAL)
    except SkippedFile:
        return None
    library = write_library([parsed], {}, key=code.clone)
    texts = {id_: document.text for id_, document in library.documents.items()}
    return Reading({symbol.id: symbol for symbol in parsed.symbols}, texts, parsed.facts.syntax_errors)


def function_at(reading: Reading, line: int) -> Symbol | None:
    """The innermost function at a 1-based line."""
    around = [
        symbol
        for symbol in reading.symbols.values()
        if symbol.type is SymbolType.FUNCTION and symbol.start_line <= line <= symbol.end_line
    ]
    return min(around, key=lambda one: (one.end_line - one.start_line, one.id), default=None)


def facts_apart_from_lines(symbol: Symbol) -> Any:
    """The facts of a symbol, without the lines at which they stand."""
    return _without_lines(to_builtins(symbol.facts, enc_hook=str))


def _without_lines(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_lines(each) for name, each in value.items() if name not in _LINES}
    return [*map(_without_lines, value)] if isinstance(value, list | tuple) else value


def try_mutant(candidate: Candidate, before: Reading, after: Reading) -> Outcome | None:
    """What a mutant changed in its function; None if it is in none, or breaks it."""
    line = candidate.code.source.count(b"\n", 0, candidate.edit.start) + 1
    function = function_at(before, line)
    if function is None or function.id not in after.symbols:
        return None
    now = after.symbols[function.id]
    if now.canonical_source == function.canonical_source:
        return None
    texts = [replace(one.texts[function.id], citations=()) for one in (before, after)]
    facts = [facts_apart_from_lines(one) for one in (function, now)]
    return Outcome(candidate, texts[0] != texts[1], facts[0] != facts[1], function.id)


def try_cosmetic(candidate: Candidate, before: Reading, after: Reading) -> Outcome:
    """What a cosmetic edit changed in its file, and the first id of which it did."""
    facts = [{id_: symbol.facts for id_, symbol in one.symbols.items()} for one in (before, after)]
    changed = [
        id_
        for id_ in sorted(before.texts.keys() | after.texts.keys())
        if before.texts.get(id_) != after.texts.get(id_) or facts[0].get(id_) != facts[1].get(id_)
    ]
    return Outcome(candidate, before.texts != after.texts, facts[0] != facts[1], next(iter(changed), ""))


def try_edit(candidate: Candidate, before: Reading) -> Outcome | None:
    """What an edit changed; None if it is not to be counted."""
    after = read_code(candidate.code, candidate.edit.apply(candidate.code.source))
    if after is None or after.errors > before.errors:
        return None
    attempt = try_mutant if candidate.edit.kind in MUTANTS else try_cosmetic
    return attempt(candidate, before, after)


def read_sources(clones: Path, language: str, chance: random.Random) -> Iterator[SourceCode]:
    """Files of a language by chance, of several clones."""
    found = [one for one in sorted(clones.iterdir()) if one.is_dir() and main_language(clone_in(one)) == language]
    for folder in chance.sample(found, min(len(found), CLONES)):
        yield from _files_of(clone_in(folder), folder.name, language, chance)


def _files_of(clone: Path, name: str, language: str, chance: random.Random) -> Iterator[SourceCode]:
    command = ["git", "--git-dir", str(clone), "ls-tree", "-rlz", "HEAD"]
    listing = subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8", "replace")
    files = []
    for line in filter(None, listing.split("\0")):
        (_, kind, blob, size), path = line.partition("\t")[0].split(), line.partition("\t")[2]
        is_test = "test" in path.lower() or "spec" in path.lower()
        if kind == "blob" and language_of_path(path) == language and int(size) <= MOST_BYTES and not is_test:
            files.append((path, blob))
    with BlobReader(clone) as blobs:
        for path, blob in chance.sample(files, min(len(files), FILES)):
            data = blobs.read(blob)
            if not judge_content(path, data).reason:
                yield SourceCode(name, path, language, read_text(data, language).text.encode())


Pools = Mapping[tuple[str, str], list[Candidate]]


def find_edits(clones: Path, languages: Sequence[str], makers: Mapping[str, Maker], seed: int) -> Pools:
    """The possible edits of each language and kind, in the order of chance."""
    pools: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for language in languages:
        chance = random.Random(f"{seed} {language}")
        for source in read_sources(clones, language, chance):
            code = Code.of(language, source.source)
            for kind, maker in makers.items():
                edits = [*maker(code)]
                some = chance.sample(edits, min(len(edits), EDITS_OF_A_FILE))
                pools[language, kind] += (Candidate(source, edit) for edit in some)
        for kind in makers:
            chance.shuffle(pools[language, kind])
    return pools


def try_some(pools: Pools, count: int) -> list[Outcome]:
    """So many edits, from each language and kind in turn."""
    readings: dict[tuple[str, str], Reading | None] = {}
    outcomes: list[Outcome] = []
    left = {key: iter(pool) for key, pool in sorted(pools.items())}
    while left and len(outcomes) < count:
        for key, candidates in [*left.items()]:
            outcome = _next_outcome(candidates, readings)
            if outcome is None:
                del left[key]
            elif len(outcomes) < count:
                outcomes.append(outcome)
    return outcomes


def _next_outcome(candidates: Iterator[Candidate], readings: dict[tuple[str, str], Reading | None]) -> Outcome | None:
    for candidate in candidates:
        at = candidate.code.clone, candidate.code.path
        if at not in readings:
            readings[at] = read_code(candidate.code, candidate.code.source)
        before = readings[at]
        outcome = try_edit(candidate, before) if before else None
        if outcome is not None:
            return outcome
    return None


def shares(outcomes: Sequence[Outcome], by: str) -> dict[str, dict[str, float]]:
    """Of each kind or language: how many edits, after how many the text differs, and the text or the facts."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        name = outcome.candidate.edit.kind if by == "kind" else outcome.candidate.code.language
        for each in (name, "all"):
            counted[each].update(edits=1, text=int(outcome.text), changed=int(outcome.text or outcome.facts))
    return {
        name: {"edits": one["edits"], **{what: round(one[what] / one["edits"], 4) for what in ("text", "changed")}}
        for name, one in sorted(counted.items(), key=lambda item: (item[0] == "all", item[0]))
    }


def print_shares(title: str, found: Mapping[str, Mapping[str, float]]) -> None:
    table = Table("", "edits", "text differs", "text or facts differ", title=title)
    for name, one in found.items():
        table.add_row(name, str(one["edits"]), f"{one['text']:.1%}", f"{one['changed']:.1%}")
    Console(width=100).print(table)


def show_outcome(outcome: Outcome) -> str:
    """An edit with the line that it is in."""
    source, edit = outcome.candidate.code.source, outcome.candidate.edit
    start = source.rfind(b"\n", 0, edit.start) + 1
    end = source.find(b"\n", edit.end)
    line = source[start : end if end > 0 else None][:200].decode("utf-8", "replace")
    new = edit.text[:80].decode("utf-8", "replace")
    code = outcome.candidate.code
    return f"[{edit.kind}, {code.language}] {code.clone} {code.path}: {outcome.id}\n  {line!r}\n  becomes {new!r}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--edits", type=int, default=500, help="of each of the two sorts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--language", action="append", choices=LANGUAGES, help="these languages alone")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N missed mutants and N false alarms")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    figures: dict[str, Any] = {}
    for title, makers in (("mutants: recall", MUTANTS), ("cosmetic edits: false alarms", COSMETIC)):
        pools = find_edits(arguments.clones, arguments.language or LANGUAGES, makers, arguments.seed)
        outcomes = try_some(pools, arguments.edits)
        is_wrong = makers is COSMETIC
        wrong = [one for one in outcomes if (one.text or one.facts) == is_wrong]
        print(*map(show_outcome, wrong[: arguments.show]), sep="\n")
        for by in ("kind", "language"):
            figures[f"{title}, by {by}"] = shares(outcomes, by)
            print_shares(f"{title}, by {by}", figures[f"{title}, by {by}"])
        sys.stdout.flush()
    if arguments.json:
        arguments.json.write_text(f"{json.dumps(figures, indent=1)}\n", "utf-8")


if __name__ == "__main__":
    main()
