"""`codesum` as a person sees it: on a terminal of a given width."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyte

from codesum_pipeline_tests.support.commands import COMMAND, environment, fork

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
# From where the cursor is hidden to where it is shown again, and what wipes the line.
_DISPLAY = re.compile(r"\x1b\[\?25l.*?\x1b\[\?25h\r?(?:\x1b\[1A\x1b\[2K)?", re.DOTALL)
_HEIGHT = 50
# Of the machine that runs the tests, not of the terminal under test.
_NOT_OF_A_TERMINAL = ("CI", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM", "TTY_COMPATIBLE")
# A build that hangs fails its test; one beside much other work does not.
_PATIENCE_S = 200.0


@dataclass(slots=True)
class Shown:
    """What a command wrote on its terminal, when (seconds from its start, bytes), and how it ended."""

    width: int
    written: list[tuple[float, bytes]] = field(default_factory=list)
    exit_code: int | None = None

    @property
    def raw(self) -> bytes:
        return b"".join(chunk for _, chunk in self.written)

    def screen(self) -> pyte.HistoryScreen:
        """The terminal as it looks in the end."""
        screen = pyte.HistoryScreen(self.width, _HEIGHT)
        pyte.ByteStream(screen).feed(self.raw)
        return screen

    def lines(self) -> list[str]:
        """The lines of the screen in the end, without the empty ones."""
        return [line.rstrip() for line in self.screen().display if line.strip()]


def on_a_terminal(*arguments: object, cwd: Path, width: int) -> list[str]:
    """The lines that are shown, without colour, the blanks at their ends, and the progress display."""
    shown = fork_on_a_terminal(*arguments, cwd=cwd, width=width)
    return [_STYLE.sub("", line).rstrip() for line in _DISPLAY.sub("", shown.raw.decode()).splitlines()]


def fork_on_a_terminal(*arguments: object, cwd: Path, width: int, env: Mapping[str, str] | None = None) -> Shown:
    """As `watch`, where the start of the process is not the point; see `calling.fork`."""
    ours, theirs = _open_terminal(width)
    shown = Shown(width)
    start = time.monotonic()
    reader = threading.Thread(
        target=lambda: shown.written.extend(
            (time.monotonic() - start, chunk) for chunk in iter(lambda: _read(ours), b"")
        )
    )
    reader.start()
    try:
        shown.exit_code = fork(arguments, cwd=cwd, env=_terminal_environment(env), streams=[theirs] * 3)
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)
    return shown


def watch(
    arguments: Iterable[object],
    *,
    cwd: Path,
    width: int,
    env: Mapping[str, str] | None = None,
    command: Iterable[str] = COMMAND,
    until: Callable[[Shown], bool] = lambda _shown: False,
    then_press: bytes = b"\x03",
) -> Shown:
    """Run on a terminal of its own, as its session's leader; once `until` holds, `then_press` is typed."""
    ours, theirs = _open_terminal(width)
    shown = Shown(width)
    start = time.monotonic()
    process = subprocess.Popen(
        [*command, *map(str, arguments)],
        cwd=cwd,
        env=_terminal_environment(env),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=_lead_a_session,
    )
    os.close(theirs)
    is_pressed = False
    try:
        while chunk := _read(ours):
            shown.written.append((time.monotonic() - start, chunk))
            if not is_pressed and until(shown):
                is_pressed = True
                os.write(ours, then_press)
            if time.monotonic() - start > _PATIENCE_S:
                raise TimeoutError(f"no end after {_PATIENCE_S} s; the last that was written: {shown.raw[-500:]!r}")
        shown.exit_code = process.wait(timeout=_PATIENCE_S)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        os.close(ours)
    return shown


def _open_terminal(width: int) -> tuple[int, int]:
    """Our end, and that of the command."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _HEIGHT, width, 0, 0))
    return ours, theirs


def _terminal_environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    plain = {name: value for name, value in environment().items() if name not in _NOT_OF_A_TERMINAL}
    return {**plain, "TERM": "xterm-256color", **(extra or {})}


def _lead_a_session() -> None:
    """The terminal's keys reach the command, whatever its parent ignores."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        # Linux says so where nobody writes any more.
        return b""
