"""Which build each repository's readers see, and which its tables hold."""

from collections.abc import Mapping, Sequence

from codesum_pipeline.indexes.publish import published_version
from codesum_pipeline.model.files import Snapshot
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.poll_state import PollState
from codesum_pipeline.source.traces import state_of
from codesum_pipeline.wiring import Home

KIND = "begun"
Build = tuple[str | None, str | None]


def published_builds(
    home: Home, state: PollState, entries: Sequence[RepositoryEntry], *, give_up_at: float
) -> dict[str, Build]:
    """By key, the fingerprint of the published index, and the commit of the snapshot that the tables hold, which is
    ahead where a build did not end; keys that there was no time for are left out."""
    begun = _begun_commits(home, state, entries, give_up_at=give_up_at)
    return {entry.key: (_published(home, entry.key), begun[entry.key]) for entry in entries if entry.key in begun}


def _published(home: Home, key: str) -> str | None:
    """The fingerprint of the index that readers see; None where there is none, or none that is whole."""
    version = published_version(home.layout.published(key), home.layout.versions(key))
    return version.manifest["fingerprint"] if version else None


def _begun_commits(
    home: Home, state: PollState, entries: Sequence[RepositoryEntry], *, give_up_at: float
) -> Mapping[str, str | None]:
    """The commits of snapshots; a file of a table is opened where it is another than the last time."""
    seen = {entry.key: state_of(home.tables.path("snapshot", entry.key)) for entry in entries}
    return state.derived(KIND, seen, lambda keys: {key: _commit(home, key) for key in keys}, give_up_at=give_up_at)


def _commit(home: Home, key: str) -> str | None:
    rows = home.tables.read_rows_or_empty("snapshot", key, Snapshot)
    return rows[0].commit if rows else None
