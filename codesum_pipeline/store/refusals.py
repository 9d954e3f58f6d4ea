"""What the system refuses to write, said so that a person can act on it: what, why, and the way out.

SQLite says little of its own: an I/O error may be a full disk, a limit or a broken disk, so the folder is looked at.
"""

import errno
import os
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codesum_pipeline.model.errors import CannotWrite, CodesumError

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
def writing(path: Path, *, called: str = "") -> Iterator[None]:
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
    """The `errno` of a refusal to write that a program told in words."""
    return next((number for words, number in _IN_WORDS.items() if words in text), None)


def is_refusal(number: int | None) -> bool:
    """Whether an `errno` says that something cannot be written."""
    return number in _IN_WORDS.values()


def _refusal(error: BaseException, folder: Path) -> tuple[int, str] | None:
    """The `errno` that an error or one of its causes stands for, and the file where that is none of this folder's."""
    cause: BaseException | None = error
    while cause is not None:
        number = _number(cause, folder)
        if number is not None:
            named = str(getattr(cause, "filename", None) or "")
            is_here = not named or Path(named).is_relative_to(folder)
            return number, "" if is_here else named
        cause = cause.__cause__ or cause.__context__
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
    """Why nothing can be written into a folder, as far as the system tells."""
    existing = next((found for found in (folder, *folder.parents) if found.exists()), folder)
    disk = os.statvfs(existing)
    if disk.f_flag & os.ST_RDONLY:
        return errno.EROFS
    if disk.f_bavail * disk.f_frsize < _FULL_BYTES:
        return errno.ENOSPC
    return errno.EFBIG if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY else None
