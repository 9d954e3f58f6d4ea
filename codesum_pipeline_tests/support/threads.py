"""Work of several threads that begins at the same moment, and in which they take turns as often as possible."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

T = TypeVar("T")
# Python's own interval is 5 ms, in which one thread is done before the next begins.
_INTERVAL_S = 1e-6


def at_once(work: Callable[[int], T], *, threads: int = 4) -> list[T]:
    """What each of several threads finds, which are given their numbers; what one of them raises is raised."""
    barrier = Barrier(threads)

    def begin(number: int) -> T:
        barrier.wait(60)
        return work(number)

    before = sys.getswitchinterval()
    sys.setswitchinterval(_INTERVAL_S)
    try:
        with ThreadPoolExecutor(threads) as pool:
            return [*pool.map(begin, range(threads))]
    finally:
        sys.setswitchinterval(before)
