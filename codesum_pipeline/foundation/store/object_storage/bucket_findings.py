"""What is found wrong with a home in a bucket: with the bucket itself, and with the states that its heads name."""

from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import AlreadyThere, BrokenStore, Superseded
from codesum_pipeline.foundation.data_model.hashing import sha256_of_file
from codesum_pipeline.foundation.data_model.printable import some_of
from codesum_pipeline.foundation.store.object_storage.heads import head_infos, read_head
from codesum_pipeline.foundation.store.object_storage.objects import Objects
from codesum_pipeline.foundation.store.object_storage.state_manifest import (
    PARTS,
    StateManifest,
    part_name,
    read_manifest,
)

_PROBES = "probes/"
# Missing files of one state that are named.
_MOST_NAMED = 3


class BucketFinding(Struct, frozen=True):
    """Something about one repository; `is_broken` where nothing mends it by itself."""

    key: str
    what: str
    is_broken: bool


def broken_promises(objects: Objects) -> Iterator[str]:
    """What the bucket does not do and a home in it needs; one small object is written, and deleted.

    Raises `BucketUnavailable`, or `ConfigurationError` where credentials do not allow what is needed.
    """
    name = f"{_PROBES}{uuid4().hex}"
    first = objects.create(name, uuid4().hex.encode())
    try:
        with suppress(AlreadyThere):
            objects.create(name, uuid4().hex.encode())
            yield "it lets a second writer create an object that is there"
        objects.swap(name, uuid4().hex.encode(), etag=first)
        with suppress(Superseded):
            objects.swap(name, uuid4().hex.encode(), etag=first)
            yield "it lets a writer replace an object that somebody else has replaced meanwhile"
        if [info.name for info in objects.infos(_PROBES) if info.name == name] != [name]:
            yield "it does not list an object that was just written"
    finally:
        objects.delete([name])


def examine_heads(objects: Objects, keys: Collection[str] = ()) -> Iterator[BucketFinding]:
    """What is found of some repositories, or all: leases that are held, and states whose parts are not all there."""
    sizes, suspects = _sizes(objects), []
    for key, info in head_infos(objects):
        if keys and key not in keys:
            continue
        try:
            found = read_head(objects, key)
            if found is None:
                continue
            if holder := found.head.holder:
                quiet = datetime.now(UTC) - info.modified
                is_late = quiet > timedelta(seconds=holder.lease_s)
                until = "late: the next build takes it over" if is_late else "free once it is not renewed any more"
                held = (
                    f"run {holder.run_id} on {holder.host} holds the lease, renewed {int(quiet.total_seconds())} s ago"
                )
                yield BucketFinding(key, f"{held}; {until}", is_broken=False)
            manifest = read_manifest(objects, found.head.state) if found.head.state else StateManifest()
        except BrokenStore as error:
            yield BucketFinding(key, str(error), is_broken=True)
            continue
        if _missing(manifest, sizes):
            suspects.append((key, manifest))
    # A state that was committed after the parts were listed has all of them in a second list.
    sizes = _sizes(objects) if suspects else {}
    for key, manifest in suspects:
        if missing := _missing(manifest, sizes):
            what = f"{len(missing):,} files have no whole part in the bucket: {', '.join(missing[:_MOST_NAMED])}"
            yield BucketFinding(key, what, is_broken=True)


def _sizes(objects: Objects) -> dict[str, int]:
    return {info.name: info.size for info in objects.infos(PARTS)}


def _missing(manifest: StateManifest, sizes: Mapping[str, int]) -> list[str]:
    """The files of a state whose objects are not all there."""
    gone = {name for name, size in manifest.objects().items() if sizes.get(part_name(name)) != size}
    return sorted({path for name, paths in manifest.paths_by_object().items() if name in gone for path in paths})


def broken_parts(objects: Objects, key: str, *, near: Path, transfers: int) -> list[tuple[str, str]]:
    """Objects that the newest state of a repository needs and that are not there or not what their names say, by name,
    and what is wrong; each is fetched once, into a folder beside `near`, `transfers` at a time.

    Raises `BucketUnavailable`, and `BrokenStore` if the list of them is broken.
    """
    state = _state(objects, key)
    broken = list(_broken(objects, state, near, transfers)) if state else []
    # What a build has replaced meanwhile may be gone.
    if not broken or _state(objects, key) == state:
        return broken
    return broken_parts(objects, key, near=near, transfers=transfers)


def _state(objects: Objects, key: str) -> str | None:
    found = read_head(objects, key)
    return found.head.state if found else None


def _broken(objects: Objects, state: str, near: Path, transfers: int) -> Iterator[tuple[str, str]]:
    by_object = read_manifest(objects, state).paths_by_object()
    near.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(dir=near, prefix=".parts-") as folder,
        ThreadPoolExecutor(transfers) as threads,
    ):

        def look(name: str) -> tuple[str, str] | None:
            copy = Path(folder) / name
            try:
                is_there = objects.download(part_name(name), copy)
                if is_there and sha256_of_file(copy) == name:
                    return None
            finally:
                copy.unlink(missing_ok=True)
            what = f"{some_of(by_object[name], _MOST_NAMED)}: " if by_object[name] else ""
            return part_name(name), f"{what}is {'not what its name says' if is_there else 'missing'}"

        yield from filter(None, threads.map(look, sorted(by_object)))
