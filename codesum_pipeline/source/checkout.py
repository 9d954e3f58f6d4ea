"""A commit of a mirror as files in a folder, for a program that reads files.

Contents are written exactly as they are stored: no filter, no line-end
conversion, no large file of an LFS server, no hook. Links of the tree are made
as they are, and nothing here follows them; submodules are empty folders.
"""

import shutil
from pathlib import Path

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.source.git import read_records, run_git
from codesum_pipeline.source.mirror import Mirror, make_borrowing

# Stronger than any .gitattributes of the tree.
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding -diff -merge\n"
_MB = 1024 * 1024
# Of what is free on the disk, what a checkout may take.
_MOST_OF_DISK = 0.5


def tree_of(mirror: Mirror, commit: str) -> str:
    """The id of a commit's tree: commits with the same one hold the same files."""
    arguments = ["rev-parse", "--verify", f"{commit}^{{tree}}"]
    return run_git(arguments, git_dir=mirror.git_dir, timeout_s=mirror.timeout_s).decode().strip()


def check_out(mirror: Mirror, commit: str, folder: Path, *, aside: Path) -> None:
    """Write the files of a commit into `folder`, which is empty; `aside` is a name for what git needs meanwhile.

    Raises `RepositoryUnavailable` for a tree that no folder can hold, and `ConfigurationError` for one that would take
    more than half of the disk's room.
    """
    _check_room(mirror, commit, folder)
    scratch = make_borrowing(mirror.git_dir, aside, timeout_s=mirror.timeout_s)
    attributes = scratch.git_dir / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text(_ATTRIBUTES, encoding="ascii")
    places = {"GIT_WORK_TREE": str(folder), "GIT_INDEX_FILE": str(scratch.git_dir / "index")}
    for arguments in (["read-tree", commit], ["checkout-index", "--all", "--quiet"]):
        run_git(arguments, git_dir=scratch.git_dir, timeout_s=mirror.timeout_s, cwd=folder, extra_environment=places)
    shutil.rmtree(scratch.git_dir, ignore_errors=True)


def _check_room(mirror: Mirror, commit: str, folder: Path) -> None:
    """A few kilobytes of a repository may say that they are petabytes of files."""
    room = shutil.disk_usage(folder).free * _MOST_OF_DISK
    for record in read_records(
        ["ls-tree", "-r", "-z", "-l", "--full-tree", commit], git_dir=mirror.git_dir, timeout_s=mirror.timeout_s
    ):
        size = record.partition(b"\t")[0].split()[-1]
        room -= int(size) if size.isdigit() else 0
        if room < 0:
            raise ConfigurationError(
                f"the files of commit {commit[:12]} would take more than half of the "
                f"{shutil.disk_usage(folder).free // _MB} MB that are free in {folder.parent}: free space there, or "
                "set TMPDIR to a folder of another disk"
            )
