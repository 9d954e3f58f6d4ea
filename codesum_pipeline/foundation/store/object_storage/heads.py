"""The one object of a repository in a bucket that is ever replaced: `repos/<key>/head.json`.

It names the whole state of the repository, and who may replace it. All else is named by its content and never changes.
A head is only replaced by `swap`, and each one that is written holds a nonce, so that no two have one tag.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self
from uuid import uuid4

from msgspec import Struct, field, json
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.store.layout import PublishedPointer
from codesum_pipeline.foundation.store.locks import ProcessIdentity
from codesum_pipeline.foundation.store.object_storage.objects import ObjectInfo, Objects
from codesum_pipeline.foundation.store.object_storage.state_manifest import PARTS, parse_own, part_name, read_manifest

_FORMAT = 1
_HEADS = "repos/"
_HEAD = "head.json"


class HeadHolder(ProcessIdentity, frozen=True, kw_only=True):
    """The worker that builds the repository. Each holding has a `nonce` of its own; a worker renews its lease within
    `lease_s`."""

    run_id: str
    nonce: str
    lease_s: float


class RepositoryHead(Struct, frozen=True):
    """A repository's head.

    `fence` grows by one with every holder. `generation` grows by one with every state that is committed. `state` is the
    name of a manifest among the parts; `expires_at` (Unix seconds, the holder's clock) is for people: nothing that is
    published rests on it.
    """

    format: int = _FORMAT
    fence: int = 0
    holder: HeadHolder | None = None
    expires_at: float = 0.0
    generation: int = 0
    state: str | None = None
    published: PublishedPointer | None = None
    nonce: str = field(default_factory=lambda: uuid4().hex)

    def replaced(self, **changes: Any) -> Self:
        """The head that comes after this one, with a nonce of its own."""
        return replace(self, **changes, nonce=uuid4().hex)

    def encoded(self) -> bytes:
        """As it is written."""
        return json.encode(self)


def head_name(key: str) -> str:
    """The name of the object that is a repository's head."""
    return f"{_HEADS}{key}/{_HEAD}"


class FoundHead(NamedTuple):
    """A head as the bucket has it; `modified` is by the bucket's clock."""

    head: RepositoryHead
    etag: str
    modified: datetime


def read_head(objects: Objects, key: str) -> FoundHead | None:
    """A repository's head; None if nothing was ever built. Raises `BrokenStore`."""
    found = objects.get(head_name(key))
    if found is None:
        return None
    head = parse_own(found.data, RepositoryHead, f"{objects.url}: {head_name(key)}")
    return FoundHead(head, found.etag, found.modified)


def head_infos(objects: Objects) -> Iterator[tuple[str, ObjectInfo]]:
    """The key of each repository that has a head, with what a listing says of it: equal tags, equal heads."""
    for info in objects.infos(_HEADS):
        key, _, name = info.name.removeprefix(_HEADS).rpartition("/")
        if name == _HEAD:
            yield key, info


# A build whose request hangs for longer than this has long lost its lease.
LEAST_GRACE_S = 3600.0


class CollectionCounts(Struct, frozen=True):
    """How much was deleted."""

    parts: int
    part_bytes: int


def collect_parts(
    objects: Objects, *, grace_s: float, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> CollectionCounts:
    """Delete parts that no head's state names and that were sent longer than `grace_s` seconds ago.

    Listed before the heads are read and again right before the deletion, so that what a build sends meanwhile stays.
    Raises `ConfigurationError` for a grace of less than an hour, `BucketUnavailable`, and `BrokenStore` for a head that
    cannot be read: then nothing is deleted.
    """
    if grace_s < LEAST_GRACE_S:
        raise ConfigurationError(f"a grace of {grace_s:g} s for parts of a bucket: at least {LEAST_GRACE_S:g} s")
    before = now() - timedelta(seconds=grace_s)
    old = {info.name for info in objects.infos(PARTS) if info.modified < before}
    named = set(_named(objects)) if old else set()
    unwanted = []
    if old - named:
        unwanted = [info for info in objects.infos(PARTS) if info.name in old - named and info.modified < before]
        named |= set(_named(objects))
        unwanted = [info for info in unwanted if info.name not in named]
        objects.delete(info.name for info in unwanted)
    return CollectionCounts(len(unwanted), sum(info.size for info in unwanted))


def _named(objects: Objects) -> Iterator[str]:
    """The names of all parts of current states."""
    for key, _ in head_infos(objects):
        found = read_head(objects, key)
        if found and found.head.state:
            yield part_name(found.head.state)
            yield from map(part_name, read_manifest(objects, found.head.state).objects())


def release_head(objects: Objects, key: str) -> HeadHolder | None:
    """Take the lease of a repository from its holder, who can commit nothing from then on; returns that holder."""
    found = read_head(objects, key)
    if found is None or found.head.holder is None:
        return None
    head = found.head.replaced(holder=None, expires_at=0.0, fence=found.head.fence + 1)
    objects.swap(head_name(key), head.encoded(), etag=found.etag)
    return found.head.holder
