"""What this process last read of some tables, for the next step of the build that reads the same of them."""

from typing import Generic, TypeVar

T = TypeVar("T")
# Of more rows, or of more that takes as much memory, nothing is kept.
MOST_KEPT = 1 << 16


class LastReading(Generic[T]):
    """A value and the hashes of the tables that it was made from. What it returns depends on the contents of the
    tables alone."""

    def __init__(self) -> None:
        self._last: tuple[tuple[str | None, ...], T] | None = None

    def find(self, made_from: tuple[str | None, ...]) -> T | None:
        """The value that was made from these tables; None for another, and where a table has no hash."""
        last = self._last
        return last[1] if last is not None and last[0] == made_from and None not in made_from else None

    def keep(self, made_from: tuple[str | None, ...], value: T, *, rows: int) -> None:
        """Keep a value that has as much as so many rows, if it is not too large."""
        self._last = (made_from, value) if rows < MOST_KEPT else None
