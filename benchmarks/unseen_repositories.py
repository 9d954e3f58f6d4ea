"""What comes of repositories that were never indexed before: `python -m benchmarks.unseen_repositories HOME CLONE...`.

Each clone is indexed once by a process of its own, as `codesum index CLONE`
would, and gives one row of a Markdown table as soon as it is done. A clone is
named by its folder, or by the folder around it where that is called `repo`;
`owner+name` is shown as `owner/name`.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from codesum_pipeline.builds.reports.kept_failures import read_failures
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.tables import TableStore

HEAD = ("repository", "commit", "seconds", "files", "skipped", "failures", "exit code")
MOST_SECONDS = 900


def main() -> None:
    """Index every clone, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path, help="an empty folder")
    parser.add_argument("clones", type=Path, nargs="+")
    arguments = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    for clone in arguments.clones:
        print(f"| {' | '.join(map(str, row_of(arguments.home, clone.resolve())))} |", flush=True)


def row_of(home: Path, clone: Path) -> tuple[str | int, ...]:
    """One row: what a first index of a clone came to."""
    name = clone.parent.name if clone.name == "repo" else clone.name
    key = name.replace("+", "-")
    command = [sys.executable, "-m", "codesum_pipeline.cli", "--home", str(home), "index", "--json", "--key", key]
    start = time.monotonic()
    try:
        done = subprocess.run([*command, str(clone)], capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
        code, output, complaints = str(done.returncode), done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        code, output, complaints = "none: too slow", "", ""
    seconds = round(time.monotonic() - start)
    report = json.loads(output) if output.strip() else {}
    numbers: dict[str, Any] = report.get("steps", {}).get("repo_snapshot", {})
    layout = HomeLayout(home)
    files = TableStore(layout.warehouse).read_or_empty("files", key, columns=["reason"])
    reasons = Counter(reason for reason in files.column("reason").to_pylist() if reason)
    skipped = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items())) or "0"
    failed = [
        f"{step}: {each.item} ({each.reason})"
        for step, some in read_failures(layout.memos(key)).items()
        for each in some
    ]
    if code != "0" and complaints:
        failed.append(complaints.strip().splitlines()[-1])
    commit = (report.get("commit") or "")[:12]
    return (
        name.replace("+", "/"),
        commit,
        seconds,
        numbers.get("files_indexed", 0),
        skipped,
        "; ".join(failed) or "0",
        code,
    )


if __name__ == "__main__":
    main()
