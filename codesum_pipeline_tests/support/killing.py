"""Work that kills its own process before one line of the package: what is half done then, the next run has to mend."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import codesum_pipeline


def killed_at(number: int, run: Callable[[], object], *, watched: Sequence[str], counted: Path) -> bool:
    """Run in a process that kills itself before the `number`-th line of the watched modules; whether it was killed.

    What these call is killed with them. Of a run that is not killed the number of lines is written into `counted`.
    """
    package = Path(codesum_pipeline.__file__).parent
    files = frozenset(str(package / place) for place in watched)
    child = os.fork()
    if child == 0:
        _run_and_die(number, run, files, counted)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def _run_and_die(number: int, run: Callable[[], object], files: frozenset[str], counted: Path) -> None:
    """Do not return."""
    count = 0

    def trace(frame: FrameType, event: str, _value: object) -> Any:
        nonlocal count
        if frame.f_code.co_filename not in files:
            return None
        if event == "line":
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    status = 1
    try:
        sys.settrace(trace)
        run()
        sys.settrace(None)
        counted.write_text(str(count))
        status = 0
    finally:
        os._exit(status)
