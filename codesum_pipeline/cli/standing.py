"""Repositories whose last build is the one that would be made now, found without Dagster.

Nothing is taken on trust: the repository is asked for its commit (of a folder
that means reading its files), the published index and all steps' memos are
compared with what stands, and Dagster must have recorded each asset.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from codesum_pipeline.building.steps import is_standing
from codesum_pipeline.evaluation.gate import standing_hold
from codesum_pipeline.indexes.publish import published_version
from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.source.mirror import Mirror
from codesum_pipeline.wiring import Home


@dataclass(frozen=True, slots=True)
class LastBuild:
    """The commit that the last build stands for, and why it was not published, where it was held back."""

    commit: str
    held_because: str | None = None


def standing_builds(home: Home, keys: Sequence[str], *, is_confirmed: bool = False) -> dict[str, LastBuild]:
    """Of those repositories that need no run, by key; a build that is confirmed is another one."""
    found = {key: _standing(home, key, is_confirmed=is_confirmed) for key in keys}
    return {key: standing for key, standing in found.items() if standing is not None}


def held_because(home: Home, key: str) -> str | None:
    """Why the last build of a repository was not published; None where it was."""
    standing = _standing(home, key)
    return standing.held_because if standing else None


def _standing(home: Home, key: str, *, is_confirmed: bool = False) -> LastBuild | None:
    """None where a run is needed, if only to say what is wrong."""
    try:
        workspace = home.workspace(key, run_id="look", is_confirmed=is_confirmed)
        version = published_version(workspace.layout.published(key), workspace.layout.versions(key))
        if version is None or not workspace.layout.duckdb_file.exists():
            return None
        (snapshot,) = workspace.tables.read_rows("snapshot", key, Snapshot)
        commit = snapshot.commit
        fingerprint = workspace.fingerprint(commit, snapshot.index_state)
        if home.index_state(workspace.entry) != (snapshot.index_state or ""):
            return None
        hold = standing_hold(workspace.layout, key, workspace.options.evaluation, fingerprint=fingerprint)
        if hold is None and (version.manifest["commit"], version.manifest["fingerprint"]) != (commit, fingerprint):
            return None
        mirror = Mirror(workspace.layout.mirror(key), timeout_s=home.settings.options.scan.git_timeout_s)
        if home.has_digest_waiting(key):
            return None
        if not is_standing(workspace) or mirror.head_commit(workspace.entry, offline=home.settings.offline) != commit:
            return None
        return LastBuild(commit, hold.because if hold else None) if _is_recorded(home, key, fingerprint) else None
    except CodesumError:
        return None


def _is_recorded(home: Home, key: str, fingerprint: str) -> bool:
    """Whether every asset is materialised for the fingerprint; Dagster is asked where that is not noted."""
    note = home.layout.recorded(key)
    if note.exists():
        return note.read_text(encoding="utf-8") == fingerprint
    if not home.layout.dagster_home.exists():
        return False
    from codesum_pipeline.defs.control import is_recorded

    return is_recorded(home, key, fingerprint)
