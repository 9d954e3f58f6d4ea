"""Replay a repository's history and hold every tenth build against a build from scratch.

    python -m benchmarks.replay PATH_TO_A_CLONE [--commits 100] [--every 10]

The last `--commits` first-parent commits of the clone's HEAD are built one
after the other in one home. Every `--every`-th is also built in an empty home;
the sorted rows of all compared tables and the published files must be equal.
Prints one line per comparison and a JSON line of totals; exits 1 at the first
difference.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline_tests.building import build, open_home, workspace_of
from codesum_pipeline_tests.law.comparing import first_difference, published_files, table_rows


def commits_of(clone: Path, count: int) -> list[str]:
    """The last `count` first-parent commits, oldest first."""
    command = ["git", "-C", str(clone), "rev-list", "--first-parent", f"--max-count={count}", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[::-1]


def workspace_at(home: Path, clone: Path, commit: str) -> Workspace:
    """The clone at one commit."""
    opened = open_home(home)
    entry = RepositoryEntry("replayed", str(clone), ref=commit)
    if any(known.key == entry.key for known in opened.registry.entries()):
        opened.registry.purge(entry.key)
    return workspace_of(opened, entry)


def main() -> int:
    """Replay, compare, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--commits", type=int, default=100)
    parser.add_argument("--every", type=int, default=10)
    options = parser.parse_args()
    commits = commits_of(options.clone, options.commits)
    written = compared = parsed = 0
    seconds = clean_seconds = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number, commit in enumerate(commits, start=1):
            started = time.perf_counter()
            workspace = workspace_at(Path(folder) / "home", options.clone, commit)
            reports = build(workspace)
            if number > 1:
                seconds += time.perf_counter() - started
                parsed += reports["symbols"].parsed
                levels = ("function", "class", "file", "module")
                written += sum(reports[f"{level}_summaries"].written for level in levels)
            if number % options.every:
                continue
            started = time.perf_counter()
            clean = workspace_at(Path(folder) / f"clean-{number}", options.clone, commit)
            build(clean)
            clean_seconds += time.perf_counter() - started
            difference = first_difference(table_rows(workspace), table_rows(clean)) or first_difference(
                published_files(workspace), published_files(clean)
            )
            rows = reports["summary_documents"].rows
            print(f"{number:4} {commit[:12]} {rows:6} documents: {difference or 'equal to a clean build'}", flush=True)
            if difference:
                return 1
            compared += 1
    totals = {
        "clone": options.clone.name,
        "commits": len(commits),
        "compared": compared,
        "files_parsed_per_commit": round(parsed / max(1, len(commits) - 1), 2),
        "texts_written_per_commit": round(written / max(1, len(commits) - 1), 2),
        "incremental_s_per_commit": round(seconds / max(1, len(commits) - 1), 3),
        "clean_s_per_commit": round(clean_seconds / max(1, compared), 3),
    }
    print(json.dumps(totals))
    return 0


if __name__ == "__main__":
    sys.exit(main())
