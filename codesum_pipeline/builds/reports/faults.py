"""Whose fault an error is: the machine's, a shared part's, or the repository's.

Only a fault of the repository's state counts as an attempt to build that state. A full disk says nothing about a
repository, nor does a bucket that is away: another machine, or a later moment, builds it.

The whole chain of causes is looked at. A fault of the machine is decisive wherever it is found, since a bucket cannot
be reached either by a process without descriptors.
"""

import errno
import os
import sqlite3
from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model import errors
from codesum_pipeline.foundation.data_model.errors import (
    BucketRefused,
    BucketUnavailable,
    CannotWrite,
    EmbedderUnavailable,
    OlderRelease,
    causes_of,
)


class FaultSource(StrEnum):
    """What an error is a fault of."""

    MACHINE = "machine"
    SHARED_PART = "shared part"
    REPOSITORY = "repository"


class Fault(Struct, frozen=True):
    """What an error is a fault of, and which part of that."""

    source: FaultSource
    part: str = ""

    def __str__(self) -> str:
        return f"{self.source}: {self.part}" if self.part else self.source.value

    @property
    def is_attempt(self) -> bool:
        """Whether it counts as an attempt to build the repository's state."""
        return self.source is FaultSource.REPOSITORY

    @classmethod
    def parse(cls, text: str) -> "Fault":
        """The fault that `str` wrote; one of the repository for what no version of this package wrote."""
        source, _, part = text.partition(": ")
        return cls(FaultSource(source), part) if source in list(FaultSource) else REPOSITORY


_TABLE = packaged_table(__package__, "faults")
REPOSITORY = Fault(FaultSource.REPOSITORY)
_FAULTS = {
    "repository": REPOSITORY,
    **{name: Fault(FaultSource.MACHINE, part) for name, part in _TABLE["machine"].items()},
    **{name: Fault(FaultSource.SHARED_PART, part) for name, part in _TABLE["shared_part"].items()},
}
DISK, MEMORY, RELEASE, STOPPED, KILLED = map(_FAULTS.__getitem__, ("disk", "memory", "release", "stopped", "killed"))
BUCKET, DATABASE, QUEUE, WORKERS, HOST = map(_FAULTS.__getitem__, ("bucket", "database", "queue", "workers", "host"))


def _faults_in(section: str) -> dict[str, Fault]:
    """The faults of a section of the table, by what tells each."""
    return {sign: _FAULTS[name] for name, signs in _TABLE[section].items() for sign in signs}


_BY_NUMBER = {getattr(errno, name): fault for name, fault in _faults_in("errno").items()}
_BY_SQLITE_CODE = {getattr(sqlite3, name): fault for name, fault in _faults_in("sqlite").items()}
_BY_WORDS = {os.strerror(number): fault for number, fault in _BY_NUMBER.items()} | _faults_in("words")
# Errors that repeat the words of such a library; those of git repeat what servers say of themselves, too.
_IN_WORDS = (BucketUnavailable, BucketRefused, EmbedderUnavailable)
_LIBRARIES_IN_WORDS = ("duckdb", "_duckdb", "obstore", "pyarrow")
_BY_TYPE = tuple((getattr(errors, kind), _FAULTS[name]) for kind, name in _TABLE["own"].items())
_BY_NAME = {tuple(name.split(".")): fault for name, fault in _faults_in("library").items()}
# Our own errors as Dagster keeps them of a run whose definitions could not be loaded: it began no step that sorts them.
_BY_OWN_NAME = {
    f"{kind.__module__}.{kind.__qualname__}": fault
    for kind, fault in ((CannotWrite, DISK), (OlderRelease, RELEASE), *_BY_TYPE)
}
_BY_END = _faults_in("end")
# What is said of a process that came to its end by itself while its run goes on in Dagster's records.
UNWRITTEN_END = _TABLE["end"]["database"][0]


def sort_fault(error: BaseException) -> Fault:
    """Whose fault an error is; the repository's if nothing in its chain of causes says otherwise."""
    causes = list(causes_of(error))
    found = next((fault for cause in causes if (fault := _fault_of_machine(cause))), None)
    return found or next((fault for cause in causes if (fault := _fault_of_part(cause))), REPOSITORY)


def sort_end(messages: Iterable[str], kept: Sequence[str]) -> Fault:
    """Whose fault it is that a run failed whose process could not say it: by what was told of its end, and by the
    errors that Dagster kept, each as Python prints it with its name in front."""
    told = next((fault for message in messages for words, fault in _BY_END.items() if words in message), None)
    names = [error.partition(":")[0].strip() for error in kept]
    if "MemoryError" in names:
        return MEMORY
    return told or next(filter(None, map(_fault_named, names)), REPOSITORY)


def _fault_named(name: str) -> Fault | None:
    by_library = (
        fault
        for (library, kind), fault in _BY_NAME.items()
        if name.startswith(f"{library}.") and name.endswith(f".{kind}")
    )
    return _BY_OWN_NAME.get(name) or next(by_library, None)


def _fault_of_machine(error: BaseException) -> Fault | None:
    if isinstance(error, CannotWrite | OlderRelease):
        return DISK if isinstance(error, CannotWrite) else RELEASE
    if isinstance(error, MemoryError) or _is_named(error, "duckdb", "OutOfMemoryException"):
        return MEMORY
    if isinstance(error, OSError) and error.errno in _BY_NUMBER:
        return _BY_NUMBER[error.errno]
    if isinstance(error, sqlite3.Error):
        return _BY_SQLITE_CODE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    if isinstance(error, _IN_WORDS) or type(error).__module__.partition(".")[0] in _LIBRARIES_IN_WORDS:
        text = str(error)
        return next((fault for words, fault in _BY_WORDS.items() if words in text), None)
    return None


def _fault_of_part(error: BaseException) -> Fault | None:
    by_type = next((fault for kind, fault in _BY_TYPE if isinstance(error, kind)), None)
    return by_type or next((fault for name, fault in _BY_NAME.items() if _is_named(error, *name)), None)


def _is_named(error: BaseException, library: str, name: str) -> bool:
    return any(
        kind.__name__ == name and kind.__module__.partition(".")[0].lstrip("_") == library
        for kind in type(error).__mro__
    )
