"""The files of a state, sent as pieces and composed of them again.

What is there already moves nowhere: of a new file a commit sends the pieces that the bucket lacks, and who fetches it
takes those that other files of this folder have. Each piece is compared with its hash, and each file with its own.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.bounded_batches import bounded_batches
from codesum_pipeline.foundation.data_model.errors import BrokenStore
from codesum_pipeline.foundation.data_model.hashing import sha256_hex, sha256_of_file
from codesum_pipeline.foundation.store.atomic import set_times
from codesum_pipeline.foundation.store.object_storage.objects import Objects
from codesum_pipeline.foundation.store.object_storage.pieces import (
    PART_BYTES,
    FilePiece,
    PlacedPiece,
    StatePart,
    choose_parts,
    place_pieces,
    runs_of,
    to_bytes,
)
from codesum_pipeline.foundation.store.object_storage.state_manifest import (
    PartGone,
    StateFile,
    StateManifest,
    part_name,
)

# What lies between two pieces is fetched, too, where another request would take longer.
_GAP_BYTES = 1 << 18


class PieceSource(NamedTuple):
    """Where a piece is on this machine: a file, and from which byte on."""

    path: Path
    start: int

    def read(self, piece: FilePiece) -> bytes:
        """The bytes that are there; not compared with the piece's hash."""
        with self.path.open("rb") as file:
            file.seek(self.start)
            return file.read(piece.size)


class CutFile(NamedTuple):
    """A file of a folder, and the pieces that it is made of."""

    file: StateFile
    pieces: Sequence[FilePiece]


def send_files(
    objects: Objects, home: Path, files: Mapping[str, CutFile], base: StateManifest, *, transfers: int
) -> StateManifest:
    """Send what the objects of `base` lack of some files, by their path below the home; the manifest of all of them."""
    wholes = {file.part for file in base.files.values() if file.is_whole}
    sources: dict[FilePiece, PieceSource] = {}
    for path in sorted(path for path, (file, _) in files.items() if file.part not in wholes):
        start = 0
        for piece in files[path].pieces:
            sources.setdefault(piece, PieceSource(home / path, start))
            start += piece.size
    kept = choose_parts(base.parts, sources.keys())
    there = {placed.piece for placed in place_pieces(kept)}

    def send(group: Sequence[FilePiece]) -> StatePart:
        data = b"".join(sources[piece].read(piece) for piece in group)
        part = StatePart(sha256_hex(data), to_bytes(group))
        objects.put(part_name(part.name), data)
        return part

    with ThreadPoolExecutor(transfers) as threads:
        lacking = (piece for piece in sources if piece not in there)
        parts = [*kept, *threads.map(send, bounded_batches(lacking, attrgetter("size"), most=PART_BYTES))]
    numbers: dict[FilePiece, int] = {}
    for number, placed in enumerate(place_pieces(parts)):
        numbers.setdefault(placed.piece, number)
    composed = {
        path: file if file.part in wholes else replace(file, runs=runs_of(numbers[piece] for piece in pieces))
        for path, (file, pieces) in files.items()
    }
    return StateManifest(files=composed, parts=tuple(parts))


def fetch_files(
    objects: Objects,
    manifest: StateManifest,
    paths: Collection[str],
    folder: Path,
    *,
    here: Mapping[FilePiece, PieceSource],
    transfers: int,
) -> None:
    """Write the content of some files into a folder, each under its sha256, with the time of the first that has it.

    `here` are pieces that this machine has. Raises `PartGone`, and `BrokenStore` for what is damaged.
    """
    contents: dict[str, str] = {}
    for path in sorted(paths):
        contents.setdefault(manifest.files[path].part, path)
    placed = place_pieces(manifest.parts)
    targets: dict[int, list[PieceSource]] = defaultdict(list)
    needed_by: dict[int, str] = {}
    for part, path in contents.items():
        file, start = manifest.files[path], 0
        (folder / part).touch()
        for number in file.numbers():
            targets[number].append(PieceSource(folder / part, start))
            needed_by.setdefault(number, path)
            start += placed[number].piece.size

    def put(number: int, data: bytes) -> None:
        for target, start in targets[number]:
            with target.open("r+b") as file:
                file.seek(start)
                file.write(data)

    for number in [*needed_by]:
        piece = placed[number].piece
        if (source := here.get(piece)) and hashlib.sha256(data := source.read(piece)).digest() == piece.sha256:
            put(number, data)
            del needed_by[number]
    _fetch_pieces(objects, manifest.parts, placed, needed_by, put, transfers=transfers)
    with ThreadPoolExecutor(transfers) as threads:
        list(threads.map(lambda path: _finish(objects, manifest.files[path], path, folder), contents.values()))


