"""The first step of a build, with the indexes that it takes in: each as a copy, by its content, for later steps."""

import gzip
import hashlib
import os
import uuid
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

from codesum_pipeline.model.errors import RefusedIndex
from codesum_pipeline.model.files import SourceFile
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.model.scip import IndexFile
from codesum_pipeline.scip.finding import FoundIndex, index_state, indexes_beside, indexes_in_tree, named_indexes
from codesum_pipeline.source.snapshot import SnapshotReport, take_snapshot
from codesum_pipeline.store.refusals import writing
from codesum_pipeline.store.workspace import Workspace

_PART = 1 << 20
_GZIP = b"\x1f\x8b"
_TEMPORARY = ".taken-"


def snapshot_with_indexes(ws: Workspace, *, progress: Progress = no_progress) -> SnapshotReport:
    """As `take_snapshot`; also write the table `scip_indexes`."""
    # First: an index that is written meanwhile is found by the next look.
    state = index_state(ws.entry, ws.layout)
    report = take_snapshot(ws, index_state=state, progress=progress)
    indexes = take_indexes(ws, progress=progress)
    table_hash = ws.tables.write_rows("scip_indexes", ws.key, indexes, IndexFile).table_hash
    problems = tuple(f"{one.origin}: {one.problem}" for one in indexes if one.problem)
    return replace(
        report,
        table_hash=hash_of([report.table_hash, table_hash]),
        scip_indexes=len(indexes) - len(problems),
        scip_problems=problems,
    )


def lend_indexes(ws: Workspace, scratch: Workspace) -> None:
    """Let a scratch read the copies of a home."""
    folder = ws.layout.scip(ws.key)
    if not folder.is_dir():
        return
    to = scratch.layout.scip(ws.key)
    to.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        (to / file.name).symlink_to(file.absolute())


def take_indexes(ws: Workspace, *, progress: Progress = no_progress) -> list[IndexFile]:
    """Copy what is found, unless that was done; each problem belongs to its index alone."""
    found = _found(ws)
    folder = ws.layout.scip(ws.key)
    if not found and not folder.exists():
        return []
    known = {
        (one.origin, one.signature): one for one in ws.tables.read_rows_or_empty("scip_indexes", ws.key, IndexFile)
    }
    taken = [_taken(ws, position, one, known, folder, progress) for position, one in enumerate(found)]
    _drop_others(folder, taken)
    return taken


def _found(ws: Workspace) -> list[FoundIndex]:
    files = ws.tables.read_rows("files", ws.key, SourceFile)
    outside = [*named_indexes(ws.entry, ws.layout.repos_file), *indexes_beside(ws.entry, ws.layout)]
    # One that is committed is in the folder, too.
    in_folder = [one.origin.removeprefix("folder ") for one in outside]
    in_tree = [
        one for one in indexes_in_tree(files, ws.layout.mirror(ws.key), besides=()) if _path(one) not in in_folder
    ]
    return [*outside, *in_tree]


def _path(found: FoundIndex) -> str:
    return found.origin.removeprefix("tree ")


def _taken(
    ws: Workspace,
    position: int,
    found: FoundIndex,
    known: Mapping[tuple[str, str], IndexFile],
    folder: Path,
    progress: Progress,
) -> IndexFile:
    before = known.get((found.origin, found.signature))
    if before and found.signature and before.sha256 and (folder / before.sha256).is_file() and not ws.force:
        return replace(before, position=position, root=found.root)
    progress(f"taking in {found.origin}", 0, 1)
    try:
        copied = _copy(found, folder, most_bytes=ws.options.scip.max_index_mb << 20)
    except RefusedIndex as error:
        return IndexFile(position, found.origin, found.root, found.signature, "", 0, str(error))
    progress(f"taking in {found.origin}", 1, 1)
    return IndexFile(position, found.origin, found.root, found.signature, copied.sha256, copied.size, "")


@dataclass(frozen=True, slots=True)
class _Copied:
    sha256: str
    size: int


def _copy(found: FoundIndex, folder: Path, *, most_bytes: int) -> _Copied:
    """Copy an index, uncompressed, to the name of its content."""
    temporary = folder / f"{_TEMPORARY}{uuid.uuid4().hex}"
    digest, size = hashlib.sha256(), 0
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with found.open() as source, writing(temporary), temporary.open("xb") as target:
            for part in _parts(source):
                size += len(part)
                if size > most_bytes:
                    raise RefusedIndex(
                        f"it has more than {most_bytes >> 20:,} MB uncompressed: raise scip.max_index_mb to take it in"
                    )
                digest.update(part)
                target.write(part)
        if not size:
            raise RefusedIndex("it is empty")
        os.replace(temporary, folder / digest.hexdigest())
    finally:
        temporary.unlink(missing_ok=True)
    return _Copied(digest.hexdigest(), size)


def _parts(source: BinaryIO) -> Iterable[bytes]:
    first = source.read(_PART)
    if not first.startswith(_GZIP):
        yield from _whole(first, source)
        return
    try:
        with gzip.GzipFile(fileobj=cast(BinaryIO, _Rejoined(first, source))) as unpacked:
            yield from _whole(unpacked.read(_PART), cast(BinaryIO, unpacked))
    except (EOFError, OSError, zlib.error) as error:
        raise RefusedIndex(f"it is compressed, and damaged: {error}") from error


def _whole(first: bytes, source: BinaryIO) -> Iterable[bytes]:
    part = first
    while part:
        yield part
        part = source.read(_PART)


class _Rejoined:
    """A stream whose first part was read already."""

    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        self._first = first
        self._rest = rest

    def read(self, size: int = -1) -> bytes:
        if not self._first:
            return self._rest.read(size)
        part, self._first = self._first[:size], self._first[size:]
        return part


def _drop_others(folder: Path, taken: Sequence[IndexFile]) -> None:
    """Delete copies that no row names, and what killed builds left."""
    named = {one.sha256 for one in taken}
    for file in folder.glob("*") if folder.is_dir() else ():
        is_copy = len(file.name) == hashlib.sha256().digest_size * 2
        if (is_copy and file.name not in named) or file.name.startswith(_TEMPORARY):
            file.unlink(missing_ok=True)
