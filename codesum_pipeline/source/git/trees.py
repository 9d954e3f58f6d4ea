"""The files of a commit, also where the repository lacks some of the folders."""

from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable, TookTooLong
from codesum_pipeline.source.git.git import BlobReader, find_object_id, read_records, run_git

# The modes of entries that are no files; a folder is listed only where it cannot be read.
FOLDER_MODE = "040000"
SYMLINK_MODE = "120000"
SUBMODULE_MODE = "160000"
# So many sizes are asked for at a time.
_AT_A_TIME = 1_000
# The largest known repositories have half of it. A few hundred bytes of trees that contain each other ten
# times over can expand to billions of files.
MOST_ENTRIES = 1_000_000
# A folder that is deeper is listed like one that cannot be read; paths are limited far below.
_DEEPEST = 2_000


# By commits, the trees in which their submodules are joined to their own files.
JOINED_TREES = "refs/codesum/joined"


def tree_of_commit(git_dir: Path, commit: str) -> str:
    """The tree to read a commit's files from: the one with its submodules, or else the commit itself."""
    try:
        return (git_dir / JOINED_TREES / commit).read_text(encoding="ascii").strip() or commit
    except (OSError, ValueError):
        return commit


class TreeFile(NamedTuple):
    """One file, link or submodule of a commit, or a folder (`FOLDER_MODE`) whose files are not known since the
    repository lacks it; `size` is 0 if it was not asked for, or is not known."""

    path: bytes
    mode: str
    blob: str
    size: int


def read_tree(
    commit: str, *paths: str, git_dir: Path, timeout_s: float, with_sizes: bool = False
) -> Generator[TreeFile, None, None]:
    """The files of a commit, or those at some paths. A reader may stop early: all of a hostile tree may be too much.

    Raises `RepositoryUnavailable` if the repository has no such commit, or not its topmost folder.
    """
    switches = ["-r", "-z", *(["-l"] if with_sizes else []), "--full-tree", "--end-of-options"]
    listed = 0
    try:
        with closing(
            read_records(["ls-tree", *switches, commit, *paths], timeout_s=timeout_s, git_dir=git_dir)
        ) as found:
            for record in found:
                facts, _, path = record.partition(b"\t")
                mode, _, blob, *size = facts.decode("ascii").split()
                listed += 1
                yield TreeFile(path, mode, blob, int(size[0]) if size and size[0].isdigit() else 0)
    except TookTooLong:
        raise
    except RepositoryUnavailable:
        # Git stops at the first folder that is not there.
        top = find_object_id(commit, git_dir=git_dir, timeout_s=timeout_s, kind="tree")
        if top is None:
            raise
        wanted = [path.encode() for path in paths]
        every = (file for file in _walk(top, git_dir) if not wanted or _is_at(file.path, wanted))
        rest = islice(every, listed, None)
        while part := list(islice(rest, _AT_A_TIME)):
            yield from _with_sizes(part, git_dir, timeout_s=timeout_s) if with_sizes else part


def _is_at(path: bytes, wanted: list[bytes]) -> bool:
    return any(path == each or path.startswith(each + b"/") for each in wanted)


def _walk(top: str, git_dir: Path) -> Iterator[TreeFile]:
    """The files below a folder in the order of `git ls-tree -r`."""
    with BlobReader(git_dir, kind="tree") as folders:
        found = tree_entries(folders.read(top), id_bytes=len(top) // 2)
        if found is None:
            raise RepositoryUnavailable(f"{git_dir}: folder {top} cannot be read: delete this mirror to fetch it anew")
        open_folders = [(b"", iter(found))]
        while open_folders:
            above, entries = open_folders[-1]
            entry = next(entries, None)
            if entry is None:
                open_folders.pop()
                continue
            file = entry._replace(path=above + entry.path)
            if entry.mode != FOLDER_MODE:
                yield file
                continue
            found = tree_entries(next(folders.read_many([file.blob])), id_bytes=len(top) // 2)
            if found is None or len(open_folders) == _DEEPEST:
                yield file
            else:
                open_folders.append((file.path + b"/", iter(found)))


def tree_entries(tree: bytes | None, *, id_bytes: int) -> list[TreeFile] | None:
    """The entries of a tree object, in which folders have `FOLDER_MODE`; None for one that cannot be."""
    found = []
    at = 0
    while tree is not None and at < len(tree):
        mode, divider, _ = tree[at : at + 8].partition(b" ")
        end = tree.find(b"\0", at)
        if not divider or end < 0 or not mode.isdigit() or end + 1 + id_bytes > len(tree):
            return None
        name = tree[at + len(mode) + 1 : end]
        at = end + 1 + id_bytes
        found.append(TreeFile(name, mode.decode().zfill(6), tree[end + 1 : at].hex(), 0))
    return None if tree is None else found


def _with_sizes(files: list[TreeFile], git_dir: Path, *, timeout_s: float) -> Iterator[TreeFile]:
    blob_lines = "".join(f"{file.blob}\n" for file in files).encode()
    sizes = run_git(["cat-file", "--batch-check=%(objectsize)"], git_dir=git_dir, timeout_s=timeout_s, data=blob_lines)
    for file, size in zip(files, sizes.decode().splitlines(), strict=True):
        # Git says `ID missing` of what is not there.
        is_file = size.isdigit() and file.mode != FOLDER_MODE
        yield file._replace(size=int(size)) if is_file else file
