"""The files of a commit."""

from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from codesum_pipeline.source.git.git import read_records

# The modes of entries that are no files.
SYMLINK_MODE = "120000"
SUBMODULE_MODE = "160000"
# The largest known repositories have half of it. A few hundred bytes of trees that contain each other ten
# times over can expand to billions of files.
MOST_ENTRIES = 1_000_000
# By commits, the trees in which their submodules are joined to their own files.
JOINED_TREES = "refs/codesum/joined"


def tree_of_commit(git_dir: Path, commit: str) -> str:
    """The tree to read a commit's files from: the one with its submodules, or else the commit itself."""
    try:
        return (git_dir / JOINED_TREES / commit).read_text(encoding="ascii").strip() or commit
    except (OSError, ValueError):
        return commit


class TreeFile(NamedTuple):
    """One file, link or submodule of a commit; `size` is 0 if it was not asked for, or is not known."""

    path: bytes
    mode: str
    blob: str
    size: int


def read_tree(
    commit: str, *paths: str, git_dir: Path, timeout_s: float, with_sizes: bool = False
) -> Generator[TreeFile, None, None]:
    """The files of a commit, or those at some paths. A reader may stop early: all of a hostile tree may be too much.

    Raises `RepositoryUnavailable` if the repository does not have the commit, or one of its folders.
    """
    switches = ["-r", "-z", *(["-l"] if with_sizes else []), "--full-tree", "--end-of-options"]
    with closing(read_records(["ls-tree", *switches, commit, *paths], timeout_s=timeout_s, git_dir=git_dir)) as found:
        for record in found:
            facts, _, path = record.partition(b"\t")
            mode, _, blob, *size = facts.decode("ascii").split()
            yield TreeFile(path, mode, blob, int(size[0]) if size and size[0].isdigit() else 0)
