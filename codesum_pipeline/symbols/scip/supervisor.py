"""Runs one command and ends with it all that it started: in a process of its own.

The first line of its standard input is a `Task` as JSON; the command and its descendants are killed when that input
ends, so that they end with the process that drives it, however that ends. On Linux a process that was detached from
its parent becomes a child of this one, and is found.
"""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from codesum_pipeline.foundation.data_model.decoding import decode

# From <linux/prctl.h>.
_PR_SET_CHILD_SUBREAPER = 36
# The statuses of a shell: of a command that was not found, that cannot be run, and above which signals are.
NOT_FOUND, CANNOT_RUN, BY_SIGNAL = 127, 126, 128
# One that cannot be killed, as one of another user, is not waited for.
_LONGEST_KILL_S = 5.0


class Task(Struct, frozen=True):
    """A command line with its folder and environment; how large its files may be, how many tasks its user may have."""

    words: Sequence[str]
    folder: str
    environment: Mapping[str, str]
    most_file_bytes: int
    most_data_bytes: int
    most_tasks: int


def main() -> None:
    """Run the command; ends with its exit status."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    task = decode(sys.stdin.buffer.readline(), Task)
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        for kind, most in (
            (resource.RLIMIT_FSIZE, task.most_file_bytes),
            (resource.RLIMIT_DATA, task.most_data_bytes),
            (resource.RLIMIT_NPROC, task.most_tasks),
            (resource.RLIMIT_CORE, 0),
        ):
            hard = resource.getrlimit(kind)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))
        environment = dict(task.environment)
        child = subprocess.Popen(
            task.words, cwd=task.folder, env=environment, stdin=subprocess.DEVNULL, process_group=0
        )
    except OSError as error:
        os.write(1, f"{task.words[0]}: {error.strerror}\n".encode("utf-8", "replace"))
        os._exit(NOT_FOUND if isinstance(error, FileNotFoundError) else CANNOT_RUN)
    # Orphans that end before it are not left as zombies.
    ended = 0
    while ended != child.pid:
        ended, waited = os.waitpid(-1, 0)
    status = os.waitstatus_to_exitcode(waited)
    _kill_all()
    os._exit(status if status >= 0 else BY_SIGNAL - status)


def _end_with_input() -> None:
    while os.read(0, 1024):
        pass
    _kill_all()
    os._exit(BY_SIGNAL + signal.SIGKILL)


def _kill_all() -> None:
    """Kill descendants until there are none: they may start others meanwhile."""
    import psutil

    this = psutil.Process()
    until = time.monotonic() + _LONGEST_KILL_S
    while (found := this.children(recursive=True)) and time.monotonic() < until:
        for process in found:
            with suppress(psutil.Error):
                process.kill()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
