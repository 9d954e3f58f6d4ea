"""The local copies of homes in buckets that this process has opened, by folder.

Whoever reads a home, or edits its files, asks here first: a home that is a folder needs none of the code of buckets,
which takes longer to import than a search takes.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from codesum_pipeline.store.home_files import HomeFiles
    from codesum_pipeline.store.reading_copy import ReadingCopy

T = TypeVar("T")
home_files: dict[Path, "HomeFiles"] = {}
reading_copies: dict[Path, "ReadingCopy"] = {}


def reading_copy(home: Path) -> "ReadingCopy | None":
    """What a folder is the copy of; None for a home that is a folder."""
    return reading_copies.get(home) if reading_copies else None


def edited(path: Path, edit: Callable[[], T]) -> T:
    """Do an edit that reads and replaces `path`, or files below it.

    Where it is the copy of what a bucket holds, the newest text is edited and sent, and edited again where somebody
    else was quicker. Where the bucket cannot be reached, neither has changed; raises `BucketUnavailable`.
    """
    files = next((home_files[folder] for folder in path.parents if folder in home_files), None)
    return edit() if files is None else files.edit(path, edit)
