"""Progress on stderr: a bar for a person, lines for a log; both say something at least every few seconds."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column
from rich.text import Text

from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.data_model.progress import Progress as Report
from codesum_pipeline.ways_in.cli.render import drawing_on, error_console, write_note

STARTING = "starting"

# A log hears of a long piece of work this often at first; later it is known that it takes long.
_NEWS_EVERY_S = 2.5
_LATER_EVERY_S = 15.0
_LATER_AFTER_S = 60.0
# Columns of a terminal below which there is no room for the bar itself.
_ROOM_FOR_BAR = 60


@contextmanager
def show_progress() -> Iterator[Report]:
    """What a long step reports to while the block runs; the bar is gone when it ends.

    A terminal that cannot move its cursor, a file and a CI job get lines.
    """
    console = error_console()
    if not _can_draw(console):
        with _Lines() as lines:
            yield lines
        return
    # The console keeps the stream that it has now. If it drew on whatever replaces stderr, and that wrote back to
    # the console, neither would end.
    drawn = Progress(
        *_columns(console), console=console, transient=True, redirect_stdout=False, redirect_stderr=False, expand=True
    )
    with drawn, drawing_on(console):
        bar = _Bar(drawn)
        bar(STARTING, 0, 0)
        yield bar


@contextmanager
def show_start() -> Iterator[None]:
    """Says at once that a command has begun, while what it needs is imported; to a person, not to a pipe."""
    console = error_console()
    if console.is_terminal and not _can_draw(console):
        write_note(STARTING)
    with show_progress(), _keeping_interrupts():
        yield


@contextmanager
def _keeping_interrupts() -> Iterator[None]:
    """An interrupt that some code swallows while it is imported is raised at the end."""
    swallowed: list[int] = []

    def note_and_raise(number: int, _frame: FrameType | None) -> NoReturn:
        swallowed.append(number)
        raise KeyboardInterrupt

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, note_and_raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if swallowed:
        raise KeyboardInterrupt


def _can_draw(console: Console) -> bool:
    return console.is_terminal and not console.is_dumb_terminal and not os.environ.get("CI")


def _columns(console: Console) -> Iterator[ProgressColumn]:
    yield TextColumn(
        "{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")
    )
    if console.width >= _ROOM_FOR_BAR:
        yield BarColumn(bar_width=20)
    yield _Count()
    yield TimeElapsedColumn()


class _Count(MofNCompleteColumn):
    """How many of how many, where that is known."""

    def render(self, task: Task) -> Text:
        return Text() if task.total is None else super().render(task)


class _Bar:
    """A bar for what is being done now: the steps of a build follow one another."""

    def __init__(self, drawn: Progress) -> None:
        self._drawn = drawn
        self._doing = ""
        self._task: TaskID | None = None

    def __call__(self, doing: str, done: int, total: int) -> None:
        if doing != self._doing and self._task is not None:
            self._drawn.remove_task(self._task)
            self._task = None
        if self._task is None:
            self._doing, self._task = doing, self._drawn.add_task(one_line(doing), total=total or None)
        self._drawn.update(self._task, completed=done, total=total or None)


class _Lines:
    """One line per thing that is done, and one now and then about what takes long."""

    def __init__(self) -> None:
        self._finished: set[str] = set()
        self._now = STARTING
        self._began = self._last_line_at = time.monotonic()
        self._is_over = threading.Event()
        self._clock = threading.Thread(target=self._tell_now_and_then, daemon=True)

    def __enter__(self) -> "_Lines":
        self._clock.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._clock.join()

    def __call__(self, doing: str, done: int, total: int) -> None:
        self._now = f"{one_line(doing)}: {done:,} of {total:,}" if total else one_line(doing)
        if total and done >= total and doing not in self._finished:
            self._finished.add(doing)
            self._tell(self._now)

    def _tell(self, line: str) -> None:
        self._last_line_at = time.monotonic()
        write_note(line)

    def _tell_now_and_then(self) -> None:
        while not self._is_over.wait(0.25):
            now = time.monotonic()
            if now - self._last_line_at >= (_NEWS_EVERY_S if now - self._began < _LATER_AFTER_S else _LATER_EVERY_S):
                self._tell(f"{self._now} ({now - self._began:.0f} s)")
