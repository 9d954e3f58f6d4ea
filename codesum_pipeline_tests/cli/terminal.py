"""`codesum` as a person sees it: on a terminal of a given width."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

from codesum_pipeline_tests.cli.calling import COMMAND, environment

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def on_a_terminal(*arguments: object, cwd: Path, width: int) -> list[str]:
    """The lines that are shown, without colour and the blanks at their ends."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    plain = environment({"TERM": "xterm"})
    plain.pop("COLUMNS", None)
    with subprocess.Popen([*COMMAND, *map(str, arguments)], cwd=cwd, env=plain, stdout=theirs, stderr=theirs):
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return [_STYLE.sub("", line).rstrip() for line in shown.decode().splitlines()]


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        # Linux says so where nobody writes any more.
        return b""
