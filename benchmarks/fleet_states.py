"""What a look at the state of 10,000 repositories costs, on any machine that has their home.

    python -m benchmarks.fleet_states [--counts 100 1000 10000] [--rounds 5] [--table FILE]

One repository is built for real, and the others are made from it. The planner's record says that 98 % are up to date,
1 % behind and 1 % failed too often. `judge` puts the states together from the record and what is published; `read` also
reads the record and Dagster's queue. `status` is the whole command with `--json`, from its start. The least of the
rounds counts, in seconds of the wall and of the processor.
"""

import argparse
import os
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.fleet_home import make_fleet
from codesum_pipeline.answers.agent_tools.fleet_reading import read_fleet
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.reports.planner_record import PlannedBuild, keep_planned
from codesum_pipeline.builds.steps.fleet_states import judge_fleet, read_record
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.indexes.file_formats.version_folder import read_brief
from codesum_pipeline_tests.support.commands import COMMAND, environment
from codesum_pipeline_tests.support.homes import open_home

_HEADER = "| repositories | judge, s | read, s | `codesum status --json`, s |\n|---|---|---|---|\n"
_ELSEWHERE = "f" * 40


def main() -> None:
    """Measure each number of repositories in a home of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    table = _HEADER
    for count in options.counts:
        with tempfile.TemporaryDirectory(prefix="codesum-states-") as folder:
            make_fleet(Path(folder), count, postgres=None, local=False)
            table += _measure_states(Path(folder) / "home", count, options.rounds)
            print(table.splitlines()[-1], flush=True)
    if options.table:
        options.table.write_text(table, encoding="utf-8")


def _measure_states(folder: Path, count: int, rounds: int) -> str:
    home = open_home(folder)
    entries = home.registry.entries()
    _write_record(home, entries)
    record, _ = read_record(home)
    judged = Counter(state.state for state in judge_fleet(home, entries, runs={}, record=record))
    assert judged["up to date"] == count - 2 * (count // 100), judged
    judge = _least(lambda: judge_fleet(home, entries, runs={}, record=record), rounds)
    read = _least(lambda: read_fleet(home, entries), rounds)
    command = [*COMMAND, "--home", str(folder), "status", "--json"]

    def status() -> None:
        subprocess.run(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, check=True)

    return f"| {count:,} | {judge} | {read} | {_least(status, rounds)} |\n"


def _write_record(home: Home, entries: Sequence[RepositoryEntry]) -> None:
    """As the daemon's tick leaves it."""
    now, builds = time.time(), {}
    for number, entry in enumerate(entries):
        brief = read_brief(home.layout, entry.key)
        assert brief
        known = {"at": now, "head": brief.commit, "head_at": now, "wanted": brief.fingerprint}
        if number % 100 == 0:
            known |= {"head": _ELSEWHERE, "wanted": _ELSEWHERE, "decision": "left for the next tick"}
        if number % 100 == 1:
            known |= {"wanted": _ELSEWHERE, "decision": "failed too often", "failures": 3, "failure": "it is too large"}
        builds[entry.key] = PlannedBuild(**{"decision": "up to date", **known})  # type: ignore[arg-type]
    keep_planned(home.layout, builds, registered=builds.keys(), every_s=3_600.0, version="0")


def _least(call: Callable[[], object], rounds: int) -> str:
    """The least seconds of the wall, and of the processor with child processes."""
    found = []
    for _ in range(rounds):
        began, before = time.monotonic(), os.times()
        call()
        after = os.times()
        found.append((time.monotonic() - began, sum(after[:4]) - sum(before[:4])))
    return f"{min(wall for wall, _ in found):.2f} ({min(used for _, used in found):.2f})"


if __name__ == "__main__":
    main()
