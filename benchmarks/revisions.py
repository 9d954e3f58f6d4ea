"""Two revisions of this project beside each other: the same commands on the same repository, each in turn.

    python -m benchmarks.revisions BEFORE [AFTER] [--rounds 7]

The repository is what `codesum_pipeline` was at BEFORE, as one commit. In each round both revisions, in changing
order, index it into a new home, index it again where nothing changed, and search it, each as a command of its own in
this environment. Times of the processor, of a command and its children, hardly depend on what else the machine does.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codesum_pipeline_tests.support.repositories import GitRepo

PROJECT = Path(__file__).parent.parent
SEARCHES = 3
QUESTION = "where is a lease renewed"


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one command: seconds on the clock, and of the processor."""

    clock_s: float
    cpu_s: float


def tree_at(revision: str, folder: Path) -> Path:
    """The project as it was at a revision."""
    folder.mkdir()
    archive = subprocess.run(["git", "archive", revision], cwd=PROJECT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x"], cwd=folder, input=archive, check=True)
    # Whether Python keeps what it compiled depends on the environment: an installed package has it.
    compiled = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-m", "compileall", "-q", str(folder / "codesum_pipeline")]
    subprocess.run(command, check=True, env=compiled)
    return folder


def cost_of(tree: Path, home: Path, *arguments: str) -> Cost:
    """A command of the project in `tree`, which is found there since the command runs in it."""
    command = [sys.executable, "-m", "codesum_pipeline.cli", "--home", str(home), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(tree), "XDG_CACHE_HOME": str(home.parent / "cache")}
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=tree, env=environment, check=True, capture_output=True)
    clock_s, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(clock_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def take_round(tree: Path, repository: Path, home: Path) -> dict[str, list[Cost]]:
    """What each command costs."""
    shutil.rmtree(home, ignore_errors=True)
    # The folder's name is the key.
    key = repository.name
    return {
        "cold build": [cost_of(tree, home, "index", str(repository))],
        "build where nothing changed": [cost_of(tree, home, "index", key) for _ in range(SEARCHES)],
        "search": [cost_of(tree, home, "search", "--all", "--json", QUESTION) for _ in range(SEARCHES)],
    }


def format_table(costs: Sequence[dict[str, list[Cost]]]) -> list[str]:
    """Medians of both revisions, and their ratios."""
    lines = ["| | before, s (of processor) | after, s (of processor) | ratio, processor | ratio, clock |"]
    lines.append("|---|---|---|---|---|")
    for what in costs[0]:
        clock = [statistics.median(cost.clock_s for cost in each[what]) for each in costs]
        cpu = [statistics.median(cost.cpu_s for cost in each[what]) for each in costs]
        lines.append(
            f"| {what} | {clock[0]:.2f} ({cpu[0]:.2f}) | {clock[1]:.2f} ({cpu[1]:.2f}) | {cpu[1] / cpu[0]:.3f} "
            f"| {clock[1] / clock[0]:.3f} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after", nargs="?", default="HEAD")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="revisions-") as scratch:
        folder = Path(scratch)
        trees = [
            tree_at(revision, folder / name) for revision, name in ((arguments.before, "old"), (arguments.after, "new"))
        ]
        package = trees[0] / "codesum_pipeline"
        files = {str(path.relative_to(package)): path.read_text() for path in package.rglob("*.py")}
        repository = GitRepo.create(folder / "package", files).path
        costs: list[dict[str, list[Cost]]] = [{}, {}]
        for number in range(arguments.rounds):
            for place in (0, 1) if number % 2 else (1, 0):
                for what, found in take_round(trees[place], repository, folder / f"home {place}").items():
                    costs[place].setdefault(what, []).extend(found)
            print(f"round {number + 1}\n" + "\n".join(format_table(costs)), file=sys.stderr, flush=True)
        print("\n".join(format_table(costs)))


if __name__ == "__main__":
    main()
