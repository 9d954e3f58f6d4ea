"""Searches by this checkout and by another one, by turns in one run, and whether both give the same answers.

    python -m benchmarks.search_turns CHECKOUT [--lines LINES]... [--home FOLDER] [--rounds N] [--semble SEMBLE_PYTHON]
    python -m benchmarks.search_turns CHECKOUT --clones CLONES [--home FOLDER]

CHECKOUT is a folder with another commit of this project, as `git worktree add`
makes one. Each checkout indexes the same sources with its own code into a home
of its own in FOLDER, which is kept, and asks in a process of its own. They, and
semble, given the same vectors, take turns, so that other work on the machine
slows all alike; CPU time is counted, of each question the least of all rounds.
The first asks both the questions of `benchmarks/latency.py` about the index
of this checkout, over one index and over the same under 10 and 100 names. The second asks every index
of a folder of clones, and all of them together, and prints what is answered
otherwise in anything that a hit has.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from benchmarks.retrieval import Table, print_table

ROOT = Path(__file__).parent.parent
LINES = (100_000, 2_000_000)
REPOSITORIES = (1, 10, 100)
MOST_DOCUMENTS = 1_500_000

BUILD = """
import sys
from pathlib import Path
from benchmarks.latency import build
build(int(sys.argv[1]), Path(sys.argv[2]))
"""
BUILD_CLONE = """
import subprocess, sys
from pathlib import Path
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
home, clone, key = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
if not (home / "index_root/summary_index_function_level" / key).exists():
    build(workspace_of(open_home(home), RepositoryEntry(key, clone)), may_fail=True)
"""
# Reads one command a line, answers with one line.
ASK = """
import json, sys, time
from pathlib import Path
from msgspec import to_builtins
from msgspec.structs import replace
from benchmarks.latency import questions_about
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import search_indexes
embedder, indexes, questions = load_embedder("static"), [], []
for line in sys.stdin:
    command = json.loads(line)
    if "open" in command:
        opened = [PublishedIndex.open(Path(name)) for name in command["open"]]
        indexes = [
            replace(each, version=replace(each.version, manifest={**each.version.manifest, "repo": f"{each.repo}-{n}"}))
            for n in range(command["times"]) for each in opened
        ]
        step = len(opened)
        own = [question for each in opened for question in questions_about(each)[::step]]
        questions = command.get("questions", own)
        print(json.dumps(sum(map(len, indexes))), flush=True)
        continue
    answers, took = [], []
    for question in questions:
        start = time.process_time()
        hits = search_indexes(indexes, question, embedder=embedder)
        took.append(1000 * (time.process_time() - start))
        if command["hits"]:
            answers.append([question, [sorted(to_builtins(hit).items()) for hit in hits]])
    print(json.dumps({"took": took, "hits": answers}), flush=True)
