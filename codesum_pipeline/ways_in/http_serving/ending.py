"""Ends a process within seconds of SIGTERM or SIGINT, also if one of its threads does not come back.

A thread may hold the interpreter's lock, so that no line of Python runs in the process any more. Therefore another
process waits for the signal (`watching.py`): the interpreter writes each signal into a pipe in the moment it arrives.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_WATCHER = Path(__file__).with_name("watching.py")
# All of it within 5 s: answering what was asked, closing what is open, and this process's own end.
PATIENCE_S = 4.0


@contextmanager
def ended_in_time(patience_s: float = PATIENCE_S) -> Iterator[None]:
    """After SIGTERM or SIGINT while the block runs, the process ends within `patience_s`, whatever it does after the
    block. If it has to be killed, those that it has started in its session are, too."""
    reading_end, writing_end = os.pipe()
    os.set_blocking(writing_end, False)
    subprocess.Popen(
        # Nothing of the folder at hand is imported.
        [sys.executable, "-P", str(_WATCHER), str(os.getpid()), str(patience_s)],
        stdin=reading_end,
        stdout=subprocess.DEVNULL,
        # Ctrl-C is meant for the process that it watches.
        start_new_session=True,
    )
    os.close(reading_end)
    own = signal.getsignal(signal.SIGTERM)
    if own is signal.SIG_DFL:
        # Only of a signal that Python handles is the other process told.
        signal.signal(signal.SIGTERM, _end)
    before = signal.set_wakeup_fd(writing_end, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing_end)
        if own is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, own)


def end_children(patience_s: float) -> None:
    """Ask all processes that this one has started to end, and kill those that have not after `patience_s`."""
    import psutil

    terminated = []
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            # Those that watch end after what they watch.
            if str(_WATCHER) not in each.cmdline():
                each.terminate()
                terminated.append(each)
    for each in psutil.wait_procs(terminated, timeout=patience_s)[1]:
        with suppress(psutil.NoSuchProcess):
            each.kill()


def _end(number: int, _frame: object) -> None:
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
