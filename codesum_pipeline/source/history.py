"""The commits before the one that is indexed: fetched when they are asked for, as many as are asked for."""

from dataclasses import dataclass

from codesum_pipeline.model.errors import CannotWrite, LeaseHeld, RepositoryUnavailable
from codesum_pipeline.source.fetching import fetch, lacks_objects, objects_missing, shallow_commits
from codesum_pipeline.source.git import run_git
from codesum_pipeline.source.locations import is_url
from codesum_pipeline.source.mirror import Mirror
from codesum_pipeline.source.remote import find_ref, is_commit_id
from codesum_pipeline.store.lease import holding_lease
from codesum_pipeline.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class History:
    """Commits of the first-parent line, newest first, that can be compared with their first parents."""

    commits: tuple[str, ...]
    short_because: str = ""


def history_of(ws: Workspace, commit: str, *, commits: int) -> History:
    """The last `commits` commits up to `commit`; fewer where the repository has no more, or where none can be had.

    A shallow mirror is deepened as far as that takes, and no further.
    """
    mirror = Mirror(ws.layout.mirror(ws.key), timeout_s=ws.options.scan.git_timeout_s)
    found, is_cut = _on_hand(mirror, commit, commits)
    if not is_cut:
        return History(found)
    try:
        _deepen(ws, mirror, commit, commits)
    except (RepositoryUnavailable, LeaseHeld, CannotWrite) as error:
        return History(_on_hand(mirror, commit, commits)[0], str(error))
    return History(_on_hand(mirror, commit, commits)[0])


def _on_hand(mirror: Mirror, commit: str, commits: int) -> tuple[tuple[str, ...], bool]:
    """What the mirror has, and whether there is more that it was not asked for yet."""
    arguments = ["rev-list", "--first-parent", f"--max-count={commits}", commit, "--"]
    try:
        listed = run_git(arguments, git_dir=mirror.git_dir, timeout_s=mirror.timeout_s)
    except RepositoryUnavailable:
        # A mirror of a clone that lacks commits, from before mirrors were shallow.
        return (), False
    found = tuple(listed.decode().split())
    cut = shallow_commits(mirror.git_dir)
    return tuple(id_ for id_ in found if id_ not in cut), bool(found) and found[-1] in cut


def _deepen(ws: Workspace, mirror: Mirror, commit: str, commits: int) -> None:
    if ws.options.scan.offline and is_url(ws.entry.location):
        raise RepositoryUnavailable("offline = true: no more of it is fetched")
    # The parent of the last one, to compare it with.
    depth = [f"--depth={commits + 1}"]
    with holding_lease(ws.layout.state(ws.key), key=ws.key, run_id=ws.run_id):
        finished = fetch(mirror.git_dir, ws.entry, [commit], depth=depth, timeout_s=mirror.timeout_s)
        if finished.status != 0 and not is_commit_id(ws.entry.ref or "", full=True):
            # Some servers give out only what their refs lead to.
            ref = find_ref(ws.entry, timeout_s=mirror.timeout_s)
            wanted = [ref.name] if ref else ["refs/heads/*:refs/codesum/seen/heads/*"]
            finished = fetch(mirror.git_dir, ws.entry, wanted, depth=depth, timeout_s=mirror.timeout_s)
    if lacks_objects(finished):
        raise objects_missing(ws.entry, finished, f"commits before {commit[:12]}")
    if finished.status != 0:
        raise RepositoryUnavailable(finished.complaint)