def _finish(objects: Objects, file: StateFile, path: str, folder: Path) -> None:
    """Fetch a file that is an object of its own; compare any with its hash."""
    target = folder / file.part
    if file.is_whole and not objects.download(part_name(file.part), target):
        raise _gone(objects, file.part, path)
    if sha256_of_file(target) != file.part:
        if file.is_whole:
            raise _damaged(objects, file.part, path)
        raise BrokenStore(f"{objects.url}: the pieces of {path} do not make up what its state says")
    set_times(target, file.modified_ns)


def read_files(objects: Objects, manifest: StateManifest, paths: Collection[str]) -> dict[str, bytes]:
    """The content of some small files of a state, by path, without those that it has not; raises as `fetch_files`."""
    found = {path: manifest.files[path] for path in paths if path in manifest.files}
    placed, pieces = place_pieces(manifest.parts), dict[int, bytes]()
    wanted = {number: path for path, file in found.items() for number in file.numbers()}
    _fetch_pieces(objects, manifest.parts, placed, wanted, pieces.__setitem__, transfers=1)
    contents = {path: b"".join(map(pieces.__getitem__, file.numbers())) for path, file in found.items()}
    for path, file in found.items():
        if file.is_whole:
            whole = objects.get(part_name(file.part))
            if whole is None:
                raise _gone(objects, file.part, path)
            contents[path] = whole.data
        if sha256_hex(contents[path]) != file.part:
            raise _damaged(objects, file.part, path)
    return contents


def _fetch_pieces(
    objects: Objects,
    parts: Sequence[StatePart],
    placed: Sequence[PlacedPiece],
    needed_by: Mapping[int, str],
    put: Callable[[int, bytes], None],
    *,
    transfers: int,
) -> None:
    """Hand over the bytes of pieces, by their numbers; `needed_by` says which file of each a message names."""

    def fetch(numbers: Sequence[int]) -> None:
        first, last = placed[numbers[0]], placed[numbers[-1]]
        name, start = parts[first.part].name, first.start
        data = objects.read(part_name(name), start, last.start + last.piece.size)
        if data is None:
            raise _gone(objects, name, needed_by[numbers[0]])
        for number in numbers:
            piece, _, at = placed[number]
            some = data[at - start : at - start + piece.size]
            if hashlib.sha256(some).digest() != piece.sha256:
                raise _damaged(objects, name, needed_by[number])
            put(number, some)

    with ThreadPoolExecutor(transfers) as threads:
        list(threads.map(fetch, _spans(placed, needed_by)))


def _spans(placed: Sequence[PlacedPiece], numbers: Collection[int]) -> Iterator[list[int]]:
    """Pieces that one request fetches together."""
    span: list[int] = []
    for number in sorted(numbers):
        piece, part, start = placed[number]
        if span:
            first, last = placed[span[0]], placed[span[-1]]
            is_near = start - last.start - last.piece.size <= _GAP_BYTES
            if part != first.part or not is_near or start + piece.size - first.start > PART_BYTES:
                yield span
                span = []
        span.append(number)
    if span:
        yield span


def _gone(objects: Objects, name: str, path: str) -> PartGone:
    return PartGone(f"{objects.url}: {part_name(name)} is not there, which a state names for {path}")


def _damaged(objects: Objects, name: str, path: str) -> BrokenStore:
    return BrokenStore(f"{objects.url}: {part_name(name)} has another content than its name says: {path} needs it")
