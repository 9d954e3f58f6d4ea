"""Locks that the kernel releases when their holder ends, however it ends.

`flock` belongs to the open file, not to the process's number: it works between containers that share a folder of one
machine. Between machines, over NFS, it works where the server keeps locks.
"""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path

from msgspec import Struct


def lock_exclusively(path: Path) -> AbstractContextManager[bool]:
    """Hold the lock of a file alone within the block; waits for other holders."""
    return _locked(path, fcntl.LOCK_EX)


def lock_shared(path: Path) -> AbstractContextManager[bool]:
    """Hold the lock of a file together with other `shared` holders; waits for an `exclusive` one."""
    return _locked(path, fcntl.LOCK_SH)


def lock_if_free(path: Path) -> AbstractContextManager[bool]:
    """As `exclusive`, without waiting; the block receives whether it holds the lock."""
    return _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def _locked(path: Path, how: int) -> Iterator[bool]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, how)
        except BlockingIOError:
            yield False
        else:
            yield True


def take_own(path: Path) -> int | None:
    """Lock a new file of this process until it ends or closes the handle; None if that is impossible."""
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        path.unlink(missing_ok=True)
        return None
    return handle


def is_free(path: Path) -> bool:
    """Whether the process that locked a file with `take_own` has certainly ended; False for an unreadable file."""
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


def boot_id() -> str:
    """An id that changes when the machine restarts."""
    path = Path("/proc/sys/kernel/random/boot_id")
    if path.exists():
        return path.read_text().strip()
    import psutil

    return f"{psutil.boot_time():.0f}"


@cache
def pid_namespace() -> str:
    """The space in which this process has its number: a container has its own, and sees no process outside of it.

    Empty if the system has only one such space, as macOS.
    """
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")  # noqa: PTH115 - no path: `pid:[4026531836]`
    except OSError:
        return ""


def is_of_this_namespace(namespace: str) -> bool:
    """Whether a process that was recorded in a namespace can be looked up here; older records name none."""
    return namespace in ("", pid_namespace())


def process_started(pid: int) -> float:
    """When a process started, in a unit that setting the clock does not move; 0 if there is none."""
    if Path("/proc/self").exists():
        try:
            # After the name in brackets, which may hold anything: the state first, the start in ticks as the 20th.
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return 0.0
        return 0.0 if fields[0] == "Z" else float(fields[19])
    # Thirty milliseconds, which commands on Linux need not wait.
    import psutil

    try:
        process = psutil.Process(pid)
        return 0.0 if process.status() == psutil.STATUS_ZOMBIE else round(process.create_time(), 2)
    except psutil.NoSuchProcess:
        return 0.0


class ProcessIdentity(Struct, frozen=True, kw_only=True):
    """Identifies a process among all others, also those of other machines."""

    pid: int
    process_started: float
    boot_id: str
    host: str
    pid_namespace: str = ""

    @classmethod
    def here(cls) -> "ProcessIdentity":
        """The process at hand."""
        pid, host = os.getpid(), socket.gethostname()
        return ProcessIdentity(
            pid=pid, process_started=process_started(pid), boot_id=boot_id(), host=host, pid_namespace=pid_namespace()
        )
