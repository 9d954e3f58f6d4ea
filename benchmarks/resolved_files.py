"""How many files are resolved again for each commit of a history, and what that costs.

    python -m benchmarks.resolved_files CLONE [--commits 20] [--every 1]

The last `--commits` first-parent commits of the clone's HEAD are read one after the other in one home, up to the graph.
At every `--every`-th, every file is resolved as well, and all tables of the graph must be equal. Prints a line for each
commit and, in Markdown, the sums; exits 1 at the first difference. Times are of the processor.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean, median

from msgspec.structs import replace

from benchmarks.replay import MovingBranch, commits_of
from codesum_pipeline.builds.steps.reuse import carry_out
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.graph.graph_step import build_call_graph
from codesum_pipeline.graph.resolution import TABLES
from codesum_pipeline_tests.support.homes import open_home, workspace_of

_BEFORE = ("repo_snapshot", "symbols")


def hashes_of(workspace: Workspace) -> list[str | None]:
    """The hash of each table of the graph."""
    return [workspace.tables.content_hash(table, workspace.key) for table in TABLES]


def main() -> int:
    """Read the commits, compare, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--commits", type=int, default=20)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    steps = {step.name: step for step in STEPS}
    resolved: list[int] = []
    changed: list[int] = []
    seconds: list[float] = []
    whole: list[float] = []
    files = 0
    with tempfile.TemporaryDirectory() as name:
        branch = MovingBranch.of(options.clone, Path(name))
        for number, commit in enumerate(commits_of(options.clone, options.commits + 1)):
            workspace = workspace_of(open_home(Path(name) / "home"), branch.move_to(commit))
            parsed = [carry_out(steps[step], workspace).report for step in _BEFORE][-1].parsed
            started = time.process_time()
            report = build_call_graph(workspace)
            took, files = time.process_time() - started, report.files
            if number == 0:
                continue
            resolved.append(report.files_resolved)
            changed.append(parsed)
            seconds.append(took)
            print(f"{number:4} {commit[:12]} {parsed:4} parsed {resolved[-1]:5} resolved {took:6.2f} s", end="")
            if number % options.every == 0:
                found = hashes_of(workspace)
                started = time.process_time()
                build_call_graph(replace(workspace, force=True))
                whole.append(time.process_time() - started)
                is_equal = found == hashes_of(workspace)
                print(", equal to a clean graph" if is_equal else ", ANOTHER GRAPH", end="")
                if not is_equal:
                    return 1
            print(flush=True)
    print("| | files | commits | changed, median | resolved, median | mean | s, median | s, all files | compared |")
    print("|---|" + "---:|" * 8)
    figures = [
        f"{files:,}",
        f"{len(resolved)}",
        f"{median(changed):g}",
        f"{median(resolved):g}",
        f"{mean(resolved):.1f}",
    ]
    figures += [f"{median(seconds):.2f}", f"{median(whole) if whole else 0:.2f}", f"{len(whole)}"]
    print(f"| {' | '.join([options.clone.resolve().name, *figures])} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
