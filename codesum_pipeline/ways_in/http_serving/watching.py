"""Run beside a process, by `ended_in_time`: kills it if it has not ended some seconds after SIGTERM or SIGINT.

`python watching.py PID SECONDS`; standard input is the pipe with the numbers of the signals.
"""

import contextlib
import os
import select
import signal
import sys
import time

import psutil

_LOOKED_AFTER_S = 5.0
_STEP_S = 0.05


def wait_for_signal(pid: int) -> bool:
    """Whether a signal came that ends the process; False if it ended without."""
    while os.getppid() == pid:
        if not select.select([0], [], [], _LOOKED_AFTER_S)[0]:
            continue
        numbers = os.read(0, 512)
        if not numbers:
            return False
        if signal.SIGTERM in numbers or signal.SIGINT in numbers:
            return True
    return False


def end(pid: int, patience_s: float) -> None:
    """Wait for the process, and kill it if it has not ended then, with what it has started in its session: a browser
    that it has opened has its own, and goes on."""
    deadline = time.monotonic() + patience_s
    while os.getppid() == pid:
        if time.monotonic() < deadline:
            time.sleep(_STEP_S)
            continue
        sys.stderr.write(f"codesum: killed: it did not end within {patience_s:g} s of the signal\n")
        sys.stderr.flush()
        with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
            kill(psutil.Process(pid))
        return


def kill(process: psutil.Process) -> None:
    session = os.getsid(process.pid)
    for each in [*process.children(recursive=True), process]:
        with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
            if os.getsid(each.pid) == session:
                each.kill()


if __name__ == "__main__":
    process, seconds = int(sys.argv[1]), float(sys.argv[2])
    if wait_for_signal(process):
        end(process, seconds)
