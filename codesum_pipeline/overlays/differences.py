"""Which files of a work tree differ from the commit that an index stands for.

Git lists names and blobs: of the commit from the mirror, of the work tree from its own index and status. Only files
that one of these says are others are read. Nothing that the repository configures runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.source.folders import FolderScan, StoredFile, scan_files
from codesum_pipeline.source.git import run_git
from codesum_pipeline.source.rules import PathRules
from codesum_pipeline.source.uncommitted import work_tree_state

_TIMEOUT_S = 20.0
_SUBMODULE = b"160000 "
# A server is asked about a few repositories in turn.
_LISTS_KEPT = 8


@dataclass(frozen=True, slots=True)
class Differences:
    """What a work tree has that a commit has not: the files of `scan` are changed or new, those that are `gone` were
    deleted or renamed. Both are files that the entry's rules let in."""

    scan: FolderScan
    gone: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.scan.files or self.gone)

    @property
    def changed(self) -> frozenset[str]:
        """The paths of the changed and new files."""
        return frozenset(path.decode() for path in self.scan.files)

    @property
    def paths(self) -> list[str]:
        """All that differ, sorted."""
        return sorted(self.changed | self.gone)

    @property
    def digest(self) -> str:
        """Equal for equal differences, whichever work tree they are of."""
        files = [[path.decode(), file.mode, file.blob] for path, file in sorted(self.scan.files.items())]
        return hash_of([files, sorted(self.gone)])


def differences(root: Path, rules: PathRules, *, mirror: Path, commit: str, home: Path) -> Differences:
    """Compare a work tree with a commit of a mirror; what lies in `home` is no part of it.

    Raises `RepositoryUnavailable` where git cannot read one of them.
    """
    before = {path: file.blob for path, file in _files_of_commit(mirror, commit).items()}
    tracked = _tracked_files(root)
    edited = {path.encode() for path in work_tree_state(root, rules.subdir).paths}
    # What is in one of them alone is in both of these with another blob, or with none.
    differing = {path for path in before.keys() | tracked.keys() if before.get(path) != tracked.get(path)}
    candidates = {path for path in differing | edited if _is_wanted(path, rules, root, home)}
    scan = scan_files(root, candidates & (tracked.keys() | edited))
    kept = {
        path: file
        for path, file in scan.files.items()
        if file.blob != before.get(path) and rules.why_skipped(path.decode(), mode=file.mode, size=0) is None
    }
    there = {path for path, file in scan.files.items() if path in kept or file.blob == before.get(path)}
    gone = frozenset(path.decode() for path in (candidates & before.keys()) - there)
    return Differences(replace(scan, files=kept, left_out=()), gone)


def whole_tree(found: Differences, *, mirror: Path, commit: str) -> FolderScan:
    """All files of the commit as they are in the tree."""
    gone = {path.encode() for path in found.gone}
    files = {path: file for path, file in _files_of_commit(mirror, commit).items() if path not in gone}
    return replace(found.scan, files={**files, **found.scan.files})


def _is_wanted(path: bytes, rules: PathRules, root: Path, home: Path) -> bool:
    """Whether an index would look at a file of this name."""
    try:
        name = path.decode()
    except UnicodeDecodeError:
        return False
    is_indexed = rules.why_skipped(name, mode="100644", size=0) is None
    return is_indexed and not (root / name).is_relative_to(home)


@lru_cache(maxsize=_LISTS_KEPT)
def _files_of_commit(mirror: Path, commit: str) -> Mapping[bytes, StoredFile]:
    """Each file of a commit: they never change."""
    arguments = ["ls-tree", "-r", "-z", "--full-tree", commit]
    found = {}
    for entry in run_git(arguments, git_dir=mirror, timeout_s=_TIMEOUT_S).split(b"\0"):
        facts, _, path = entry.partition(b"\t")
        if path and not facts.startswith(_SUBMODULE):
            mode, _, blob = facts.decode().split()
            found[path] = StoredFile(mode, blob)
    return found


def _tracked_files(root: Path) -> dict[bytes, str]:
    """The blob of each file in git's index of a work tree; of a merge that is not resolved one of several."""
    output = run_git(
        ["ls-files", "--stage", "-z"],
        git_dir=root / ".git",
        cwd=root,
        timeout_s=_TIMEOUT_S,
        extra_environment={"GIT_WORK_TREE": str(root)},
    )
    found = {}
    for entry in output.split(b"\0"):
        facts, _, path = entry.partition(b"\t")
        if path and not facts.startswith(_SUBMODULE):
            found[path] = facts.split()[1].decode()
    return found
