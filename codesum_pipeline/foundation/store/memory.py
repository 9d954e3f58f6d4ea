"""Free memory goes back to the system, so that the peaks of two steps do not add up; what may run side by side; and how
often Python collects garbage."""

import gc
import resource
from collections.abc import Iterator
from contextlib import contextmanager

# About 200 MB of it are libraries.
_LITTLE_KB = 400_000
# With as many documents as this or more, two parts of a build do not run side by side: each takes much memory.
MANY_DOCUMENTS = 1 << 15


def collect_seldom() -> None:
    """A build makes millions of objects and little garbage: a look every 700 objects takes a fifth of its time."""
    gc.set_threshold(100_000, 20, 20)


@contextmanager
def no_collection() -> Iterator[None]:
    """While much is made that stays: no look for garbage among all of it, again and again."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


def may_run_beside(documents: int) -> bool:
    """Whether two parts of a build that look at all documents may run at the same time."""
    return documents < MANY_DOCUMENTS


def release_memory() -> None:
    """Ask Arrow and the C library to release memory that they keep for later; used memory stays.

    A process that never used much keeps it all, since released memory has to be requested again.
    """
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < _LITTLE_KB:
        return
    # Every command imports this module at its start.
    import ctypes

    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    # Only glibc has it.
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
