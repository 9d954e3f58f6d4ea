"""Progress on stderr: a bar for a person, one line per finished step for a log."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from codesum_pipeline.cli.render import error_console, note
from codesum_pipeline.cli.safe_text import one_line
from codesum_pipeline.model.progress import Progress as Report


@contextmanager
def progress_bar() -> Iterator[Report]:
    """What a long step reports to while the block runs; the bar is gone when it ends."""
    console = error_console()
    if not console.is_terminal:
        yield _Lines()
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as drawn:
        yield _Bar(drawn)


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
            self._doing, self._task = doing, self._drawn.add_task(one_line(doing), total=total)
        self._drawn.update(self._task, completed=done, total=total)


class _Lines:
    """One line per thing that is done."""

    def __init__(self) -> None:
        self._finished: set[str] = set()

    def __call__(self, doing: str, done: int, total: int) -> None:
        if total and done >= total and doing not in self._finished:
            self._finished.add(doing)
            note(f"{one_line(doing)}: {done:,} of {total:,}")
