"""The one object of a repository in a bucket that is ever replaced: `repos/<key>/head.json`.

It names the whole state of the repository, and who may replace it. All else is named by its content and never changes.
A head is only replaced by `swap`, and each one that is written holds a nonce, so that no two have one tag.
"""

from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self, TypeVar
from uuid import uuid4

from msgspec import MsgspecError, Struct, field, json
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.errors import AlreadyThere, BrokenStore, ConfigurationError, Superseded
from codesum_pipeline.foundation.data_model.hashing import sha256_hex, sha256_of_file
from codesum_pipeline.foundation.store.atomic import set_times
from codesum_pipeline.foundation.store.locks import ProcessIdentity
from codesum_pipeline.foundation.store.object_storage.objects import ObjectInfo, Objects

M = TypeVar("M")
_FORMAT = 1
_HEADS = "repos/"
_HEAD = "head.json"
PARTS = "parts/"
# Larger parts go to a file as they come.
_HELD_BYTES = 32 << 20


class HeadHolder(ProcessIdentity, frozen=True, kw_only=True):
    """The worker that builds the repository. Each holding has a `nonce` of its own; a worker renews its lease within
    `lease_s`."""

    run_id: str
    nonce: str
    lease_s: float


class PublishedPointer(Struct, frozen=True):
    """The published version, as far as readers and the planner want to know without another request."""

    commit: str
    content_digest: str
    fingerprint: str
    digest: str = ""


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


class StateFile(Struct, frozen=True):
    """One file of a repository's state: the part that holds it, and when it was written."""

    part: str
    size: int
    modified_ns: int


class StateLink(Struct, frozen=True):
    """One symbolic link of a repository's state: what it says, and when it was made."""

    target: str
    modified_ns: int


class StateManifest(Struct, frozen=True):
    """All that is kept of a repository: files and links, by their path below the home."""

    format: int = _FORMAT
    files: dict[str, StateFile] = {}
    links: dict[str, StateLink] = {}

    @property
    def content(self) -> tuple[dict[str, str], dict[str, str]]:
        """The parts of files and the targets of links, by path, without times."""
        parts = {path: file.part for path, file in self.files.items()}
        return parts, {path: link.target for path, link in self.links.items()}

    def encoded(self) -> bytes:
        """As it is written: equal manifests give equal bytes."""
        return json.encode(
            replace(self, files=dict(sorted(self.files.items())), links=dict(sorted(self.links.items())))
        )


def head_name(key: str) -> str:
    """The name of the object that is a repository's head."""
    return f"{_HEADS}{key}/{_HEAD}"


def part_name(sha256: str) -> str:
    """The name of the object with this content."""
    return f"{PARTS}{sha256}"


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
    head = _parsed(found.data, RepositoryHead, f"{objects.url}: {head_name(key)}")
    return FoundHead(head, found.etag, found.modified)


def read_manifest(objects: Objects, state: str) -> StateManifest:
    """The files of a state; raises `BrokenStore` if the bucket does not have it as it was written."""
    found = objects.get(part_name(state))
    if found is None or sha256_hex(found.data) != state:
        raise BrokenStore(f"{objects.url}: {part_name(state)} is missing or damaged, which a head names")
    manifest = _parsed(found.data, StateManifest, f"{objects.url}: {part_name(state)}")
    for path in (*manifest.files, *manifest.links):
        if path.startswith("/") or ".." in PurePosixPath(path).parts:
            raise BrokenStore(f"{objects.url}: a manifest names the file {path!r}, which lies outside a home")
    return manifest


class PartGone(BrokenStore):
    """A part that a state names is not in the bucket."""


def fetch_part(objects: Objects, file: StateFile, to: Path) -> None:
    """Write a file of a state to a new path, with its time; raises `PartGone`, and `BrokenStore` for a damaged part."""
    name, digest = part_name(file.part), ""
    if file.size > _HELD_BYTES:
        digest = sha256_of_file(to) if objects.download(name, to) else ""
    elif found := objects.get(name):
        to.write_bytes(found.data)
        digest = sha256_hex(found.data)
    if not digest:
        raise PartGone(f"{objects.url}: {name} is not there, which a state names")
    if digest != file.part:
        raise BrokenStore(f"{objects.url}: {name} has another content than its name says")
    set_times(to, file.modified_ns)


def head_infos(objects: Objects) -> Iterator[tuple[str, ObjectInfo]]:
    """The key of each repository that has a head, with what a listing says of it: equal tags, equal heads."""
    for info in objects.infos(_HEADS):
        key, _, name = info.name.removeprefix(_HEADS).rpartition("/")
        if name == _HEAD:
            yield key, info


def _parsed(data: bytes, kind: type[M], where: str) -> M:
    try:
        found = decode(data, kind)
    except MsgspecError as error:
        raise BrokenStore(f"{where} cannot be read ({error}): it was not written by codesum") from error
    if getattr(found, "format", _FORMAT) > _FORMAT:
        raise BrokenStore(f"{where} was written by a later version of codesum: update this one")
    return found


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
            yield PARTS + found.head.state
            yield from (PARTS + file.part for file in read_manifest(objects, found.head.state).files.values())


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
            if holder := found.head.holder:
                quiet = datetime.now(UTC) - info.modified
                is_late = quiet > timedelta(seconds=holder.lease_s)
                until = "late: the next build takes it over" if is_late else "free once it is not renewed any more"
                held = (
                    f"run {holder.run_id} on {holder.host} holds the lease, renewed {int(quiet.total_seconds())} s ago"
                )
                yield BucketFinding(key, f"{held}; {until}", is_broken=False)
            files = read_manifest(objects, found.head.state).files if found.head.state else {}
        except BrokenStore as error:
            yield BucketFinding(key, str(error), is_broken=True)
            continue
        missing = [path for path, file in sorted(files.items()) if sizes.get(part_name(file.part)) != file.size]
        if missing:
            what = f"{len(missing):,} files have no whole part in the bucket: {', '.join(missing[:_MOST_NAMED])}"
            yield BucketFinding(key, what, is_broken=True)


def release_head(objects: Objects, key: str) -> HeadHolder | None:
    """Take the lease of a repository from its holder, who can commit nothing from then on; returns that holder."""
    found = read_head(objects, key)
    if found is None or found.head.holder is None:
        return None
    head = found.head.replaced(holder=None, expires_at=0.0, fence=found.head.fence + 1)
    objects.swap(head_name(key), head.encoded(), etag=found.etag)
    return found.head.holder


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
    files: dict[str, tuple[str, StateFile]] = {}
    for path, file in sorted(read_manifest(objects, state).files.items()):
        files.setdefault(file.part, (path, file))
    near.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(dir=near, prefix=".parts-") as folder,
        ThreadPoolExecutor(transfers) as threads,
    ):

        def look(part: str) -> tuple[str, str] | None:
            path, file = files[part]
            copy = Path(folder) / part
            try:
                fetch_part(objects, file, copy)
            except BrokenStore as error:
                problem = "missing" if isinstance(error, PartGone) else "not what its name says"
                return part_name(part), f"{path} is {problem}"
            finally:
                copy.unlink(missing_ok=True)
            return None

        yield from filter(None, threads.map(look, sorted(files)))
