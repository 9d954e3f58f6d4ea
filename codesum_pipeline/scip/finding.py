"""Where the indexes of a repository are: named by its entry, made by a command, beside its mirror, in its tree, in its
folder."""

import os
import stat
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from codesum_pipeline.model.errors import RefusedIndex
from codesum_pipeline.model.files import SkipReason, SourceFile
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.git import start_git, stop
from codesum_pipeline.source.locations import is_url
from codesum_pipeline.store.layout import HomeLayout

NAMES = ("index.scip", "index.scip.gz")
_ROOT_MARK = "@"


@dataclass(frozen=True, slots=True)
class FoundIndex:
    """An index before it is read. `signature` is empty where `open` will fail."""

    origin: str
    root: str
    signature: str
    open: Callable[[], AbstractContextManager[BinaryIO]]


def named_indexes(entry: RepositoryEntry, registry: Path) -> Iterator[FoundIndex]:
    """The files that the entry names, which may be links: whoever wrote the registry wanted them."""
    folder = registry.parent if is_url(entry.location) else Path(entry.location)
    for item in entry.scip:
        name, mark, root = item.rpartition(_ROOT_MARK)
        name, root = (name, root) if mark else (item, entry.subdir)
        yield _on_disk(folder / name, f"scip {name}", root.strip("/"), follow=True)


def indexes_beside(entry: RepositoryEntry, layout: HomeLayout) -> Iterator[FoundIndex]:
    """Those that were put beside the mirror, and those that lie in a local folder, ignored by git or not."""
    for ending in (".scip", ".scip.gz"):
        path = layout.mirrors / f"{entry.key}{ending}"
        if path.exists():
            yield _on_disk(path, f"mirrors/{path.name}", entry.subdir, follow=False)
    if not is_url(entry.location):
        for root in dict.fromkeys((entry.subdir, "")):
            for name in NAMES:
                path = Path(entry.location) / root / name
                if os.path.lexists(path):
                    yield _on_disk(path, f"folder {_below(root, name)}", root, follow=False)


def indexes_in_tree(files: Sequence[SourceFile], git_dir: Path, *, besides: Sequence[str]) -> Iterator[FoundIndex]:
    """Those that are committed; `besides` are signatures of files that are the same."""
    for file in files:
        folder, _, name = file.path.rpartition("/")
        if name in NAMES and file.blob and file.reason is not SkipReason.SYMLINK and file.blob not in besides:
            yield FoundIndex(f"tree {file.path}", folder, file.blob, _Blob(git_dir, file.blob))


def index_state(entry: RepositoryEntry, layout: HomeLayout) -> str:
    """What tells the indexes that are not of a commit from others, without reading them; empty where there are none."""
    found = [*named_indexes(entry, layout.repos_file), *indexes_beside(entry, layout)]
    state = [[one.origin, one.root, one.signature] for one in found]
    return hash_of([state, entry.scip_command]) if state or entry.scip_command else ""


def _below(root: str, name: str) -> str:
    return f"{root}/{name}" if root else name


def _on_disk(path: Path, origin: str, root: str, *, follow: bool) -> FoundIndex:
    try:
        found = path.stat() if follow else path.lstat()
        signature = f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"
    except OSError:
        signature = ""
    return FoundIndex(origin, root, signature, _File(path, follow))


@dataclass(frozen=True, slots=True)
class _File:
    """A file on disk, which is another one while somebody writes it."""

    path: Path
    follow: bool

    @contextmanager
    def __call__(self) -> Iterator[BinaryIO]:
        flags = os.O_RDONLY | os.O_NONBLOCK | (0 if self.follow else os.O_NOFOLLOW)
        try:
            handle = os.open(self.path, flags)
        except OSError as error:
            raise RefusedIndex(f"{self.path} cannot be read: {error.strerror}") from error
        with os.fdopen(handle, "rb") as file:
            before = os.fstat(handle)
            if not stat.S_ISREG(before.st_mode):
                raise RefusedIndex(f"{self.path} is no regular file")
            yield file
            after = os.fstat(handle)
            if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                raise RefusedIndex(f"{self.path} was written while it was read: the next build takes it in")


@dataclass(frozen=True, slots=True)
class _Blob:
    """A file of a commit, as git writes it out."""

    git_dir: Path
    blob: str

    @contextmanager
    def __call__(self) -> Iterator[BinaryIO]:
        process = start_git(["cat-file", "blob", self.blob], git_dir=self.git_dir, stderr=subprocess.DEVNULL)
        try:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.close()
            yield process.stdout  # type: ignore[misc]
            if process.wait() != 0:
                raise RefusedIndex(f"blob {self.blob} is not in the mirror")
        finally:
            stop(process)
