"""Parts of a bucket that no repository's state names any more are deleted, after a time of grace.

A part that is sent again is as new as its last sending, so a build that is under
way keeps what it has sent. Readers that opened an earlier state have the time of
grace to finish.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.store.heads import PARTS, head_infos, read_head, read_manifest
from codesum_pipeline.store.objects import ObjectInfo, Objects

# A build whose request hangs for longer than this has long lost its lease.
LEAST_GRACE_S = 3600.0


class CollectionCounts(Struct, frozen=True):
    """How much was deleted, and how much is left."""

    parts: int
    part_bytes: int
    parts_left: int


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
    listed = list(objects.infos(PARTS))
    old = {info.name for info in listed if info.modified < before}
    named = set(_named(objects)) if old else set()
    unwanted = _still_old(objects, old - named, before) if old - named else []
    if unwanted:
        named |= set(_named(objects))
        unwanted = [info for info in unwanted if info.name not in named]
        objects.delete(info.name for info in unwanted)
    return CollectionCounts(len(unwanted), sum(info.size for info in unwanted), len(listed) - len(unwanted))


def _named(objects: Objects) -> Iterator[str]:
    """The names of all parts that states of now consist of."""
    for key, _ in head_infos(objects):
        found = read_head(objects, key)
        if found and found.head.state:
            yield PARTS + found.head.state
            yield from (PARTS + file.part for file in read_manifest(objects, found.head.state).files.values())


def _still_old(objects: Objects, names: set[str], before: datetime) -> list[ObjectInfo]:
    return [info for info in objects.infos(PARTS) if info.name in names and info.modified < before]