"""
ASK_SEMBLE = """
import json, sys, time
from semble import SembleIndex
index = questions = None
for line in sys.stdin:
    command = json.loads(line)
    if "open" in command:
        index, questions = SembleIndex.from_path(command["open"], model_path=command["model"]), command["questions"]
        print(len(index.chunks), flush=True)
        continue
    took = []
    for question in questions:
        start = time.process_time()
        index.search(question, top_k=10)
        took.append(1000 * (time.process_time() - start))
    print(json.dumps({"took": took}), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that answers one line of JSON with one."""

    stdin: IO[str]
    stdout: IO[str]

    def ask(self, **command: Any) -> Any:
        self.stdin.write(json.dumps(command) + "\n")
        self.stdin.flush()
        return json.loads(self.stdout.readline())


def main() -> None:
    """Build what is missing, ask by turns, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--lines", action="append", type=int)
    parser.add_argument("--times", type=int, nargs="+", default=REPOSITORIES)
    parser.add_argument("--home", type=Path, default=Path(tempfile.gettempdir()) / "codesum-search-turns")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--semble", type=Path)
    parser.add_argument("--clones", type=Path)
    arguments = parser.parse_args()
    checkouts = [arguments.checkout.resolve(), ROOT]
    homes = [arguments.home / "other", arguments.home / "this"]
    if arguments.clones:
        compare_clones(checkouts, homes, arguments.clones)
        return
    rows: Table = [
        ["documents", "repositories", "other commit", "this", "ratio", "semble", "this by semble", "other answers"]
    ]
    lines = sorted(arguments.lines or LINES)
    for number in lines:
        for checkout, home in zip(checkouts, homes, strict=True):
            run_in(checkout, BUILD, str(number), str(home / f"lines-{number}"))
        names = [[str(index_below(home / f"lines-{number}" / "home"))] for home in homes]
        rows += measure_searches(
            checkouts, names, arguments.times, arguments.rounds, arguments.semble, homes[1] / f"lines-{number}" / "repo"
        )
    print_table(rows)


def measure_searches(
    checkouts: Sequence[Path],
    names: Sequence[list[str]],
    repositories: Sequence[int],
    rounds: int,
    semble: Path | None,
    sources: Path,
) -> Iterator[Sequence[str]]:
    """A row for each number of repositories that memory is enough for."""
    with ExitStack() as stack:
        workers = [stack.enter_context(start_worker(checkout, [sys.executable, "-c", ASK])) for checkout in checkouts]
        for times in repositories:
            documents = workers[1].ask(open=names[1], times=times)
            if documents > MOST_DOCUMENTS:
                continue
            timed_workers = list(workers)
            ours = workers[1].ask(hits=True)["hits"]
            questions = [question for question, _ in ours]
            workers[0].ask(open=names[0], times=times, questions=questions)
            answers = [workers[0].ask(hits=True)["hits"], ours]
            if semble and times == 1:
                timed_workers.append(stack.enter_context(start_worker(ROOT, [str(semble), "-c", ASK_SEMBLE])))
                timed_workers[2].ask(open=str(sources), model=static_model(), questions=questions)
            medians = medians_by_turns(timed_workers, rounds)
            shown = [f"{medians[2]:.2f} ms", f"{medians[1] / medians[2]:.2f}"] if len(medians) > 2 else ["", ""]
            yield [
                f"{documents:,}",
                str(times),
                *(f"{each:.2f} ms" for each in medians[:2]),
                f"{medians[1] / medians[0]:.2f}",
                *shown,
                f"{len(differing_questions(*answers))} of {len(answers[0])}",
            ]


def medians_by_turns(workers: Sequence[Worker], rounds: int) -> list[float]:
    """Of each question the least of all rounds, and of these the median."""
    took = [[each.ask(hits=False)["took"] for each in workers] for _ in range(rounds)]
    return [statistics.median(map(min, zip(*of_worker, strict=True))) for of_worker in zip(*took, strict=True)]


def compare_clones(checkouts: Sequence[Path], homes: Sequence[Path], clones: Path) -> None:
    """What is answered otherwise about each clone, and about all together."""
    found = [path for folder in sorted(clones.iterdir()) if folder.is_dir() for path in sorted(folder.iterdir())]
    keys = [path.parent.name.replace("+", "-") for path in found]
    for checkout, home in zip(checkouts, homes, strict=True):
        for path, key in zip(found, keys, strict=True):
            run_in(checkout, BUILD_CLONE, str(home / "clones"), str(path), key)
    with ExitStack() as stack:
        workers = [stack.enter_context(start_worker(checkout, [sys.executable, "-c", ASK])) for checkout in checkouts]
        total = different = 0
        for some in [*([key] for key in keys), keys]:
            names = [[str(folder_of(home / "clones") / key) for key in some] for home in homes]
            for each, name in zip(workers, names, strict=True):
                each.ask(open=name, times=1)
            answers = [each.ask(hits=True)["hits"] for each in workers]
            others = differing_questions(*answers)
            total, different = total + len(answers[0]), different + len(others)
            for question in others[:3]:
                print(f"{' '.join(some)}: {question!r}")
    print(f"{different} of {total} answers differ")


def differing_questions(ours: Sequence[Any], theirs: Sequence[Any]) -> list[str]:
    """The questions whose hits are not the same."""
    return [mine[0] for mine, other in zip(ours, theirs, strict=True) if mine != other]


def index_below(home: Path) -> Path:
    """The one index of a home."""
    (name,) = folder_of(home).glob("[!.]*")
    return name


def folder_of(home: Path) -> Path:
    return home / "index_root" / "summary_index_function_level"


def static_model() -> str:
    """Where the vectors lie that both are given."""
    from codesum_pipeline.indexes.embedders.static import STATIC_MODEL_FOLDER

    return str(STATIC_MODEL_FOLDER)


def run_in(checkout: Path, program: str, *arguments: str) -> None:
    """Run a program with the code of a checkout."""
    command = [sys.executable, "-c", program, *arguments]
    subprocess.run(command, cwd=checkout, env={**os.environ, "PYTHONPATH": str(checkout)}, check=True)


@contextmanager
def start_worker(checkout: Path, command: Sequence[str]) -> Iterator[Worker]:
    """A process with the code of a checkout, ended with the block."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    process = subprocess.Popen(
        command, cwd=checkout, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdin and process.stdout
        yield Worker(process.stdin, process.stdout)
        process.stdin.close()


if __name__ == "__main__":
    main()
