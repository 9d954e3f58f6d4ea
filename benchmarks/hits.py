"""What the lines of hits are worth, and what `read` costs beside `sed`.

    python -m benchmarks.hits lines CLONES
    python -m benchmarks.hits read HOME KEY...

`lines`: the questions of `benchmarks/questions/issues_*.jsonl` name a commit that mended what they are about. The lines
of the mended function that this commit took away, or put something behind, decide. CLONES is a folder of clones
`owner+name` with their histories. Counted is how often some lines of the function have one that decides: those that
`search` shows, an excerpt by words alone, and as many that follow one another anywhere. The repositories in the order
of their names are two halves; choices were made on the first.

`read`: four functions of each repository of a home, drawn by chance; the characters of `read` by id and by lines, and
those of the lines themselves, which `sed -n` prints.
"""

import itertools
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.retrieval import Table, print_table
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.search.retrieval.hits import best_lines
from codesum_pipeline.search.retrieval.passages import find_telling
from codesum_pipeline.search.retrieval.published_index import PublishedIndex

QUESTIONS = Path(__file__).parent / "questions"
FUNCTIONS = 4
SIZES = (2, 3, 4, 5)
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Mended:
    """A function as it was, and the places of its lines that decide, from 0."""

    repo: str
    query: str
    lines: list[str]
    deciding: frozenset[int]


Choose = Callable[[Mended, int], set[int]]


def mended_functions(clones: Path) -> Iterator[Mended]:
    """The functions of nine and more lines whose mending commit a clone has."""
    for name in ("issues_closed", "issues_open"):
        for text in (QUESTIONS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            question = json.loads(text)
            clone = clones / question["repo"].replace("/", "+")
            fix = "".join(re.findall(r"commit/(\w+)", question.get("source", ""))[:1])
            for symbol in question.get("cited_symbols", ()) if fix and clone.is_dir() else ():
                diff = _git(clone, "diff", "-U1", f"{fix}^", fix, "--", symbol["file_path"]).split("\n")
                source = _git(clone, "show", f"{question['commit']}:{symbol['file_path']}").split("\n")
                lines = source[symbol["start_line"] - 1 : symbol["end_line"]]
                old = {line[1:].strip() for line in diff if line.startswith("-")}
                old |= {one[1:].strip() for one, two in itertools.pairwise(diff) if one[:1] == " " and two[:1] == "+"}
                places = {
                    place for place, line in enumerate(lines) if line.strip() in old and len(_WORD.findall(line)) > 1
                }
                if symbol["kind"] == "function" and len(lines) > 8 and places:
                    yield Mended(question["repo"], question["query"], lines, frozenset(places))


def shown(function: Mended, size: int) -> set[int]:
    """The lines that `search` shows."""
    found = find_telling(function.lines[1:], function.query, most=size, start_line=2)
    return {number - 1 for number in found.lines}


def by_words(function: Mended, size: int) -> set[int]:
    """An excerpt."""
    found = best_lines("\n".join(function.lines), function.query, size=size)
    return {found.start_line - 1 + place for place in range(len(found.lines))}


def by_chance(function: Mended, size: int) -> set[int]:
    """As many lines anywhere."""
    start = random.Random(f"{function.query}{size}").randrange(1, max(2, len(function.lines) - size + 1))
    return set(range(start, min(start + size, len(function.lines))))


def measure_lines(clones: Path) -> None:
    """Print how often some lines decide, for each half."""
    functions = [*mended_functions(clones)]
    repos = sorted({each.repo for each in functions})
    ways: dict[str, Choose] = {"shown by search": shown, "excerpt": by_words, "by chance": by_chance}
    rows: Table = [["lines", "", "first half", "second half"]]
    for size in SIZES:
        for name, choose in ways.items():
            shares = [
                _share([each for each in functions if each.repo in half], choose, size)
                for half in (repos[::2], repos[1::2])
            ]
            rows.append([str(size), name, *shares])
    print_table(rows)


def _share(functions: Sequence[Mended], choose: Choose, size: int) -> str:
    has = sum(bool(choose(each, size) & each.deciding) for each in functions)
    return f"{has} of {len(functions)}"


def measure_read(home: Path, keys: Sequence[str]) -> None:
    """Print the characters of `read` beside those of the lines."""
    catalogue = IndexCatalogue.of(load_settings({"home": home}, environ={}))
    rows: Table = [["lines of a function", "functions", "sed", "read by id", "read by lines"]]
    counted = [cost for key in keys for cost in _costs(catalogue, key)]
    for first, last in ((1, 8), (9, 20), (21, 60), (61, 120), (121, 10**9), (1, 10**9)):
        some = [cost for count, *cost in counted if first <= count <= last]
        rows.append(
            [f"{first} to {last:,}", str(len(some)), *(f"{sum(column):,}" for column in zip(*some, strict=True))]
        )
    print_table(rows)


def _costs(catalogue: IndexCatalogue, key: str) -> Iterator[tuple[int, int, int, int]]:
    index = PublishedIndex.open(catalogue.layout.published(key))
    rows = [row for row in index.rows_at(Level.FUNCTION) if index.may_answer(row)]
    random.Random(0).shuffle(rows)
    for row in rows[:FUNCTIONS]:
        place, path = index.shown.of_row(row), index.ids[row].partition("::")[0]
        first, last = place["start_line"], place["end_line"]
        source = _git(catalogue.layout.mirror(key), "show", f"{index.commit}:{path}").split("\n")[first - 1 : last]
        ids = (index.ids[row], f"{path}:{first}-{last}")
        texts = [
            tools_by_name()["read"].ask(ToolContext(catalogue, Path("/")), {"ids": [id_], "repo": key}).text()
            for id_ in ids
        ]
        yield last - first + 1, sum(len(line) + 1 for line in source), *map(len, texts)


def _git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    what, folder, *others = sys.argv[1:]
    measure_lines(Path(folder)) if what == "lines" else measure_read(Path(folder), others)
