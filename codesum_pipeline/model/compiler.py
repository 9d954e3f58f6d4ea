"""What a compiler's index says about a repository's files."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CompilerFile:
    """What an index says about one file, or why it counts for nothing there (`problem`).

    `documents` is the hash of what the indexes hold about the file, `tool` the program that wrote the one that counts.
    `misnamed` are symbols that the text does not spell where the index has them, each once. `facts` is the JSON that
    the graph reads; see `parsing.compiled`.
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
