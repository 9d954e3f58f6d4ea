"""Mirrors: packed anew where many small files have come together, and gone where nobody needs them.

Whatever a kept index was made from gets a ref, so that its commit outlives the
branch that moved on. Git writes a new pack before it deletes an old one, keeps
what came in lately, and leaves a mirror whole wherever it is killed.
"""

import shutil
import time
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.model.errors import RetryLater
from codesum_pipeline.source.fetching import drop_unfinished
from codesum_pipeline.source.git import run_git
from codesum_pipeline.upkeep.freed import FreedSpace, RemovalKind, size_of

# Below these a new pack saves nothing that anybody would notice.
MANY_LOOSE = 200
MANY_PACKS = 10
_KEPT = "refs/codesum/kept/"
# The name of a mirror that is being deleted: under its own name it is whole.
GONE = ".gone-"


class MirrorFolder(Struct, frozen=True):
    """The mirror of one repository."""

    git_dir: Path
    repository: str
    timeout_s: float

    def tidy(self, *, keeping: Collection[str], unreachable_days: int, is_dry_run: bool) -> list[FreedSpace]:
        """Pack it anew if that pays, without what nothing led to for so long; `keeping` are commits that are needed.

        The repository's lease must be held, but for a dry run. Raises `RetryLater` where the disk has no room for it.
        """
        if not (self.git_dir / "objects").is_dir():
            return []
        loose, packs = self._objects()
        if loose <= MANY_LOOSE and packs <= MANY_PACKS:
            return []
        if is_dry_run:
            return [FreedSpace(RemovalKind.MIRRORS, self.repository, loose + packs, 0)]
        before = size_of([self.git_dir])
        _check_room(self.git_dir, before)
        drop_unfinished(self.git_dir)
        self._mark(keeping)
        self._git("-c", "gc.cruftPacks=true", "gc", "--quiet", f"--prune={unreachable_days}.days.ago")
        files = sum(self._objects())
        return [
            FreedSpace(
                RemovalKind.MIRRORS, self.repository, loose + packs - files, max(0, before - size_of([self.git_dir]))
            )
        ]

    def is_unused_since(self, moment: float) -> bool:
        """Whether nothing was fetched into it since a moment (Unix seconds)."""
        places = [self.git_dir, self.git_dir / "objects" / "pack", self.git_dir / "refs"]
        return max((place.stat().st_mtime for place in places if place.exists()), default=0.0) < moment

    def drop(self, *, is_dry_run: bool) -> list[FreedSpace]:
        """Delete it; the repository's lease must be held, but for a dry run."""
        size = size_of([self.git_dir])
        if not is_dry_run:
            aside = self.git_dir.with_name(f"{GONE}{self.git_dir.name}-{time.time_ns()}")
            shutil.rmtree(self.git_dir.rename(aside), ignore_errors=True)
        return [FreedSpace(RemovalKind.MIRRORS, self.repository, 1, size)]

    def _objects(self) -> tuple[int, int]:
        """How many files of single objects, and how many packs."""
        lines = self._git("count-objects", "-v").decode().splitlines()
        counts = dict(line.split(": ", 1) for line in lines if ": " in line)
        return int(counts["count"]), int(counts["packs"])

    def _mark(self, commits: Collection[str]) -> None:
        """One ref for each of these commits that is here, and none for others."""
        marked = self._git("for-each-ref", "--format=%(refname)", _KEPT).decode().split()
        wanted = "".join(f"{commit}^{{commit}}\n" for commit in sorted(commits)).encode()
        answers = run_git(
            ["cat-file", "--batch-check=%(objectname)"], git_dir=self.git_dir, timeout_s=self.timeout_s, data=wanted
        )
        here = {line for line in answers.decode().splitlines() if not line.endswith("missing")}
        lines = [f"update {_KEPT}{commit} {commit}" for commit in sorted(here)]
        lines += [f"delete {ref}" for ref in marked if ref.removeprefix(_KEPT) not in here]
        if lines:
            data = "".join(f"{line}\n" for line in lines).encode()
            run_git(["update-ref", "--stdin"], git_dir=self.git_dir, timeout_s=self.timeout_s, data=data)

    def _git(self, *arguments: str) -> bytes:
        return run_git(list(arguments), git_dir=self.git_dir, timeout_s=self.timeout_s)


def _check_room(folder: Path, size: int) -> None:
    """Whatever is packed stands on the disk twice for a while."""
    if shutil.disk_usage(folder).free < 2 * size:
        raise RetryLater(f"{folder}: the disk has no room to pack it anew: free {2 * size:,} bytes there")
