"""How long a person waits for `codesum search`: process start to answer, in seconds.

    python -m benchmarks.cold_search [PACKAGE]

Indexes the sources of an installed package (default: networkx, more than 5,000
documents) in a temporary home and times the command ten times, each in a
process of its own, beside `python -c pass` and `python -c 'import dagster'`, by turns; the ratio to the latter holds on
a machine with other work too. Prints one JSON line.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.throughput import sources_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

RUNS = 10


def time_command(command: list[str]) -> list[float]:
    """The seconds of each of the runs, sorted."""
    return sorted(_time_once(command) for _ in range(RUNS))


def _time_once(command: list[str]) -> float:
    started = time.perf_counter()
    # As where it is installed: modules are compiled once.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return time.perf_counter() - started


def search_command(home: Path) -> list[str]:
    """One question to the command line."""
    return [sys.executable, "-m", "codesum_pipeline.cli", "--home", str(home), "search", "shortest path", "--json"]


def main() -> None:
    """Build, time, print."""
    package = sys.argv[1] if len(sys.argv) > 1 else "networkx"
    with tempfile.TemporaryDirectory() as folder:
        repo = GitRepo.create(Path(folder) / "repo", sources_of(package))
        home = Path(folder) / "home"
        reports = build(workspace_of(open_home(home), RepositoryEntry("measured", str(repo.path))))
        python = [sys.executable, "-c"]
        commands = [search_command(home), [*python, "pass"], [*python, "import dagster"]]
        answers, bare, dagster = (
            sorted(each) for each in zip(*(map(_time_once, commands) for _ in range(RUNS)), strict=True)
        )
    figures = {
        "package": package,
        "documents": reports["summary_documents"].rows,
        "search_s_median": round(statistics.median(answers), 3),
        "search_s_worst": round(answers[-1], 3),
        "python_start_s_median": round(statistics.median(bare), 3),
        "import_dagster_s_median": round(statistics.median(dagster), 3),
        "search_to_import_dagster": round(statistics.median(answers) / statistics.median(dagster), 2),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
