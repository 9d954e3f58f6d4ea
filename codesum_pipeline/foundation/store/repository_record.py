"""The record of a repository while its lease is held: a home in a folder is its own, that of a bucket is kept there."""

from datetime import date
from typing import Any, Protocol

# The rows of one transaction, by table.
Entry = dict[str, list[dict[str, Any]]]


class LedgerJournal(Protocol):
    """What was written into the ledger since the last commit, kept where it outlives this worker."""

    def take_left(self) -> list[Entry]:
        """What earlier workers left, oldest first; the second time nothing."""
        ...

    def write(self, entry: Entry) -> None:
        """Keep one transaction; raises `BucketUnavailable`, and then nobody may count on it."""
        ...


class RepositoryRecord:
    """The record of a repository, for the holder of its lease. Of a home in a folder its files are the record."""

    # Where the ledger's transactions are kept, too; None where the ledger's own file is enough.
    journal: LedgerJournal | None = None

    def check(self) -> None:
        """Raises `LeaseLost` if another worker took the repository over from this process."""

    def commit(self) -> None:
        """Bring the record up to date; raises `LeaseLost` and `BucketUnavailable`."""

    def note_spending(self, *, day: date, usd: float) -> None:
        """Tell all workers what models cost the repository on a day."""


FOLDER_RECORD = RepositoryRecord()
