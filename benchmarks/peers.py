"""What indexing costs beside peers, in one run on one repository.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install semble
    python -m benchmarks.peers FOLDER... --semble /tmp/peers/bin/python

Each of FOLDERs (a clone) is indexed three times by each, in turn, in fresh
processes; the median by CPU time counts, which hardly depends on what else
the machine does (wall time, without imports where a tool tells them apart,
stands beside it; that of `codesum index`, the whole command with its imports and
its record in Dagster, is what a person waits for). Modules are compiled before, as an installer does it: the
variable PYTHONDONTWRITEBYTECODE must not be set. This project: a cold build of
all steps and lanes, from `git` objects to published index. semble (MIT): chunks
and two lanes, in memory, from the work tree; given this project's static
vectors as its model, so that no download is timed. Universal Ctags: definitions
only.

They do different work: semble keeps no documents, no graph and no history, and
ctags nothing but names and lines.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from codesum_pipeline.foundation.store.memory import collect_seldom
from codesum_pipeline.indexes.embedders.static import STATIC_MODEL_FOLDER

REPEATS = 3

SEMBLE = """
import sys, time
from semble import SembleIndex
start = time.perf_counter()
index = SembleIndex.from_path(sys.argv[1], model_path=sys.argv[2])
print(time.perf_counter() - start, index.stats.total_chunks)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU time of a process and its children, wall time of the work alone, peak memory, and how much came out."""

    cpu_s: float
    seconds: float
    peak_mb: float
    found: int


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that succeeded: its output, its CPU time with its children's, and the most memory that it took."""

    output: str
    cpu_s: float
    peak_mb: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--semble", type=Path, help="the python of an environment with semble")
    parser.add_argument("--own", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.own:
        print(json.dumps(build_cold(arguments.folders[0])))
        return
    tools: dict[str, Callable[[Path], Cost]] = {"codesum": run_own, "codesum index": run_command, "ctags": run_ctags}
    if arguments.semble:
        tools["semble"] = lambda folder: run_semble(arguments.semble, folder)
    print_costs({folder: measure(folder, tools) for folder in arguments.folders})


def measure(folder: Path, tools: dict[str, Callable[[Path], Cost]]) -> dict[str, Cost]:
    """The run of median time of each tool; the tools take turns."""
    runs: dict[str, list[Cost]] = {name: [] for name in tools}
    for _ in range(REPEATS):
        for name, run in tools.items():
            runs[name].append(run(folder))
    return {name: sorted(costs, key=lambda cost: cost.cpu_s)[REPEATS // 2] for name, costs in runs.items()}


def build_cold(folder: Path) -> dict[str, float]:
    """One cold build in this process."""
    # As the command line does before it imports anything.
    collect_seldom()
    from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
    from codesum_pipeline_tests.support.homes import build, open_home, workspace_of

    with tempfile.TemporaryDirectory() as home:
        workspace = workspace_of(open_home(Path(home)), RepositoryEntry("peer", str(folder.resolve())))
        start = time.perf_counter()
        build(workspace)
        seconds = time.perf_counter() - start
        documents = workspace.tables.read("documents", workspace.key, columns=["id"]).num_rows
    return {"seconds": seconds, "found": documents}


def run_own(folder: Path) -> Cost:
    """A cold build in a process of its own."""
    ended = _run_to_end([sys.executable, "-m", "benchmarks.peers", str(folder), "--own"])
    figures = json.loads(ended.output.strip().splitlines()[-1])
    return Cost(ended.cpu_s, figures["seconds"], ended.peak_mb, int(figures["found"]))


def run_command(folder: Path) -> Cost:
    """The command that people call, from its start to its end, in a home of its own."""
    with tempfile.TemporaryDirectory() as home:
        start = time.perf_counter()
        command = [sys.executable, "-m", "codesum_pipeline.cli", "--home", home, "index", str(folder.resolve())]
        ended = _run_to_end([*command, "--key", "peer", "--json"])
        seconds = time.perf_counter() - start
    documents = json.loads(ended.output)["steps"]["index_candidate"]["documents"]
    return Cost(ended.cpu_s, seconds, ended.peak_mb, int(documents))


def run_semble(python: Path, folder: Path) -> Cost:
    """semble's index of a folder, in memory; our static model is in the format that it reads."""
    ended = _run_to_end([str(python), "-c", SEMBLE, str(folder), str(STATIC_MODEL_FOLDER)])
    seconds, chunks = ended.output.split()[-2:]
    return Cost(ended.cpu_s, float(seconds), ended.peak_mb, int(chunks))


def run_ctags(folder: Path) -> Cost:
    """ctags over a folder, with the fields that a symbol has."""
    start = time.perf_counter()
    ended = _run_to_end(["ctags", "--fields=+nKZeS", "-R", "-f", "-", str(folder)])
    definitions = sum(not line.startswith("!") for line in ended.output.splitlines())
    return Cost(ended.cpu_s, time.perf_counter() - start, ended.peak_mb, definitions)


def _run_to_end(command: Sequence[str]) -> Ended:
    """Run a process to its end."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace")
    answer = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[0]} ended with status {status}")
    return Ended(answer, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def print_costs(found: dict[Path, dict[str, Cost]]) -> None:
    """A table for people."""
    console = Console()
    table = Table("repository", "tool", "CPU s", "of codesum", "wall s", "peak MB", "found")
    for folder, costs in found.items():
        for name, cost in costs.items():
            share = cost.cpu_s / costs["codesum"].cpu_s
            times = (f"{cost.cpu_s:.2f}", f"{share:.3f}", f"{cost.seconds:.2f}")
            table.add_row(folder.name, name, *times, f"{cost.peak_mb:.0f}", f"{cost.found:,}")
    console.print(table)
    console.print(f"median of {REPEATS} runs each")


if __name__ == "__main__":
    main()
