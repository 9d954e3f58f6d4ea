"""How many texts an edit of one function rewrites, in two versions of this project.

    python -m benchmarks.rewritten_texts BEFORE AFTER --folder SOURCES... [--functions 3] [--seed 1]

BEFORE and AFTER are checkouts. Each indexes a copy of each folder. Then some functions, drawn by chance, are edited one
at a time: a call of the body is dropped, a word of a message changed, a word of the documentation, a word of the
documentation of a class. After each edit, which stays, both index again, and their histories say which texts were
written anew, by level. `looked at` are those that were written to the same words. No file is edited twice.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq
from msgspec import Struct
from rich.console import Console
from rich.table import Table

from benchmarks.code_edits import LANGUAGES, Code, Edit, changed_messages, dropped_calls, other_word_in
from benchmarks.revisions import cost_of
from codesum_pipeline.foundation.data_model.document import LEVELS, HistoryEvent
from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import Symbol, SymbolType
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.source.files.encodings import read_text
from codesum_pipeline.symbols.parsing.parsers import documentation_spans, parse_file
from codesum_pipeline_tests.support.repositories import GitRepo

MOST_BYTES = 60_000
KINDS = ("body", "message", "function's docs", "class's docs")


class FileEdit(Struct, frozen=True):
    """An edit of a file of a repository."""

    path: str
    kind: str
    text: bytes


# Rewritten and looked-at texts by level.
Written = Mapping[tuple[str, str], int]


def edits_of(path: str, source: bytes) -> Iterator[FileEdit]:
    """The edits that one file allows."""
    language = language_of_path(path)
    if language is None or language not in LANGUAGES or len(source) > MOST_BYTES or b"\r" in source:
        return
    try:
        parsed = parse_file(path, language, source, blob="", hash_policy=HashPolicy.CANONICAL)
        code = Code.of(language, read_text(source, language).text.encode())
    except SkippedFile:
        return
    if code.source != source:
        return
    functions = [one for one in parsed.symbols if one.type is SymbolType.FUNCTION]
    classes = [one for one in parsed.symbols if one.type is SymbolType.CLASS]
    inside = [(one.start_line, one.end_line) for one in functions]
    for kind, found in (("body", dropped_calls(code)), ("message", changed_messages(code))):
        for edit in found:
            line = source.count(b"\n", 0, edit.start) + 1
            if any(first < line <= last for first, last in inside):
                yield FileEdit(path, kind, edit.apply(source))
    for kind, symbols in (("function's docs", functions), ("class's docs", classes)):
        yield from (FileEdit(path, kind, edit.apply(source)) for edit in _documentation_edits(code, path, symbols))


def _documentation_edits(code: Code, path: str, symbols: Sequence[Symbol]) -> Iterator[Edit]:
    documented = {symbol.start_line for symbol in symbols if symbol.docstring}
    for start, end in documentation_spans(path, code.language, code.source, documented):
        yield from other_word_in(code.source, start, end, "documentation")


def draw_edits(folder: Path, count: int, seed: int) -> list[FileEdit]:
    """So many edits of each kind, if there are, by chance; each of another file."""
    chance = random.Random(f"{seed} {folder.name}")
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and ".git" not in path.parts]
    chance.shuffle(paths)
    drawn: dict[str, list[FileEdit]] = defaultdict(list)
    for path in paths:
        name = path.relative_to(folder).as_posix()
        if "test" in name.lower():
            continue
        by_kind: dict[str, list[FileEdit]] = defaultdict(list)
        for edit in edits_of(name, path.read_bytes()):
            by_kind[edit.kind].append(edit)
        # The kind of which fewest were found.
        if wanted := [kind for kind in KINDS if by_kind[kind] and len(drawn[kind]) < count]:
            kind = min(wanted, key=lambda one: len(drawn[one]))
            drawn[kind].append(chance.choice(by_kind[kind]))
        if all(len(drawn[kind]) >= count for kind in KINDS):
            break
    return [edit for kind in KINDS for edit in drawn[kind]]


def history_of(home: Path, key: str) -> Counter[tuple[str, str]]:
    """How often texts of each level were written so far, and looked at."""
    path = home / "warehouse" / "document_history" / f"repo={key}" / "part-0.parquet"
    rows = pq.ParquetFile(path).read(columns=["level", "event"]).to_pylist()
    return Counter((row["level"], row["event"]) for row in rows)


def written_by_edit(tree: Path, home: Path, repo: GitRepo) -> Written:
    """What an index of the repository, as it is now, writes more than there was."""
    before = history_of(home, repo.path.name)
    cost_of(tree, home, "index", str(repo.path))
    return history_of(home, repo.path.name) - before


def measure_folder(
    folder: Path, trees: Sequence[Path], scratch: Path, count: int, seed: int
) -> Iterator[tuple[FileEdit, list[Written]]]:
    """Each edit with what both versions write after it."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and ".git" not in path.relative_to(folder).parts
    }
    repo = GitRepo.create(scratch / folder.name, files)
    homes = [scratch / f"{folder.name} {number}" for number, _ in enumerate(trees)]
    for tree, home in zip(trees, homes, strict=True):
        cost_of(tree, home, "index", str(repo.path))
    for edit in draw_edits(folder, count, seed):
        repo.commit({edit.path: edit.text})
        yield edit, [written_by_edit(tree, home, repo) for tree, home in zip(trees, homes, strict=True)]


def print_table(found: Sequence[tuple[FileEdit, Sequence[Written]]]) -> None:
    """Texts written anew after an edit, on average, by kind of edit and level: before, after."""
    table = Table("edit", "edits", *LEVELS, "all", "looked at", title="texts rewritten after an edit: before, after")
    for kind in KINDS:
        edits = [written for edit, written in found if edit.kind == kind]
        if not edits:
            continue
        cells = []
        for level in (*LEVELS, None):
            means = [_mean([each[side] for each in edits], level, HistoryEvent.WRITTEN) for side in (0, 1)]
            cells.append(f"{means[0]:.2f}, {means[1]:.2f}")
        same = [_mean([each[side] for each in edits], None, HistoryEvent.SAME_TEXT) for side in (0, 1)]
        table.add_row(kind, str(len(edits)), *cells, f"{same[0]:.2f}, {same[1]:.2f}")
    Console(width=130).print(table)


def _mean(written: Sequence[Written], level: str | None, event: str) -> float:
    counted = (number for one in written for (at, what), number in one.items() if what == event and level in (None, at))
    return sum(counted) / len(written)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--folder", type=Path, nargs="+", required=True, help="folders of sources")
    parser.add_argument("--functions", type=int, default=3, help="edits of each kind in each folder")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    trees = [arguments.before.resolve(), arguments.after.resolve()]
    found: list[tuple[FileEdit, list[Written]]] = []
    with tempfile.TemporaryDirectory(prefix="rewritten-texts-") as scratch:
        for folder in arguments.folder:
            for edit, written in measure_folder(
                folder.resolve(), trees, Path(scratch), arguments.functions, arguments.seed
            ):
                found.append((edit, written))
                totals = [sum(number for (_, event), number in one.items() if event == "written") for one in written]
                print(f"{folder.name}, {edit.kind}, {edit.path}: {totals}", file=sys.stderr, flush=True)
    print_table(found)


if __name__ == "__main__":
    main()
