"""Whether a file is still the one that it was."""

from pathlib import Path
from typing import NamedTuple, Self


class FileState(NamedTuple):
    """What tells a file from one that was put in its place."""

    size: int
    modified_ns: int
    # 0 of a file that was fetched from a bucket: what it was on the worker that wrote it says nothing here.
    inode: int

    @classmethod
    def of(cls, path: Path) -> Self | None:
        """None where there is no file."""
        try:
            found = path.stat()
        except OSError:
            return None
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)

    def is_of(self, path: Path) -> bool:
        """Whether the file is still the one that this was noted of."""
        found = FileState.of(path)
        return found is not None and (found if self.inode else found._replace(inode=0)) == self
