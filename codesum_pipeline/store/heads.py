"""The one object of a repository in a bucket that is ever replaced: `repos/<key>/head.json`.

It names the whole state of the repository, and who may replace it. All else is
named by its content and never changes. A head is only replaced by `swap`, and
each one that is written holds a nonce, so that no two have one tag.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import NamedTuple, Self, TypeVar
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from codesum_pipeline.model.errors import BrokenStore
from codesum_pipeline.model.hashing import sha256_hex
from codesum_pipeline.store.objects import ObjectInfo, Objects

M = TypeVar("M", bound=BaseModel)
_FORMAT = 1
_HEADS = "repos/"
_HEAD = "head.json"
PARTS = "parts/"


class HeadHolder(BaseModel):
    """The worker that builds the repository. `nonce` is this holding's own; it renews its lease within `lease_s`."""

    model_config = ConfigDict(frozen=True)

    host: str
    pid: int
    process_started: float
    boot_id: str
    pid_namespace: str
    run_id: str
    nonce: str
    lease_s: float


class PublishedPointer(BaseModel):
    """The published version, as far as readers and the planner want to know without another request."""

    model_config = ConfigDict(frozen=True)

    digest: str
    commit: str
    content_digest: str
    fingerprint: str


class RepositoryHead(BaseModel):
    """A repository's head.

    `fence` grows by one with every holder. `generation` grows by one with every
    state that is committed. `state` is the name of a manifest among the parts;
    `expires_at` (Unix seconds, the holder's clock) is for people: nothing that
    is published rests on it.
    """

    model_config = ConfigDict(frozen=True)

    format: int = _FORMAT
    fence: int = 0
    holder: HeadHolder | None = None
    expires_at: float = 0.0
    generation: int = 0
    state: str | None = None
    published: PublishedPointer | None = None
    nonce: str = Field(default_factory=lambda: uuid4().hex)

    def replaced(self, **changes: object) -> Self:
        """The head that comes after this one, with a nonce of its own."""
        return self.model_copy(update={**changes, "nonce": uuid4().hex})

    def encoded(self) -> bytes:
        """As it is written."""
        return self.model_dump_json().encode()


class StateFile(BaseModel):
    """One file of a repository's state: the part that holds it, and when it was written."""

    model_config = ConfigDict(frozen=True)

    part: str
    size: int
    modified_ns: int


class StateLink(BaseModel):
    """One symbolic link of a repository's state: what it says, and when it was made."""

    model_config = ConfigDict(frozen=True)

    target: str
    modified_ns: int


class StateManifest(BaseModel):
    """All that is kept of a repository: files and links, by their path below the home."""

    model_config = ConfigDict(frozen=True)

    format: int = _FORMAT
    files: dict[str, StateFile] = {}
    links: dict[str, StateLink] = {}

    @property
    def content(self) -> tuple[dict[str, str], dict[str, str]]:
        """All that it says but when files were written."""
        parts = {path: file.part for path, file in self.files.items()}
        return parts, {path: link.target for path, link in self.links.items()}

    def encoded(self) -> bytes:
        """As it is written: equal manifests give equal bytes."""
        ordered = StateManifest(files=dict(sorted(self.files.items())), links=dict(sorted(self.links.items())))
        return ordered.model_dump_json().encode()


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
    """A repository's head; None where nothing was ever built. Raises `BrokenStore`."""
    found = objects.get(head_name(key))
    if found is None:
        return None
    head = _parsed(found.data, RepositoryHead, f"{objects.url}: {head_name(key)}")
    return FoundHead(head, found.etag, found.modified)


def read_manifest(objects: Objects, state: str) -> StateManifest:
    """The files of a state; raises `BrokenStore` where the bucket does not have it as it was written."""
    found = objects.get(part_name(state))
    if found is None or sha256_hex(found.data) != state:
        raise BrokenStore(f"{objects.url}: {part_name(state)} is missing or damaged, which a head names")
    manifest = _parsed(found.data, StateManifest, f"{objects.url}: {part_name(state)}")
    for path in (*manifest.files, *manifest.links):
        _check_stays_below(path, objects.url)
    return manifest


def head_infos(objects: Objects) -> Iterator[tuple[str, ObjectInfo]]:
    """The key of each repository that has a head, with what a listing says of it: equal tags, equal heads."""
    for info in objects.infos(_HEADS):
        key, _, name = info.name.removeprefix(_HEADS).rpartition("/")
        if name == _HEAD:
            yield key, info


def _parsed(data: bytes, model: type[M], where: str) -> M:
    try:
        found = model.model_validate_json(data)
    except ValidationError as error:
        raise BrokenStore(
            f"{where} cannot be read ({error.error_count()} faults): it was not written by codesum"
        ) from error
    if getattr(found, "format", _FORMAT) > _FORMAT:
        raise BrokenStore(f"{where} was written by a later version of codesum: update this one")
    return found


def _check_stays_below(path: str, url: str) -> None:
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts:
        raise BrokenStore(f"{url}: a manifest names the file {path!r}, which lies outside a home")
