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


def runs(process: psutil.Process) -> bool:
    """One that nobody has asked for its status yet runs no more."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def end(pid: int, patience_s: float) -> None:
    """Wait for the process and those that it has started, and kill what is left then."""
    deadline = time.monotonic() + patience_s
    started = []
    with contextlib.suppress(psutil.NoSuchProcess):
        started = [each for each in psutil.Process(pid).children(recursive=True) if each.pid != os.getpid()]
    while time.monotonic() < deadline and (os.getppid() == pid or any(map(runs, started))):
        time.sleep(_STEP_S)
    if os.getppid() == pid:
        sys.stderr.write(f"codesum: killed: it did not end within {patience_s:g} s of the signal\n")
        sys.stderr.flush()
        with contextlib.suppress(psutil.NoSuchProcess):
            started += psutil.Process(pid).children(recursive=True)
            os.kill(pid, signal.SIGKILL)
    for each in started:
        if each.pid != os.getpid():
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()


if __name__ == "__main__":
    process, seconds = int(sys.argv[1]), float(sys.argv[2])
    if wait_for_signal(process):
        end(process, seconds)
