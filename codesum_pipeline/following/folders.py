"""Which folders of a work tree are watched, and which changes in them are changes of the tree.

Only folders with files that git tracks or would add are watched, each by itself: what is ignored costs nothing. Of
git's own files three say that something is another now: HEAD, the index, and the branches.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from codesum_pipeline.source.git import run_git, try_git

_TIMEOUT_S = 30.0
_OF_GIT = frozenset({"HEAD", "index", "packed-refs"})
# The system tells of no changes that another machine makes there.
_NETWORK = frozenset(
    {"9p", "afs", "ceph", "cifs", "drvfs", "fuse.sshfs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"}
)


@dataclass(frozen=True)
class TreeFolders:
    """The work tree at `root`; what lies in `home` is no part of it."""

    root: Path
    home: Path
    # Ignored files that change all the time, as logs do, are asked about once.
    _noise: set[str] = field(default_factory=set)

    def watched(self) -> frozenset[str]:
        """Raises `RepositoryUnavailable` where git cannot read the tree."""
        folders = {self.root}
        for name in self._listed("--cached", "--others"):
            folders.update((self.root / name).parents)
        for name in self._listed("--others", "--directory"):
            # A folder without files, or one that git knows nothing in.
            if name.endswith("/"):
                folders.update(_below(self.root / name))
        own = {folder for folder in folders if folder.is_relative_to(self.root) and not self._is_of_home(folder)}
        return frozenset(str(each) for each in own.union(self._of_git) if each.is_dir() and os.access(each, os.R_OK))

    def changed(self, paths: Iterable[str]) -> set[str]:
        """Those of some paths at which something happened that may change the tree."""
        of_git = set(map(str, self._of_git))
        found, asked = set(), set()
        for path in paths:
            folder, name = os.path.split(path)
            if folder in of_git:
                is_branch = folder.startswith(str(self._common / "refs")) and not name.endswith(".lock")
                if is_branch or name in _OF_GIT:
                    found.add(path)
            elif path not in self._noise and not self._is_of_home(Path(path)):
                asked.add(path)
        if any(path.endswith("/.gitignore") for path in asked):
            self._noise.clear()
        ignored = self._ignored(asked)
        self._noise.update(ignored)
        return found | (asked - ignored)

    def named(self, changed: Iterable[str]) -> set[str]:
        """What such paths are called in the tree; git's own files have no name there."""
        below = (Path(path).relative_to(self.root) for path in changed if Path(path).is_relative_to(self.root))
        return {path.as_posix() for path in below if ".git" not in path.parts}

    def _is_of_home(self, path: Path) -> bool:
        return path.is_relative_to(self.home)

    @property
    def is_on_a_network(self) -> bool:
        """Whether the file system is one of another machine."""
        # 20 ms, which the first answer of a server would wait for.
        import psutil

        mounts = {part.mountpoint: part.fstype for part in psutil.disk_partitions(all=True)}
        above = (str(folder) for folder in (self.root, *self.root.parents))
        return next((mounts[folder] for folder in above if folder in mounts), "") in _NETWORK

    @cached_property
    def _common(self) -> Path:
        """What all work trees of the repository share."""
        return Path(os.fsdecode(self._git("rev-parse", "--path-format=absolute", "--git-common-dir").rstrip(b"\n")))

    @cached_property
    def _own(self) -> Path:
        """What git keeps of this work tree alone."""
        return Path(os.fsdecode(self._git("rev-parse", "--absolute-git-dir").rstrip(b"\n")))

    @property
    def _of_git(self) -> list[Path]:
        return [self._own, self._common, *_below(self._common / "refs" / "heads")]

    def _listed(self, *options: str) -> list[str]:
        output = self._git("ls-files", "-z", "--exclude-standard", *options)
        return [os.fsdecode(name) for name in output.split(b"\0") if name]

    def _ignored(self, paths: set[str]) -> set[str]:
        """Those that git leaves out, also where they are gone."""
        if not paths:
            return set()
        done = try_git(
            ["check-ignore", "-z", "--stdin"],
            git_dir=self.root / ".git",
            cwd=self.root,
            data=b"\0".join(map(os.fsencode, sorted(paths))) + b"\0",
            timeout_s=_TIMEOUT_S,
            extra_environment={"GIT_WORK_TREE": str(self.root)},
        )
        return {os.fsdecode(name) for name in done.output.split(b"\0") if name}

    def _git(self, *arguments: str) -> bytes:
        return run_git(
            arguments,
            git_dir=self.root / ".git",
            cwd=self.root,
            timeout_s=_TIMEOUT_S,
            extra_environment={"GIT_WORK_TREE": str(self.root)},
        )


def _below(folder: Path) -> Iterator[Path]:
    """A folder and those in it, but for repositories of their own."""
    for here, folders, files in os.walk(folder):
        if ".git" in (*folders, *files):
            folders.clear()
        yield Path(here)
