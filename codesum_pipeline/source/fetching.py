"""One fetch into a mirror: what is asked for, how deep, and what is left of fetches that failed.

The repository's lease is held while a mirror is written to, and a killed fetch
ends with its starter (`git.py`). So what is unfinished here is nobody's, and
goes at once.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from codesum_pipeline.model.errors import RepositoryUnavailable
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.git import GitResult, run_git, try_git
from codesum_pipeline.source.locations import is_url
from codesum_pipeline.source.remote import describe, serving_switches, source_git_dir

# The object that the other side of a fetch stopped at.
_OBJECT = re.compile(rb"^remote: fatal: [^\n]*?\b([0-9a-f]{40}(?:[0-9a-f]{24})?)\b", re.MULTILINE)
# The commit without those before it.
ONE_COMMIT = ("--depth=1",)
WHOLE_HISTORY = ("--unshallow",)

# Packs, indexes and locks that a process which was killed, or a server that broke off, left unfinished.
_UNFINISHED = ("objects/pack/tmp_*", "objects/pack/.tmp-*", "objects/pack/*.keep", "shallow.lock")


def fetch(
    git_dir: Path, entry: RepositoryEntry, wanted: Sequence[str], *, depth: Sequence[str] = (), timeout_s: float
) -> GitResult:
    """Fetch refs or commits of an entry; nothing unfinished is there before, and nothing after a failure."""
    drop_unfinished(git_dir)
    switches = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--update-shallow"]
    arguments = ["fetch", *switches, *serving_switches(entry), *depth, "--prune", "--", entry.location, *wanted]
    is_done = False
    try:
        finished = try_git(arguments, git_dir=git_dir, timeout_s=timeout_s)
        is_done = finished.status == 0
    finally:
        if not is_done:
            drop_unfinished(git_dir)
    return finished


def drop_unfinished(git_dir: Path) -> None:
    """Remove what fetches that failed or were killed left."""
    for pattern in _UNFINISHED:
        for path in git_dir.glob(pattern):
            path.unlink(missing_ok=True)


def shallow_commits(git_dir: Path) -> set[str]:
    """The commits whose parents were not fetched."""
    file = git_dir / "shallow"
    return set(file.read_text(encoding="ascii").split()) if file.exists() else set()


def cannot_fetch(
    entry: RepositoryEntry, finished: GitResult, *, commit: str, git_dir: Path, timeout_s: float
) -> RepositoryUnavailable:
    """Why a commit of an entry did not come, and the way out."""
    where = describe(entry)
    if not is_url(entry.location):
        lacking = _lacking(Path(entry.location), commit, timeout_s=timeout_s)
        if lacking:
            more = f" and {len(lacking) - 1:,} more" if len(lacking) > 1 else ""
            return RepositoryUnavailable(
                f"{where} cannot be fetched: commit {commit[:12]} needs object {lacking[0]}{more}, which it does not "
                f"have: {_way_out(entry)}"
            )
        if b"not our ref " + commit.encode() in finished.complaints:
            return RepositoryUnavailable(
                f"{where} cannot be fetched: it does not have commit {commit[:12]}: {_way_out(entry)}"
            )
    if lacks_objects(finished):
        return objects_missing(entry, finished, f"commit {commit[:12]}")
    way_out = f"; delete {git_dir} to fetch it anew" if str(git_dir) in finished.complaint else ""
    return RepositoryUnavailable(f"{where} cannot be fetched: {finished.complaint}{way_out}")


def lacks_objects(finished: GitResult) -> bool:
    """Whether the other side ended a fetch since objects that it needed were not there."""
    return finished.status != 0 and b"repository corruption on the remote side" in finished.complaints


def objects_missing(entry: RepositoryEntry, finished: GitResult, what: str) -> RepositoryUnavailable:
    """That a repository lacks objects of what was asked for, and the way out."""
    named = _OBJECT.search(finished.complaints)
    first = f" ({named[1].decode()} is the first)" if named else ""
    return RepositoryUnavailable(
        f"{describe(entry)} cannot be fetched: {what}: objects of it are missing there, or cannot be read{first}: "
        f"{_way_out(entry)}"
    )


def _way_out(entry: RepositoryEntry) -> str:
    if is_url(entry.location):
        return "run `git fsck` there, or index another clone"
    return f"run `git -C {entry.location} fetch --refetch --no-filter origin`, or index its URL instead"


def _lacking(folder: Path, commit: str, *, timeout_s: float) -> list[str]:
    """The objects of a commit itself that a repository does not have; none where it has no such commit either."""
    arguments = ["rev-list", "--objects", "--missing=print", "--no-walk", commit]
    try:
        listed = run_git(arguments, git_dir=source_git_dir(folder), timeout_s=timeout_s)
    except RepositoryUnavailable:
        return []
    return [os.fsdecode(line[1:]) for line in listed.splitlines() if line.startswith(b"?")]
