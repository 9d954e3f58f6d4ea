"""The report of a maintenance: what was deleted, by kind and repository, and what was left, and why."""

from collections.abc import Iterable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from msgspec import Struct


class RemovalKind(StrEnum):
    """The kinds of data that can be removed."""

    LEFTOVERS = "leftovers of killed processes"
    OVERLAYS = "overlays"
    MIRRORS = "mirrors"
    HISTORY = "rows of the history"
    BOOKS = "rows of the books"
    ANSWERS = "models' texts in the cache"
    RUNS = "Dagster's runs"
    RECORDS = "free pages of Dagster's records"
    PARTS = "parts in the bucket"


class FreedSpace(Struct, frozen=True):
    """So many things of a kind went, or would go, and their bytes. An empty `repository`: of the home."""

    kind: RemovalKind
    repository: str
    count: int
    size: int


class SkippedUpkeep(Struct, frozen=True):
    """What was not pruned, and why. The next maintenance tries again."""

    kind: RemovalKind | None
    repository: str
    because: str


class Maintenance(Struct, frozen=True):
    """All that one maintenance did, or with `is_dry_run` would do."""

    freed: tuple[FreedSpace, ...]
    untouched: tuple[SkippedUpkeep, ...]
    is_dry_run: bool
    seconds: float

    @property
    def size(self) -> int:
        """Bytes in all."""
        return sum(each.size for each in self.freed)

    def by_kind(self) -> list[FreedSpace]:
        """One sum per kind that something went of."""
        sums: dict[RemovalKind, tuple[int, int]] = {}
        for each in self.freed:
            count, size = sums.get(each.kind, (0, 0))
            sums[each.kind] = count + each.count, size + each.size
        return [FreedSpace(kind, "", *sums[kind]) for kind in RemovalKind if kind in sums]


def size_of(paths: Iterable[Path]) -> int:
    """Bytes of files, and of all files below folders; what goes meanwhile counts nothing."""
    total = 0
    for path in paths:
        with suppress(FileNotFoundError):
            is_folder = path.is_dir() and not path.is_symlink()
            total += size_of(path.iterdir()) if is_folder else path.lstat().st_size
    return total
