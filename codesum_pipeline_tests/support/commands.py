"""`codesum` as a shell calls it."""

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
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


def fork_codesum(
    *arguments: object, cwd: Path, stdin: str = "", env: Mapping[str, str] | None = None, mask: int = 0o022
) -> subprocess.CompletedProcess[str]:
    """The same at a tenth of its price, where it is not the start of the process that may go wrong; see `fork`."""
    with (
        tempfile.TemporaryFile("w+") as input_file,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
    ):
        input_file.write(stdin)
        input_file.seek(0)
        status = fork(
            arguments,
            cwd=cwd,
            env=environment(env),
            streams=[file.fileno() for file in (input_file, out, err)],
            mask=mask,
        )
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess([str(word) for word in arguments], status, out.read(), err.read())


def fork(
    arguments: Sequence[object], *, cwd: Path, env: Mapping[str, str], streams: Sequence[int], mask: int = 0o022
) -> int:
    """Call with these descriptors of ours as its standard streams; its exit code, negative after a signal.

    Most of what a short call takes is a second of importing. The process is forked from one that has done that; its
    arguments, folder, environment, session and terminal are its own.
    """
    call = {
        "arguments": [*map(str, arguments)],
        "folder": str(cwd),
        "environment": dict(env),
        "mask": mask,
        "streams": [f"/proc/{os.getpid()}/fd/{stream}" for stream in streams],
    }
    forker = _forker()
    assert forker.stdin and forker.stdout
    forker.stdin.write(json.dumps(call) + "\n")
    forker.stdin.flush()
    return int(forker.stdout.readline())


@functools.cache
def _forker() -> subprocess.Popen[str]:
    forker = subprocess.Popen(
        [sys.executable, "-m", "codesum_pipeline_tests.ways_in.cli.forker"],
        cwd=PROJECT,
        env=environment(),
        # The mask of the shell is asked for when the package is imported.
        umask=0o022,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    # The end of its input is its end.
    atexit.register(forker.communicate)
    return forker
