"""What a state of a repository consists of: the manifest that a head names.

It lists the files, and the objects that hold the pieces of which they are made. It is itself an object, named by its
content.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import accumulate, chain
from pathlib import PurePosixPath
from typing import Protocol, Self, TypeVar

from msgspec import MsgspecError, Struct, json
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.foundation.store.object_storage.objects import Objects
from codesum_pipeline.foundation.store.object_storage.pieces import (
    MOST_PIECE_BYTES,
    Run,
    StatePart,
    place_pieces,
    to_bytes,
)

PARTS = "parts/"
# In the first each file was an object of its own.
_FORMAT = 2


class _Numbered(Protocol):
    @property
    def format(self) -> int: ...


M = TypeVar("M", bound=_Numbered)


class StateFile(Struct, frozen=True):
    """One file of a repository's state: the sha256 of its content, when it was written, and which pieces it is made of.

    Without `runs` an object named `part` holds all of it, as earlier versions kept all files.
    """

    part: str
    size: int
    modified_ns: int
    runs: tuple[Run, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the file is an object of its own."""
        return bool(self.size and not self.runs)

    def numbers(self) -> Iterator[int]:
        """The numbers of its pieces among those of the manifest."""
        return chain.from_iterable(range(first, first + count) for first, count in self.runs)


class StateLink(Struct, frozen=True):
    """One symbolic link of a repository's state: what it says, and when it was made."""

    target: str
    modified_ns: int


class StateManifest(Struct, frozen=True):
    """All that is kept of a repository: files and links, by their path below the home, and the objects with pieces."""

    format: int = _FORMAT
    files: dict[str, StateFile] = {}
    links: dict[str, StateLink] = {}
    parts: tuple[StatePart, ...] = ()

    @property
    def content(self) -> tuple[dict[str, str], dict[str, str]]:
        """The hashes of files and the targets of links, by path, without times."""
        parts = {path: file.part for path, file in self.files.items()}
        return parts, {path: link.target for path, link in self.links.items()}

    def objects(self) -> dict[str, int]:
        """The size of each object that is named, by its sha256."""
        wholes = {file.part: file.size for file in self.files.values() if file.is_whole}
        return wholes | {part.name: part.size for part in self.parts}

    def paths_by_object(self) -> dict[str, list[str]]:
        """Which files need bytes of each object, by its sha256."""
        part_of = [placed.part for placed in place_pieces(self.parts)]
        found: dict[str, list[str]] = {name: [] for name in self.objects()}
        for path, file in sorted(self.files.items()):
            names = {self.parts[part_of[number]].name for number in file.numbers()}
            for name in {file.part} if file.is_whole else names:
                found[name].append(path)
        return found

    def pieces_of(self, paths: Iterable[str]) -> dict[str, bytes]:
        """The pieces of some files, as they are noted; none of a file that is an object of its own."""
        placed = place_pieces(self.parts)
        return {path: to_bytes(placed[number].piece for number in self.files[path].numbers()) for path in paths}

    def without(self, names: Collection[str]) -> Self:
        """As if these objects, and what they hold, were not there."""
        files = {path: file for path, file in self.files.items() if file.part not in names}
        return replace(self, files=files, parts=tuple(part for part in self.parts if part.name not in names))

    def encoded(self) -> bytes:
        """As it is written: equal manifests give equal bytes."""
        return json.encode(
            replace(self, files=dict(sorted(self.files.items())), links=dict(sorted(self.links.items())))
        )


def part_name(sha256: str) -> str:
    """The name of the object with this content."""
    return f"{PARTS}{sha256}"


class PartGone(BrokenStore):
    """An object that a head or a state names is not in the bucket."""


def read_manifest(objects: Objects, state: str) -> StateManifest:
    """The files of a state; raises `PartGone` or, if the bucket does not have it as it was written, `BrokenStore`."""
    found = objects.get(part_name(state))
    if found is None:
        raise PartGone(f"{objects.url}: {part_name(state)} is not there, which a head names")
    if sha256_hex(found.data) != state:
        raise BrokenStore(f"{objects.url}: {part_name(state)} has another content than its name says")
    manifest = parse_own(found.data, StateManifest, f"{objects.url}: {part_name(state)}")
    for path in (*manifest.files, *manifest.links):
        if path.startswith("/") or ".." in PurePosixPath(path).parts:
            raise BrokenStore(f"{objects.url}: a manifest names the file {path!r}, which lies outside a home")
    _check_runs(manifest, f"{objects.url}: {part_name(state)}")
    return manifest


def _check_runs(manifest: StateManifest, where: str) -> None:
    """Raises `BrokenStore` where the pieces of a file do not make up a file of its size."""
    try:
        sizes = [placed.piece.size for placed in place_pieces(manifest.parts)]
    except ValueError as error:
        raise BrokenStore(f"{where} cannot be read ({error}): it was not written by codesum") from error
    ends = [*accumulate(sizes, initial=0)]
    for path, file in manifest.files.items():
        are_there = all(0 <= first < first + count < len(ends) for first, count in file.runs)
        if not file.is_whole and (
            not are_there or file.size != sum(ends[first + count] - ends[first] for first, count in file.runs)
        ):
            raise BrokenStore(f"{where} names pieces that do not make up {path!r}: it was not written by codesum")
    if wrong := [size for size in sizes if not 0 < size <= MOST_PIECE_BYTES]:
        raise BrokenStore(f"{where} names a piece of {wrong[0]:,} bytes: at most {MOST_PIECE_BYTES:,}")


def parse_own(data: bytes, kind: type[M], where: str) -> M:
    """What this or an earlier version wrote; raises `BrokenStore` for anything else."""
    try:
        found = decode(data, kind)
    except MsgspecError as error:
        raise BrokenStore(f"{where} cannot be read ({error}): it was not written by codesum") from error
    if found.format > kind().format:
        raise BrokenStore(f"{where} was written by a later version of codesum: update this one")
    return found
