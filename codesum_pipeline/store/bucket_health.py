"""What can be seen of a home in a bucket: whether it keeps its promises, who holds what, and what is broken."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from msgspec import Struct

from codesum_pipeline.model.errors import AlreadyThere, BrokenStore, Superseded
from codesum_pipeline.model.hashing import sha256_of_file
from codesum_pipeline.store.bucket_place import BucketPlace
from codesum_pipeline.store.heads import (
    PARTS,
    HeadHolder,
    RepositoryHead,
    head_infos,
    head_name,
    part_name,
    read_head,
    read_manifest,
)
from codesum_pipeline.store.objects import ObjectInfo, Objects

_PROBES = "probes/"
# Missing files of one state that are named.
_MOST_NAMED = 3


class BucketFinding(Struct, frozen=True):
    """Something about one repository, or the bucket; `is_broken` where nothing mends it by itself."""

    key: str | None
    what: str
    is_broken: bool


def broken_promises(objects: Objects) -> Iterator[str]:
    """What the bucket does not do and a home in it needs; one small object is written, and deleted.

    Raises `BucketUnavailable`, or `ConfigurationError` where credentials do not allow what is needed.
    """
    name = f"{_PROBES}{uuid4().hex}"
    first = objects.create(name, uuid4().hex.encode())
    try:
        try:
            objects.create(name, uuid4().hex.encode())
            yield "it lets a second writer create an object that is there"
        except AlreadyThere:
            pass
        objects.swap(name, uuid4().hex.encode(), etag=first)
        try:
            objects.swap(name, uuid4().hex.encode(), etag=first)
            yield "it lets a writer replace an object that somebody else has replaced meanwhile"
        except Superseded:
            pass
        if [info.name for info in objects.infos(_PROBES) if info.name == name] != [name]:
            yield "it does not list an object that was just written"
    finally:
        objects.delete([name])


def examine_heads(objects: Objects, keys: Collection[str] = ()) -> Iterator[BucketFinding]:
    """What is found of some repositories, or all: leases that are held, and states whose parts are not all there."""
    sizes = {info.name: info.size for info in objects.infos(PARTS)}
    for key, info in head_infos(objects):
        if keys and key not in keys:
            continue
        try:
            found = read_head(objects, key)
            if found is None:
                continue
            if found.head.holder:
                yield BucketFinding(key, _lease(found.head.holder, info), is_broken=False)
            missing = _missing_parts(objects, found.head, sizes)
        except BrokenStore as error:
            yield BucketFinding(key, str(error), is_broken=True)
            continue
        if missing:
            named = ", ".join(missing[:_MOST_NAMED])
            yield BucketFinding(
                key, f"{len(missing):,} files have no whole part in the bucket: {named}", is_broken=True
            )


def release_head(objects: Objects, key: str) -> HeadHolder | None:
    """Take the lease of a repository from whoever holds it, who can commit nothing from then on; the former holder."""
    found = read_head(objects, key)
    if found is None or found.head.holder is None:
        return None
    head = found.head.replaced(holder=None, expires_at=0.0, fence=found.head.fence + 1)
    objects.swap(head_name(key), head.encoded(), etag=found.etag)
    return found.head.holder


def _missing_parts(objects: Objects, head: RepositoryHead, sizes: dict[str, int]) -> list[str]:
    if head.state is None:
        return []
    files = read_manifest(objects, head.state).files
    return [path for path, file in sorted(files.items()) if sizes.get(part_name(file.part)) != file.size]


def _lease(holder: HeadHolder, info: ObjectInfo) -> str:
    quiet = datetime.now(UTC) - info.modified
    renewed = f"renewed {int(quiet.total_seconds())} s ago"
    is_late = quiet > timedelta(seconds=holder.lease_s)
    until = "late: the next build takes it over" if is_late else "free once it is not renewed any more"
    return f"run {holder.run_id} on {holder.host} holds the lease, {renewed}; {until}"


class BrokenPart(Struct, frozen=True):
    """An object of a bucket that is not there or not what its name says, and a file that it is."""

    name: str
    file: str
    is_missing: bool


def broken_parts(place: BucketPlace, key: str, *, near: Path) -> list[BrokenPart]:
    """Those that the newest state of a repository needs; each is fetched once, into a folder beside `near`.

    Raises `BucketUnavailable`, and `BrokenStore` where the list of them is broken.
    """
    state = _state(place, key)
    broken = list(_broken(place, state, near)) if state else []
    # What a build has replaced meanwhile may be gone.
    return broken if not broken or _state(place, key) == state else broken_parts(place, key, near=near)


def _state(place: BucketPlace, key: str) -> str | None:
    found = read_head(place.objects(), key)
    return found.head.state if found else None


def _broken(place: BucketPlace, state: str, near: Path) -> Iterator[BrokenPart]:
    objects = place.objects()
    files: dict[str, list[str]] = defaultdict(list)
    for path, file in read_manifest(objects, state).files.items():
        files[file.part].append(path)
    near.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(dir=near, prefix=".parts-") as folder,
        ThreadPoolExecutor(place.storage.transfers) as threads,
    ):

        def look(part: str) -> BrokenPart | None:
            copy = Path(folder) / part
            if not objects.download(part_name(part), copy):
                return BrokenPart(part_name(part), min(files[part]), is_missing=True)
            is_whole = sha256_of_file(copy) == part
            copy.unlink()
            return None if is_whole else BrokenPart(part_name(part), min(files[part]), is_missing=False)

        yield from filter(None, threads.map(look, sorted(files)))
