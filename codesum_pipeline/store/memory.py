"""Memory that is free goes back to the system, so that one step's peak does not stand below the next one's."""

import ctypes
from collections.abc import Callable
from functools import cache

import pyarrow as pa


def give_back() -> None:
    """Ask Arrow and the C library for what they keep for later; what is in use stays."""
    pa.default_memory_pool().release_unused()
    _trim()(0)


@cache
def _trim() -> Callable[[int], object]:
    """`malloc_trim`, which only glibc has."""
    found: Callable[[int], object] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return found or (lambda _keep: None)
