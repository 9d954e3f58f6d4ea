"""Who called: a run inside the caller's own process uses its home and reports to its eyes.

A run that Dagster starts has no caller: it opens the home that its process was
given and writes its progress into its log.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codesum_pipeline.defs.building.exchange import RemoteBuilder
from codesum_pipeline.model.progress import Progress

if TYPE_CHECKING:
    from codesum_pipeline.wiring import Home

# Each line is a row in Dagster's event log: often enough to see that it moves, rare enough to be read.
LOG_EVERY_S = 10.0


@dataclass(frozen=True)
class Caller:
    """Either the home, settings included, that runs work in and what they report to; or the process that builds."""

    home: "Home | None" = None
    progress: Progress | None = None
    builder: RemoteBuilder | None = None


_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)
_NOBODY = Caller()


@contextmanager
def called_by(caller: Caller) -> Iterator[None]:
    """Runs executed by this thread inside the block belong to `caller`."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def current_caller() -> Caller:
    """The caller of the run at hand; one without anything in a run that Dagster started."""
    return _caller.get() or _NOBODY


class LoggedProgress:
    """Counts in a log, at most one line every `LOG_EVERY_S` seconds."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._last = time.monotonic()

    def __call__(self, doing: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last >= LOG_EVERY_S:
            self._last = now
            self._log.info("%s: %s of %s", doing, f"{done:,}", f"{total:,}")
