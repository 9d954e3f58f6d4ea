"""The files of a compiler's indexes that a build takes in."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IndexFile:
    """An index that was found, in the order of precedence.

    `origin` says where, `root` is the folder that its paths are relative to. `signature` tells it from another state
    of the same file: git's object id, or what the file system says. `sha256` is that of its content, uncompressed; it
    is empty, and `problem` says why, where the index could not be taken in.
    """

    position: int
    origin: str
    root: str
    signature: str
    sha256: str
    size: int
    problem: str
