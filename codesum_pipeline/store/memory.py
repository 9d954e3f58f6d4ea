"""Memory that is free goes back to the system, so that one step's peak does not stand below the next one's."""

import ctypes
import resource
from collections.abc import Callable
from functools import cache

import pyarrow as pa

# About 200 MB of it are libraries.
_LITTLE_KB = 400_000


def give_back() -> None:
    """Ask Arrow and the C library for what they keep for later; what is in use stays.

    A process that never held much keeps all: what is given back has to be asked for again.
    """
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < _LITTLE_KB:
        return
    pa.default_memory_pool().release_unused()
    _trim()(0)


@cache
def _trim() -> Callable[[int], object]:
    """`malloc_trim`, which only glibc has."""
    found: Callable[[int], object] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return found or (lambda _keep: None)
