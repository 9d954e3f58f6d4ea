"""`codesum` as a shell calls it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

PROJECT = Path(__file__).parent.parent.parent
COMMAND = [sys.executable, "-m", "codesum_pipeline.cli"]


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """What the process sees."""
    return {**os.environ, "PYTHONPATH": str(PROJECT), **(extra or {})}


def run_codesum(
    *arguments: object, cwd: Path, stdin: str = "", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Call in a process of its own."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        env=environment(env),
        timeout=240,
    )
