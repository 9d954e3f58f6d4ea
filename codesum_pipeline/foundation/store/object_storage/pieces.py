"""Files as pieces, and objects that hold pieces of many files.

A file is cut where its own bytes say so (FastCDC), so an edit leaves the pieces before and behind it as they were,
wherever they have moved to. An object, a *part*, holds new pieces of one commit, one after the other, up to
`PART_BYTES`: an edit sends few objects, and few bytes.
"""

import hashlib
import struct
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

# A piece has between a quarter of this and four times as much. A note of one takes 48 bytes of a manifest: of pieces of
# half the size, an edit sends as many bytes less as the manifest has more.
PIECE_BYTES = 1 << 15
MOST_PIECE_BYTES = 4 * PIECE_BYTES
# One request sends an object, from memory.
PART_BYTES = 1 << 22
# Of so many parts with less than half of that the pieces are sent again, together: each takes requests of all who read.
MOST_SMALL_PARTS = 32
# Of a part of which less than one in so many bytes is wanted, these are sent again.
LEAST_WANTED = 4
_NOTE = struct.Struct("<32sI")


class FilePiece(NamedTuple):
    """Consecutive bytes, by their sha256."""

    sha256: bytes
    size: int


def to_bytes(pieces: Iterable[FilePiece]) -> bytes:
    """How pieces are noted: 36 bytes each."""
    return b"".join(_NOTE.pack(*piece) for piece in pieces)


def from_bytes(noted: bytes) -> list[FilePiece]:
    """The inverse of `to_bytes`; raises `ValueError` for other bytes."""
    try:
        return [FilePiece(*fields) for fields in _NOTE.iter_unpack(noted)]
    except struct.error as error:
        raise ValueError(f"{len(noted)} bytes note no pieces") from error


def cut_file(path: Path) -> tuple[str, list[FilePiece]]:
    """The sha256 of a file, and the pieces that it is cut into; none if it is empty."""
    whole, pieces = hashlib.sha256(), []
    if path.stat().st_size:
        # Only who builds in a bucket needs it.
        from pyfastcdc import FastCDC

        for chunk in FastCDC(PIECE_BYTES, max_size=MOST_PIECE_BYTES).cut_file(path):
            whole.update(chunk.data)
            pieces.append(FilePiece(hashlib.sha256(chunk.data).digest(), chunk.length))
    return whole.hexdigest(), pieces


class StatePart(Struct, frozen=True):
    """An object by its name, its sha256, and the pieces that it holds, one after the other."""

    name: str
    pieces: bytes

    def listed(self) -> list[FilePiece]:
        """The pieces that it holds."""
        return from_bytes(self.pieces)

    @property
    def size(self) -> int:
        """How many bytes the object has."""
        return sum(piece.size for piece in self.listed())


def choose_parts(parts: Iterable[StatePart], wanted: Collection[FilePiece]) -> list[StatePart]:
    """The parts whose pieces need not be sent again: a quarter of the bytes of each are wanted, and few are small.

    So a bucket holds at most four times what its states need, besides what waits to be collected, and sends again at
    most a third of what fell out of use.
    """
    found: set[FilePiece] = set()
    kept = []
    for part in parts:
        needed = {piece for piece in part.listed() if piece in wanted and piece not in found}
        if LEAST_WANTED * sum(piece.size for piece in needed) >= part.size:
            kept.append(part)
            found |= needed
    small = [part for part in kept if 2 * part.size < PART_BYTES]
    return kept if len(small) <= MOST_SMALL_PARTS else [part for part in kept if part not in small]


# Consecutive numbers of pieces: the first, and how many.
Run = tuple[int, int]


def runs_of(numbers: Iterable[int]) -> tuple[Run, ...]:
    """Numbers, as runs of consecutive ones."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and sum(runs[-1]) == number:
            runs[-1][1] += 1
        else:
            runs.append([number, 1])
    return tuple((first, count) for first, count in runs)


class PlacedPiece(NamedTuple):
    """A piece, and where it is: in which of the parts, and from which byte on."""

    piece: FilePiece
    part: int
    start: int


def place_pieces(parts: Sequence[StatePart]) -> list[PlacedPiece]:
    """All pieces of some parts, in order: their numbers are what `runs` speak of."""
    found = []
    for number, part in enumerate(parts):
        pieces = part.listed()
        starts = accumulate((piece.size for piece in pieces), initial=0)
        found += [PlacedPiece(piece, number, start) for piece, start in zip(pieces, starts, strict=False)]
    return found
