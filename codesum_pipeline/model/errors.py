"""Every error the package raises, sorted by what the caller can do about it.

```text
CodesumError
├── ConfigurationError          fix the configuration: settings, repos.yaml, arguments
│   ├── UnknownRepository       a key that repos.yaml does not have
│   └── InvalidKey              a key that cannot be a folder and partition name
├── SkippedFile                 skip and count this file
├── RetryLater                  try again: nothing is wrong with what was asked
│   ├── RepositoryUnavailable   git could not read the repository
│   ├── EmbedderUnavailable     a provider of embeddings failed again and again
│   └── LeaseHeld               another build of the same repository is under way
├── CannotWrite                 do not retry before the disk has room, or can be written
├── UnusableVectors             do not retry: an embedding model answered what was not asked
└── BrokenStore                 do not retry: what is stored contradicts itself
    ├── MissingTable            a step ran before the step it reads from
    ├── SchemaMismatch          written by another version of the package
    └── BrokenIndex             a published index that fails its manifest
```

A message names the thing, its value and the way out. Only the ways in (command
line, Dagster) catch the root.
"""


class CodesumError(Exception):
    """The root of the tree: caught by the ways in, and nowhere else."""


class ConfigurationError(CodesumError):
    """Something a person configured cannot work as it stands."""


class UnknownRepository(ConfigurationError):
    """A repository key that the registry does not have."""


class InvalidKey(ConfigurationError):
    """A repository key that cannot be a folder and partition name."""


class SkippedFile(CodesumError):
    """One file cannot be indexed; the others go on."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class RetryLater(CodesumError):
    """The same request can succeed at another time."""


class RepositoryUnavailable(RetryLater):
    """Git could not reach or read the repository."""


class LeaseHeld(RetryLater):
    """Another build of the same repository is under way."""


class EmbedderUnavailable(RetryLater):
    """A provider of embeddings could not be reached, or had too much to do."""


class CannotWrite(CodesumError):
    """The system refuses to write a file: no space, a limit, or read-only."""


class UnusableVectors(CodesumError):
    """An embedding model gave too many or too few vectors, or such that cannot be compared."""


class BrokenStore(CodesumError):
    """What is stored contradicts itself; a rebuild is the way out."""


class MissingTable(BrokenStore):
    """A step ran before the step whose table it reads."""


class SchemaMismatch(BrokenStore):
    """A table was written by another version of the package."""


class BrokenIndex(BrokenStore):
    """A published index does not agree with its manifest."""
