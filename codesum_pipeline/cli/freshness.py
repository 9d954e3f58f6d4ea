"""How fresh indexes are, and which of them need no build, for the command line."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct

from codesum_pipeline.building.freshness import IndexState, compare, is_complete, judge
from codesum_pipeline.indexes.publish import published_version
from codesum_pipeline.indexes.version_folder import PublishedState, read_published
from codesum_pipeline.model.errors import BrokenStore, CodesumError
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.locations import is_url
from codesum_pipeline.source.mirror import Mirror
from codesum_pipeline.store.lease import Holder
from codesum_pipeline.wiring import Home

# Waiting for git and for other machines, not computing.
_READERS = 16


class Freshness(Struct, frozen=True):
    """One repository; `head` is the commit that a build would stand for, `why` what keeps us from telling more."""

    entry: RepositoryEntry
    state: IndexState
    published: PublishedState | None
    head: str | None
    holder: Holder | None
    why: str = ""


def look_at(home: Home, entries: Sequence[RepositoryEntry], *, ask_remotes: bool) -> list[Freshness]:
    """In the order of `entries`. Servers are asked with `ask_remotes` alone; folders always are."""
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(lambda entry: _look_at(home, entry, ask_remotes=ask_remotes), entries))


def _look_at(home: Home, entry: RepositoryEntry, *, ask_remotes: bool) -> Freshness:
    """One that cannot be read is told, and does not silence the others."""
    published, head, why = read_published(home.layout, entry.key), None, ""
    mirror = Mirror(home.layout.mirror(entry.key), timeout_s=home.settings.planner.ls_remote_timeout_s)
    is_offline = home.settings.offline or not ask_remotes
    if entry.enabled:
        try:
            head = mirror.head_commit(entry, offline=is_offline and is_url(entry.location))
        except CodesumError as error:
            why = str(error)
    try:
        found = judge(home.workspace(entry, run_id="look"), head=head)
    except BrokenStore as error:
        return Freshness(entry, IndexState.BROKEN, published, None, None, str(error))
    return Freshness(entry, found.state, published, head, found.holder, found.why or why)


class LastBuild(Struct, frozen=True):
    """The commit that the last build stands for, and why it was not published, where it was held back."""

    commit: str
    held_because: str | None = None


def standing_builds(home: Home, keys: Sequence[str], *, is_confirmed: bool = False) -> dict[str, LastBuild]:
    """The last builds of those repositories that need no other, by key; a build that is confirmed is another one.

    Nothing is taken on trust: the repository is asked for its commit (of a folder that means reading its files), the
    published index and the memos of all steps are compared with what is there, and Dagster must have recorded each
    asset. A repository of which something is wrong needs a build, if only to say what.
    """
    found = {key: _last_build(home, key, is_confirmed=is_confirmed) for key in keys}
    return {key: last for key, last in found.items() if last is not None}


def _last_build(home: Home, key: str, *, is_confirmed: bool) -> LastBuild | None:
    try:
        workspace = home.workspace(key, run_id="look", is_confirmed=is_confirmed)
        layout = workspace.layout
        version = published_version(layout, key)
        if version is None or not layout.duckdb_file.exists() or home.has_digest_waiting(key):
            return None
        found = compare(
            workspace, commit=version.manifest["commit"], fingerprint=version.manifest["fingerprint"], head=None
        )
        is_held = found.hold is not None
        if found.snapshot is None or found.needs_build or not is_complete(workspace, is_held=is_held):
            return None
        commit = found.snapshot.commit
        mirror = Mirror(layout.mirror(key), timeout_s=home.settings.git_timeout_s)
        is_at_head = mirror.head_commit(workspace.entry, offline=home.settings.offline) == commit
        if not is_at_head or not _is_recorded(home, key, found.fingerprints.wanted or "", is_held=is_held):
            return None
        return LastBuild(commit, found.hold.because if found.hold else None)
    except CodesumError:
        return None


def _is_recorded(home: Home, key: str, fingerprint: str, *, is_held: bool) -> bool:
    """Whether all assets that the build reached have the fingerprint; Dagster is asked where that is not noted."""
    note = home.layout.recorded(key)
    if note.exists():
        return note.read_text(encoding="utf-8") == fingerprint
    if not home.layout.dagster_home.exists():
        return False
    from codesum_pipeline.defs.control import is_recorded

    return is_recorded(home, key, fingerprint, was_held=is_held)
