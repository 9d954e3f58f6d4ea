"""Repositories whose last build is the one that would be made now, found without Dagster.

Nothing is taken on trust: the repository is asked for its commit (of a folder
that means reading its files), the published index and all steps' memos are
compared with what stands, and Dagster must have recorded each asset.
"""

from collections.abc import Sequence

from codesum_pipeline.indexes.publish import published_version
from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.pipeline import is_standing
from codesum_pipeline.source.mirror import Mirror
from codesum_pipeline.wiring import Home


def standing_commits(home: Home, keys: Sequence[str]) -> dict[str, str]:
    """The commits of those repositories that need no run, by key."""
    found = {key: _standing_commit(home, key) for key in keys}
    return {key: commit for key, commit in found.items() if commit is not None}


def _standing_commit(home: Home, key: str) -> str | None:
    """None where a run is needed, if only to say what is wrong."""
    try:
        workspace = home.workspace(key, run_id="look")
        version = published_version(workspace.layout.published(key), workspace.layout.versions(key))
        if version is None or not workspace.layout.duckdb_file.exists():
            return None
        commit = str(version.manifest["commit"])
        snapshots = workspace.tables.read_rows("snapshot", key, Snapshot)
        fingerprint = workspace.fingerprint(commit)
        if [row.commit for row in snapshots] != [commit] or version.manifest["fingerprint"] != fingerprint:
            return None
        mirror = Mirror(workspace.layout.mirror(key), timeout_s=home.settings.options.scan.git_timeout_s)
        if not is_standing(workspace) or mirror.head_commit(workspace.entry, offline=home.settings.offline) != commit:
            return None
        return commit if _is_recorded(home, key, fingerprint) else None
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
