"""Which registered repositories a push is about."""

import time
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.locations import address_of
from codesum_pipeline.source.remote import is_commit_id
from codesum_pipeline.webhooks.pushes import Push

# How long a registry that was read is believed: reading 10,000 entries takes seconds, and pushes come in hundreds.
READ_AGAIN_S = 10.0
# And no more than this share of the time is spent on reading it.
_READING_SHARE = 0.2


def matching_keys(push: Push, entries: Sequence[RepositoryEntry]) -> list[str]:
    """The keys of the entries whose index a push changes; several for a monorepo, none for a deleted branch."""
    if push.is_deletion:
        return []
    return sorted(entry.key for entry in entries if entry.enabled and _follows(entry, push))


def is_about(entry: RepositoryEntry, push: Push) -> bool:
    """Whether an entry is the repository of a push, by any of its addresses or by the host's id of it."""
    return address_of(entry.location) in push.addresses or entry.host_id in push.host_ids


def _follows(entry: RepositoryEntry, push: Push) -> bool:
    if not is_about(entry, push):
        return False
    if entry.ref in (None, "HEAD"):
        return push.default_branch is None or push.ref in (push.default_branch, f"refs/heads/{push.default_branch}")
    ref = entry.ref or ""
    if is_commit_id(ref, full=True):
        return False
    return push.ref in (ref, f"refs/heads/{ref}", f"refs/tags/{ref}")


class RecentEntries(Struct):
    """The registry's entries by address, read again when they are old."""

    read: Callable[[], Sequence[RepositoryEntry]]
    clock: Callable[[], float] = time.monotonic
    _by_name: dict[str, list[RepositoryEntry]] = field(default_factory=dict)
    _stale_at: float = float("-inf")

    def of(self, push: Push) -> list[RepositoryEntry]:
        """The entries that are the repository of a push."""
        if self.clock() >= self._stale_at:
            self._read()
        names = sorted(push.addresses | push.host_ids)
        found = {entry.key: entry for name in names for entry in self._by_name.get(name, [])}
        return [found[key] for key in sorted(found)]

    def _read(self) -> None:
        began = self.clock()
        by_name: dict[str, list[RepositoryEntry]] = {}
        for entry in self.read():
            for name in {address_of(entry.location), entry.host_id}:
                if name:
                    by_name.setdefault(name, []).append(entry)
        self._by_name = by_name
        took = self.clock() - began
        self._stale_at = self.clock() + max(READ_AGAIN_S, took / _READING_SHARE)
