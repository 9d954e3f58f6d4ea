"""Compilers' indexes: the files that a build takes in, and what they say about a repository's files."""

from msgspec import Struct


class IndexFile(Struct, frozen=True):
    """An index that was found, in the order of precedence; `store/columns.py` tells what columns hold.

    `sha256` is empty, and `problem` says why, where the index could not be taken in.
    """

    position: int
    origin: str
    root: str
    signature: str
    sha256: str
    size: int
    problem: str


class CompilerFile(Struct, frozen=True):
    """What an index says about one file, or why it counts for nothing there (`problem`).

    `documents` is the hash of what the indexes hold about the file, `facts` the JSON that the graph reads; see
    `parsing.compiled`.
    """

    file_path: str
    documents: str
    tool: str
    problem: str
    occurrences: int
    references: int
    misnamed: tuple[str, ...]
    facts: str

    @property
    def counts(self) -> bool:
        """Whether the file is what the index was made from."""
        return not self.problem
