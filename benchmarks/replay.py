"""Replay a repository's history and hold every tenth build against a build from scratch.

    python -m benchmarks.replay PATH_TO_A_CLONE [--commits 100] [--every 10] [--branches]

The last `--commits` first-parent commits of the clone's HEAD are built one
after the other in one home, as they come to a repository that stays registered:
one branch of a bare copy moves from commit to commit. With `--branches` the commits
of all branches that were merged are taken, too, by their dates: each switch from one
branch to another is a change. Every `--every`-th is also
built in an empty home; the sorted rows of all compared tables and the published
files must be equal. Prints one line per comparison and a JSON line of totals,
which also say what was reused; exits 1 at the first difference.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from codesum_pipeline.builds.steps.reuse import carry_out
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.comparing import first_difference, published_files, table_rows
from codesum_pipeline_tests.support.homes import Reports, build, open_home, workspace_of


def commits_of(clone: Path, count: int, *, branches: bool = False) -> list[str]:
    """The last `count` first-parent commits, oldest first, or those of all `branches` that were merged."""
    order = "--date-order" if branches else "--first-parent"
    command = ["git", "-C", str(clone), "rev-list", order, f"--max-count={count}", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[::-1]


@dataclass(frozen=True, slots=True)
class MovingBranch:
    """A bare copy of a clone with one branch, which stands at one commit after the other.

    A registered repository keeps its entry: an entry whose `ref` were each commit
    itself would be another one each time, and no step of the last build would stand.
    """

    path: Path

    @classmethod
    def of(cls, clone: Path, folder: Path) -> "MovingBranch":
        """The copy, made in `folder`; its objects are the clone's."""
        path = folder / "moving.git"
        command = ["git", "clone", "--quiet", "--bare", "--shared", str(clone.resolve()), str(path)]
        subprocess.run(command, check=True)
        return cls(path)

    def move_to(self, commit: str) -> RepositoryEntry:
        """The entry, whose branch is at `commit` now."""
        subprocess.run(["git", "-C", str(self.path), "update-ref", "refs/heads/replayed", commit], check=True)
        return RepositoryEntry("replayed", str(self.path), ref="replayed")


@dataclass(slots=True)
class Totals:
    """What the builds after the first did, all together."""

    commits: int = 0
    compared: int = 0
    seconds: float = 0.0
    clean_seconds: float = 0.0
    steps_reused: int = 0
    files_parsed: int = 0
    files_carried: int = 0
    texts_written: int = 0
    texts_kept: int = 0

    def add(self, reports: Reports, *, reused: int, seconds: float) -> None:
        """Count one build."""
        levels = [reports[f"{level}_summaries"] for level in ("function", "class", "file", "module")]
        self.commits += 1
        self.seconds += seconds
        self.steps_reused += reused
        self.files_parsed += reports["symbols"].parsed
        self.files_carried += reports["symbols"].carried
        self.texts_written += sum(level.written for level in levels)
        self.texts_kept += sum(level.kept for level in levels)

    def per_commit(self) -> dict[str, float]:
        """Means over the builds; of a clean build the seconds are over those that were made."""
        names = ("steps_reused", "files_parsed", "files_carried", "texts_written", "texts_kept")
        return {
            **{f"{name}_per_commit": round(getattr(self, name) / max(1, self.commits), 2) for name in names},
            "incremental_s_per_commit": round(self.seconds / max(1, self.commits), 3),
            "clean_s_per_build": round(self.clean_seconds / max(1, self.compared), 3),
        }


def build_and_count(workspace: Workspace) -> tuple[Reports, int]:
    """Every step's report by name, and how many steps had not to be run."""
    done = {step.name: carry_out(step, workspace) for step in STEPS}
    return {name: each.report for name, each in done.items()}, sum(each.is_reused for each in done.values())


def main() -> int:
    """Replay, compare, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--commits", type=int, default=100)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--branches", action="store_true")
    options = parser.parse_args()
    commits = commits_of(options.clone, options.commits, branches=options.branches)
    totals = Totals()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        branch = MovingBranch.of(options.clone, folder)
        for number, commit in enumerate(commits, start=1):
            entry = branch.move_to(commit)
            workspace = workspace_of(open_home(folder / "home"), entry)
            started = time.perf_counter()
            reports, reused = build_and_count(workspace)
            if number > 1:
                totals.add(reports, reused=reused, seconds=time.perf_counter() - started)
            if number % options.every:
                continue
            clean = workspace_of(open_home(folder / f"clean-{number}"), entry)
            started = time.perf_counter()
            build(clean)
            totals.clean_seconds += time.perf_counter() - started
            difference = first_difference(table_rows(workspace), table_rows(clean)) or first_difference(
                published_files(workspace), published_files(clean)
            )
            rows = reports["summary_documents"].rows
            print(f"{number:4} {commit[:12]} {rows:6} documents: {difference or 'equal to a clean build'}", flush=True)
            if difference:
                return 1
            totals.compared += 1
    found = {"clone": options.clone.resolve().name, "commits": len(commits), "compared": totals.compared}
    print(json.dumps(found | totals.per_commit()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
