"""Write files so that a reader sees the old one or the new one, never half of it.

Where the system refuses to write, the error says what cannot be written, why, and what to do. SQLite says little: its
I/O error may mean a full disk, a limit or a broken disk, so the folder is looked at.

An unfinished file lies beside its target, under a hidden name with the number of the process that writes it. The next
write of the same target removes what killed processes left.
"""

import errno
import os
import resource
import shutil
import sqlite3
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self, TypeVar

from msgspec import json

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.errors import CannotWrite, CodesumError, causes_of
from codesum_pipeline.foundation.store.locks import is_of_this_namespace, pid_namespace

Kind = TypeVar("Kind")
# A disk with less room is full: SQLite and git need more than a page to go on.
_FULL_BYTES = 1 << 20
_WHY_AND_WAY_OUT = {
    errno.ENOSPC: ("no space left on device", "free space there"),
    errno.EDQUOT: ("the disk quota is used up", "free space there"),
    errno.EFBIG: ("it would grow over the file size limit of this process", "raise the limit (`ulimit -f`)"),
    errno.EROFS: ("it is read-only", "make it writable"),
    errno.EIO: ("the disk reports an input/output error", "check the disk"),
}
# What git, DuckDB and others say in the words of the C library.
_IN_WORDS = {os.strerror(number): number for number in _WHY_AND_WAY_OUT if number != errno.EIO}


@contextmanager
def explain_refused_writes(path: Path, *, called: str = "") -> Iterator[None]:
    """Turn the system's refusal to write into `CannotWrite`, which names the path, or what it is `called`."""
    try:
        yield
    except CodesumError:
        raise
    except Exception as error:
        found = _refusal(error, path if path.is_dir() else path.parent)
        if found is None:
            raise
        number, elsewhere = found
        raise cannot_write(elsewhere or called or str(path), number) from error


def cannot_write(what: str, number: int) -> CannotWrite:
    """The error for a refusal, by its `errno`."""
    why, way_out = _WHY_AND_WAY_OUT[number]
    return CannotWrite(f"{what} cannot be written: {why}; {way_out}, then run the same command again")


def refusal_in_words(text: str) -> int | None:
    """The `errno` of a refusal to write that a program described in words."""
    return next((number for words, number in _IN_WORDS.items() if words in text), None)


def is_refusal(number: int | None) -> bool:
    """Whether an `errno` says that something cannot be written."""
    return number in _IN_WORDS.values()


def _refusal(error: BaseException, folder: Path) -> tuple[int, str] | None:
    """The `errno` of an error or one of its causes, and the file if it is outside of this folder."""
    for cause in causes_of(error):
        if (number := _number(cause, folder)) is not None:
            named = str(getattr(cause, "filename", None) or "")
            is_here = not named or Path(named).is_relative_to(folder)
            return number, "" if is_here else named
    return None


def _number(error: BaseException, folder: Path) -> int | None:
    if isinstance(error, OSError):
        return error.errno if is_refusal(error.errno) else None
    if isinstance(error, sqlite3.Error):
        # The low byte is the kind, the others say which call failed.
        kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
        known = {sqlite3.SQLITE_FULL: errno.ENOSPC, sqlite3.SQLITE_READONLY: errno.EROFS}
        if kind in known:
            return known[kind]
        if kind in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
            return _look_at(folder) or (errno.EIO if kind == sqlite3.SQLITE_IOERR else None)
        return None
    return refusal_in_words(str(error)) if type(error).__module__.partition(".")[0] in ("duckdb", "_duckdb") else None


def _look_at(folder: Path) -> int | None:
    """Why nothing can be written into a folder, as far as the system says."""
    existing = next((found for found in (folder, *folder.parents) if found.exists()), folder)
    disk = os.statvfs(existing)
    if disk.f_flag & os.ST_RDONLY:
        return errno.EROFS
    if disk.f_bavail * disk.f_frsize < _FULL_BYTES:
        return errno.ENOSPC
    return errno.EFBIG if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY else None


@contextmanager
def replace_durably(path: Path) -> Iterator[BinaryIO]:
    """Replace `path` by what the block writes, durably: a temporary file beside it, fsync, rename.

    Raises `CannotWrite` if the system refuses.
    """
    with explain_refused_writes(path):
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
            flush_to_disk(path.parent)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def write_bytes_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by `data`, durably."""
    with replace_durably(path) as file:
        file.write(data)


def write_text_atomically(path: Path, text: str) -> None:
    """As `write_bytes_atomically`, in UTF-8."""
    write_bytes_atomically(path, text.encode("utf-8"))


def read_json(path: Path, kind: type[Kind]) -> Kind | None:
    """The value in a file of our own; None if there is no file, or another version wrote it in another form."""
    try:
        return decode(path.read_bytes(), kind)
    except (OSError, ValueError):
        return None


def write_json_atomically(path: Path, value: object) -> None:
    """As `write_bytes_atomically`; `read_json` reads it."""
    write_bytes_atomically(path, json.encode(value))


def set_times(path: Path, modified_ns: int) -> None:
    """Give a file or link the time at which it was first written."""
    os.utime(path, ns=(modified_ns, modified_ns), follow_symlinks=False)


def replace_link(name: Path, target: Path | str, *, modified_ns: int | None = None) -> None:
    """Make `name` a symbolic link to `target`; a reader sees the old one or the new one.

    The caller holds a lock, so that nobody else replaces the same link.
    """
    name.parent.mkdir(parents=True, exist_ok=True)
    aside = name.with_name(f".{name.name}.link")
    aside.unlink(missing_ok=True)
    aside.symlink_to(target)
    if modified_ns is not None:
        set_times(aside, modified_ns)
    os.replace(aside, name)


def flush_to_disk(path: Path) -> None:
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
            delete_path(leftover)
    return path.parent / f"{prefix}{os.getpid()}@{pid_namespace()}-{uuid.uuid4().hex}.tmp"


def delete_path(path: Path) -> None:
    """Delete a file, or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def identify_file(path: Path) -> str:
    """Identifies a file and its permissions, so that a replacement is noticed; empty without a file."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_dev}.{found.st_ino}.{found.st_size}.{found.st_mtime_ns}.{found.st_ctime_ns}"


class FileState(NamedTuple):
    """Identifies a file, so that a replacement is noticed; an `inode` of 0 matches any."""

    size: int
    modified_ns: int
    inode: int

    @classmethod
    def of(cls, path: Path, *, on_any_machine: bool = False) -> Self | None:
        """None if there is no file. Another machine has a copy of the file under another inode."""
        try:
            found = path.stat()
        except OSError:
            return None
        return cls(found.st_size, found.st_mtime_ns, 0 if on_any_machine else found.st_ino)

    def is_of(self, path: Path) -> bool:
        """Whether the file is still the one that this was noted of."""
        return FileState.of(path, on_any_machine=not self.inode) == self
