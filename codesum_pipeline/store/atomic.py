"""Writing so that a reader sees the old file or the new one, never half of it.

What is not finished yet lies beside its target under a hidden name that tells the process which writes it. The next
write of the same target removes what killed processes left.
"""

import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

from codesum_pipeline.store.locks import is_of_this_namespace, pid_namespace
from codesum_pipeline.store.refusals import writing


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Replace `path` by what the block writes, durably: a temporary file beside it, fsync, rename.

    Raises `CannotWrite` where the system refuses.
    """
    with writing(path):
        temporary = temporary_beside(path)
        try:
            with temporary.open("xb") as file:
                # Who could read a file that is replaced can read the new one.
                with suppress(FileNotFoundError):
                    os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
            flush(path.parent)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def write_bytes_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by `data`, durably."""
    with replacing(path) as file:
        file.write(data)


def write_text_atomically(path: Path, text: str) -> None:
    """As `write_bytes_atomically`, in UTF-8."""
    write_bytes_atomically(path, text.encode("utf-8"))


def set_times(path: Path, modified_ns: int) -> None:
    """Give a file or link the time at which it was first written."""
    os.utime(path, ns=(modified_ns, modified_ns), follow_symlinks=False)


def flush(path: Path) -> None:
    """Make a file durable, or the renames in a folder, in the order in which they were made."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def temporary_beside(path: Path) -> Path:
    """A new name in the folder of `path`, which is made where it is missing; leftovers of killed writers go."""
    path.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{path.name}."
    for leftover in path.parent.glob(f"{prefix}*.tmp*"):
        # Thirty milliseconds, for which a search does not wait.
        import psutil

        writer, _, namespace = leftover.name.removeprefix(prefix).partition("-")[0].partition("@")
        if writer.isdecimal() and is_of_this_namespace(namespace) and not psutil.pid_exists(int(writer)):
            remove(leftover)
    return path.parent / f"{prefix}{os.getpid()}@{pid_namespace()}-{uuid.uuid4().hex}.tmp"


def remove(path: Path) -> None:
    """Delete a file, or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def state_of(path: Path) -> str:
    """What tells a file, its rights too, from one that was put in its place; empty where there is none."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_dev}.{found.st_ino}.{found.st_size}.{found.st_mtime_ns}.{found.st_ctime_ns}"


class FileState(NamedTuple):
    """What tells a file from one that was put in its place."""

    size: int
    modified_ns: int
    # 0 of a file that was fetched from a bucket: what it was on the worker that wrote it says nothing here.
    inode: int

    @classmethod
    def of(cls, path: Path) -> Self | None:
        """None where there is no file."""
        try:
            found = path.stat()
        except OSError:
            return None
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)

    def is_of(self, path: Path) -> bool:
        """Whether the file is still the one that this was noted of."""
        found = FileState.of(path)
        return found is not None and (found if self.inode else found._replace(inode=0)) == self
