"""The commits before the one that is indexed: fetched when they are asked for, as many as are asked for."""

import logging
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import CannotWrite, LeaseHeld, RepositoryUnavailable
from codesum_pipeline.foundation.data_model.file import Snapshot
from codesum_pipeline.foundation.data_model.moments import moment_of
from codesum_pipeline.foundation.store.lease import hold_unless_held
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.source.git.git import run_git
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.git.mirror import Mirror
from codesum_pipeline.source.git.remote import (
    fetch_refs,
    find_ref,
    is_commit_id,
    lacks_objects,
    objects_missing,
    shallow_commits,
)
from codesum_pipeline.source.masking.secrets import mask_secrets

_log = logging.getLogger(__name__)

# Larger files are not parsed twice just to describe a commit's change: that takes too long.
MOST_BYTES_PARSED = 300_000
_RAW = ["--raw", "-z", "--no-renames", "--no-abbrev"]


class CommitHistory(Struct, frozen=True):
    """Commits of the first-parent line, newest first, that can be compared with their first parents."""

    commits: tuple[str, ...]
    short_because: str = ""


class FileChange(Struct, frozen=True):
    """One path in two trees, as blobs; None in a tree that does not have it. The modes are those of git."""

    path: str
    before: str | None
    after: str | None
    modes: tuple[str, str] = ("", "")


class CommitChanges(Struct, frozen=True):
    """A commit and the files that it changed against its first parent. `committed_at` is ISO 8601 in UTC."""

    id: str
    parent: str
    subject: str
    committed_at: str
    changes: tuple[FileChange, ...]


def commits_with_changes(ws: Workspace, commits: int, *, with_merges: bool = False) -> Iterator[CommitChanges]:
    """The last `commits` commits of the first-parent line, newest first; merges among them are left out, unless they
    are asked for. A folder's only commit has none."""
    (snapshot,) = ws.tables.read_rows("snapshot", ws.key, Snapshot)
    history = history_of(ws, snapshot.commit, commits=commits)
    if history.short_because:
        _log.warning(
            "%s: %d of its last %d commits are looked at; more of its history cannot be had: %s",
            ws.key, len(history.commits), commits, history.short_because,
        )  # fmt: skip
    if not history.commits:
        return
    merges = ["--diff-merges=first-parent"] if with_merges else ["--max-parents=1"]
    output = run_git(
        [
            "log",
            "--no-walk=unsorted",
            "--stdin",
            "--min-parents=1",
            *merges,
            *_RAW,
            "--format=%x00%H%x00%ct%x00%P%x00%s",
        ],
        git_dir=ws.layout.mirror(ws.key),
        timeout_s=ws.settings.git_timeout_s,
        data="".join(f"{commit}\n" for commit in history.commits).encode(),
    )
    yield from _commits_in(output.decode("utf-8", "replace").split("\0"), frozenset(history.commits))


def _commits_in(fields: Sequence[str], known: Set[str]) -> Iterator[CommitChanges]:
    """The commits of a log. One begins with its id, behind the changes of the one before it: what a message or a path
    says begins none."""
    at = 0
    while at < len(fields):
        if fields[at] not in known:
            at += 1
            continue
        id_, seconds, parents, subject = fields[at : at + 4]
        first = at = at + 4
        while at < len(fields) and fields[at].lstrip("\n").startswith(":"):
            at += 2
        changes = tuple(_file_changes(fields[first:at]))
        yield CommitChanges(id_, parents.split()[0], mask_secrets(subject).text, moment_of(seconds), changes)


def files_between(git_dir: Path, before: str, after: str, *, timeout_s: float) -> list[FileChange]:
    """The files that differ between two trees, with what is no UTF-8 in a path as surrogates; raises
    `RepositoryUnavailable` if git does not know one of them."""
    output = run_git(["diff-tree", "-r", *_RAW, before, after], git_dir=git_dir, timeout_s=timeout_s)
    return list(_file_changes(output.decode("utf-8", "surrogateescape").split("\0")))


def _file_changes(fields: Sequence[str]) -> Iterator[FileChange]:
    for entry, path in zip(fields[::2], fields[1::2], strict=False):
        mode_before, mode_after, *blobs = entry.lstrip("\n:").split()[:4]
        before, after = (blob if blob.strip("0") else None for blob in blobs)
        yield FileChange(path, before, after, (mode_before, mode_after))


def history_of(ws: Workspace, commit: str, *, commits: int) -> CommitHistory:
    """The last `commits` commits up to `commit`; fewer where the repository has no more, or where none can be had.

    A shallow mirror is deepened as far as that takes, and no further.
    """
    mirror = Mirror(ws.layout.mirror(ws.key), timeout_s=ws.settings.git_timeout_s)
    found, is_cut = _on_hand(mirror, commit, commits)
    if not is_cut:
        return CommitHistory(found)
    problem = ""
    try:
        _deepen(ws, mirror, commit, commits)
    except (RepositoryUnavailable, LeaseHeld, CannotWrite) as error:
        problem = str(error)
    return CommitHistory(_on_hand(mirror, commit, commits)[0], problem)


def _on_hand(mirror: Mirror, commit: str, commits: int) -> tuple[tuple[str, ...], bool]:
    """What the mirror has, and whether there is more that it was not asked for yet."""
    try:
        listed = mirror.run_git("rev-list", "--first-parent", f"--max-count={commits}", commit, "--")
    except RepositoryUnavailable:
        # A mirror of a clone that lacks commits, from before mirrors were shallow.
        return (), False
    found = tuple(listed.decode().split())
    cut = shallow_commits(mirror.git_dir)
    return tuple(id_ for id_ in found if id_ not in cut), bool(found) and found[-1] in cut


def _deepen(ws: Workspace, mirror: Mirror, commit: str, commits: int) -> None:
    if ws.settings.offline and is_url(ws.entry.location):
        raise RepositoryUnavailable("offline = true: no more of it is fetched")
    # The parent of the last one, to compare it with.
    depth = [f"--depth={commits + 1}"]
    with hold_unless_held(ws.layout, ws.key, run_id=ws.run_id, here_only=True):
        finished = fetch_refs(mirror.git_dir, ws.entry, [commit], depth=depth, timeout_s=mirror.timeout_s)
        if finished.status != 0 and not is_commit_id(ws.entry.ref or "", full=True):
            # Some servers give out only what their refs lead to.
            ref = find_ref(ws.entry, timeout_s=mirror.timeout_s)
            wanted = [ref.name] if ref else ["refs/heads/*:refs/codesum/seen/heads/*"]
            finished = fetch_refs(mirror.git_dir, ws.entry, wanted, depth=depth, timeout_s=mirror.timeout_s)
    if lacks_objects(finished):
        raise objects_missing(ws.entry, finished, f"commits before {commit[:12]}")
    if finished.status != 0:
        raise RepositoryUnavailable(finished.complaint)
