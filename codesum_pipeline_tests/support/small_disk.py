"""A disk that is too small for what a test writes."""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """What this process writes meanwhile fits on a disk so small."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    was_off = sys.dont_write_bytecode
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    # A compiled module that the limit cuts short would be kept.
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = was_off
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
