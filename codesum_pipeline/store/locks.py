"""Locks that the kernel gives back when their holder ends, however it ends.

`flock` belongs to the open file, not to the process's number: it works between
containers that share a folder of one machine. Between machines, over NFS, it
works where the server keeps locks.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Nobody else is in such a block with the same file; waits for whoever is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Nobody is in an `exclusive` block with the same file; others may be in such ones."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


@contextmanager
def exclusive_if_free(path: Path) -> Iterator[bool]:
    """As `exclusive`, without waiting: whether nobody else is in such a block."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            was_free = False
        else:
            was_free = True
        yield was_free


def take_own(path: Path) -> int | None:
    """Lock a new file that is nobody else's, until the process ends or closes the handle; None where none can be."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        path.unlink(missing_ok=True)
        return None
    return handle


def is_free(path: Path) -> bool:
    """Whether whoever locked a file with `take_own` certainly ended; a file that cannot be looked at tells nothing."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        # Shared, so that two that look at once do not take each other for the holder.
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
