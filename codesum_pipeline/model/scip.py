"""The files of a compiler's indexes that a build takes in."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IndexFile:
    """An index that was found; `sha256` is empty, and `problem` says why, where it could not be taken in."""

    position: int
    origin: str
    root: str
    sha256: str
    size: int
    problem: str
