"""How often a string literal is found where it stands.

    python -m benchmarks.exact_strings CLONES [--home FOLDER]

CLONES are those of `benchmarks/question_fit.py`, and so is the home. Of each repository's indexed code 30 string
literals of three to fourteen words are drawn, those that stand once: half as they are, half with their placeholders
filled in. Each is asked of its own repository, with and without sources being read. A hit counts where its file has the
literal and its lines, if it has some, too. Prints a table in Markdown.
"""

import argparse
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.question_fit import open_index, repository_names
from benchmarks.retrieval import Table, print_table
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.search.retrieval.hits import Hit, ReadTexts
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import answer_query

DRAWN = 30
SEED = 13
# Of a message, as a person would tell one: a literal behind what raises, logs, prints or fails.
MESSAGE = re.compile(
    r"(?:raise|throw|[Ee]rror|[Ee]xception|warn|log|print|panic|fail|die|abort|expect)\w*[^\"'\n]{0,40}"
    r"(?:\"((?:[^\"\\\n]|\\.)+)\"|'((?:[^'\\\n]|\\.)+)')"
)
PLACEHOLDER = re.compile(r"%[-+#0-9.*]*l?[A-Za-z]|[$#]?\{[^{}]*\}")
FILLED_IN = ("/var/run/x.sock", "42", "example.org", "None")
WORDS = range(3, 15)


@dataclass(frozen=True, slots=True)
class Literal:
    """A message, as it is asked for, and the line that it stands in."""

    repo: str
    path: str
    line: int
    query: str
    is_filled: bool


def main() -> None:
    """Draw, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--home", type=Path, default=Path(tempfile.gettempdir()) / "codesum-fit")
    arguments = parser.parse_args()
    embedder = load_embedder("static")
    ranks: dict[tuple[bool, bool], list[int]] = {}
    for name in repository_names():
        index, clone = open_index(arguments.home, arguments.clones / name), arguments.clones / name
        for literal in draw_literals(index, clone):
            for is_read, read in ((False, None), (True, make_reader(clone))):
                hits = answer_query([index], literal.query, embedder=embedder, read=read).hits
                ranks.setdefault((literal.is_filled, is_read), []).append(rank_of(literal, hits))
    rows: Table = [["literals", "sources", "asked", "at rank 1", "among 3"]]
    for (is_filled, is_read), found in sorted(ranks.items()):
        kind, sources = "values filled in" if is_filled else "as they are", "read" if is_read else "not read"
        rows.append([kind, sources, str(len(found)), format_share(found, 1), format_share(found, 3)])
    print_table(rows)


def draw_literals(index: PublishedIndex, clone: Path) -> list[Literal]:
    """Messages that stand once in the indexed files of a repository."""
    paths = [index.ids[row] for row in index.rows_at(Level.FILE) if not index.arrays["is_test"][row]]
    found = [literal for path in paths for literal in messages_in(index.repo, path, clone)]
    times = {literal.query: 0 for literal in found}
    for literal in found:
        times[literal.query] += 1
    once = [literal for literal in found if times[literal.query] == 1]
    filled = [literal for literal in once if literal.is_filled]
    plain = [literal for literal in once if not literal.is_filled]
    shuffle = random.Random(SEED)
    shuffle.shuffle(filled)
    shuffle.shuffle(plain)
    return [*plain[: DRAWN // 2], *filled[: DRAWN // 2]]


def messages_in(repo: str, path: str, clone: Path) -> Iterator[Literal]:
    """The messages of one file, with their placeholders filled in."""
    source = (clone / path).read_text(encoding="utf-8", errors="replace")
    for match in MESSAGE.finditer(source):
        text = match[1] or match[2]
        values = iter(FILLED_IN * 8)
        query = PLACEHOLDER.sub(lambda _, values=values: next(values), text).replace("\\n", " ").strip()
        if len(re.findall(r"\w+", PLACEHOLDER.sub(" ", text))) in WORDS and "\\" not in query and '"' not in query:
            line = source.count("\n", 0, match.end()) + 1
            yield Literal(repo, path, line, query, PLACEHOLDER.search(text) is not None)


def make_reader(clone: Path) -> ReadTexts:
    """Reads a clone's files of its commit."""

    def read(_: PublishedIndex, paths: Sequence[str]) -> Mapping[str, str]:
        shown = (["git", "-C", str(clone), "show", f"HEAD:{path}"] for path in paths)
        outputs = [subprocess.run(command, capture_output=True, check=True).stdout for command in shown]
        return {path: output.decode("utf-8", "replace") for path, output in zip(paths, outputs, strict=True)}

    return read


def rank_of(literal: Literal, hits: Sequence[Hit]) -> int:
    """Where the literal is among the hits, from 1; 0 where it is not."""
    for rank, hit in enumerate(hits, start=1):
        first, last = hit.start_line or 1, hit.end_line or literal.line
        if hit.file_path == literal.path and hit.type != Level.MODULE and first <= literal.line <= last:
            return rank
    return 0


def format_share(ranks: Sequence[int], limit: int) -> str:
    """How many are found among the first."""
    return f"{100 * sum(0 < rank <= limit for rank in ranks) / len(ranks):.1f} %"


if __name__ == "__main__":
    main()
