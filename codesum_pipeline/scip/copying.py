"""Copies of indexes, uncompressed, each under the name of its content."""

import hashlib
import os
import re
import uuid
import zlib
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.model.errors import RefusedIndex
from codesum_pipeline.scip.finding import FoundIndex
from codesum_pipeline.store.refusals import writing

_PART = 1 << 20
_GZIP = b"\x1f\x8b"
# A header and a trailer of gzip, which zlib looks for itself.
_WITH_GZIP_HEADER = 31
_POINTER = b"version https://git-lfs.github.com/spec/"
_TEMPORARY = ".taken-"
_COPY = re.compile(r"[0-9a-f]{64}")


class IndexCopy(Struct, frozen=True):
    """The content of an index: its name in the folder, and how many bytes it has."""

    sha256: str
    size: int


def copy_index(found: FoundIndex, folder: Path, *, most_bytes: int) -> IndexCopy:
    """Copy an index to the name of its content; raises `RefusedIndex` where it cannot be, and nothing is left of it."""
    temporary = folder / f"{_TEMPORARY}{uuid.uuid4().hex}"
    digest, size = hashlib.sha256(), 0
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with found.open() as parts, writing(temporary), temporary.open("xb") as target:
            for part in _uncompressed(parts):
                size += len(part)
                if size > most_bytes:
                    raise RefusedIndex(_too_large(most_bytes))
                digest.update(part)
                target.write(part)
        if not size:
            raise RefusedIndex("it is empty")
        os.replace(temporary, folder / digest.hexdigest())
    finally:
        temporary.unlink(missing_ok=True)
    return IndexCopy(digest.hexdigest(), size)


def is_copied(folder: Path, sha256: str, size: int) -> bool:
    """Whether an index is there whole."""
    try:
        return bool(sha256) and (folder / sha256).stat().st_size == size
    except OSError:
        return False


def drop_other_copies(folder: Path, kept: Collection[str]) -> None:
    """Delete copies that are not kept, and what killed builds left."""
    for file in folder.iterdir() if folder.is_dir() else ():
        is_other = _COPY.fullmatch(file.name) and file.name not in kept
        if is_other or file.name.startswith(_TEMPORARY):
            file.unlink(missing_ok=True)


def _too_large(most_bytes: int) -> str:
    return (
        f"more than {max(most_bytes, 0) >> 20:,} MB of it, uncompressed, is not taken in: "
        "raise scip.max_index_mb, which is for all indexes of a repository together"
    )


def _uncompressed(parts: Iterator[bytes]) -> Iterator[bytes]:
    first = next(parts, b"")
    if first.startswith(_POINTER):
        raise RefusedIndex("it is a pointer of Git LFS: its content is not in the repository")
    together = chain([first], parts)
    yield from _unzipped(together) if first.startswith(_GZIP) else together


def _unzipped(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The content of gzip's members, of which no more is in memory than a part."""
    member = zlib.decompressobj(_WITH_GZIP_HEADER)
    is_begun = False
    try:
        for part in parts:
            while part:
                is_begun = True
                yield from _drained(member, part)
                part = b""
                if member.eof:
                    part, is_begun = member.unused_data.lstrip(b"\0"), False
                    member = zlib.decompressobj(_WITH_GZIP_HEADER)
    except zlib.error as error:
        raise RefusedIndex(f"it is compressed, and damaged: {error}") from error
    if is_begun:
        raise RefusedIndex("it is compressed, and cut off")


def _drained(member: "zlib._Decompress", part: bytes) -> Iterator[bytes]:
    while True:
        found = member.decompress(part, _PART)
        yield found
        part = member.unconsumed_tail
        if member.eof or (not part and len(found) < _PART):
            return
