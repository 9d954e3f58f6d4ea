"""Work that somebody waits for ends at its next step once nobody does.

A thread cannot be stopped from outside. So what may take long looks up at each step whether its answer is still
wanted: `checkpoint()` raises what the one who began the work chose, and costs next to nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Check = Callable[[], None]


_check: ContextVar[Check] = ContextVar("check", default=lambda: None)


@contextmanager
def wanted_until(check: Check) -> Iterator[None]:
    """For the time of a block in this thread, `check` raises where the work of the block is not wanted any more."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def stop_if_cancelled() -> None:
    """A step of work begins."""
    _check.get()()
