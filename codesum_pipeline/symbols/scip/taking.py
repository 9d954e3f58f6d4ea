"""The first step of a build, with the indexes that it takes in: where they are (named by the repository's entry, beside
its mirror, in its tree, in its folder), and a copy of each, uncompressed, under the name of its content."""

import gzip
import hashlib
import os
import re
import stat
import subprocess
import uuid
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from io import BufferedReader
from pathlib import Path

import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.edge import IndexFile
from codesum_pipeline.foundation.data_model.errors import RefusedIndex
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.stage_settings import ScipSettings
from codesum_pipeline.foundation.store.atomic import explain_refused_writes
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.source.files.snapshot import SnapshotReport, take_snapshot
from codesum_pipeline.source.git.git import start_git, stop_git
from codesum_pipeline.source.git.locations import IndexPlace, is_url
from codesum_pipeline.source.git.mirror import Mirror
from codesum_pipeline.source.git.remote import is_git_repository
from codesum_pipeline.source.git.trees import SYMLINK_MODE
from codesum_pipeline.symbols.scip.making import MADE_BY, drop_made, make_index

NAMES = ("index.scip", "index.scip.gz")
# Nobody has an index for each of so many folders; a hostile tree has a million.
MOST_IN_TREE = 100
_PART = 1 << 20


class FoundIndex(Struct, frozen=True):
    """An index before it is read. `signature` is empty where `open` will fail. Of one that must not be read, `problem`
    says why."""

    origin: str
    root: str
    signature: str
    open: Callable[[], AbstractContextManager[BufferedReader]] | None = None
    problem: str = ""


def named_indexes(entry: RepositoryEntry, layout: HomeLayout) -> Iterator[FoundIndex]:
    """The files that the entry names, which may be links: whoever wrote the registry wanted them."""
    for place in map(IndexPlace.of, entry.scip):
        yield on_disk(place.path, f"scip {place.path}", place.folder or entry.subdir, layout)


def indexes_beside_mirror(entry: RepositoryEntry, layout: HomeLayout) -> Iterator[FoundIndex]:
    """Indexes that somebody put beside the mirror; none of a home in a bucket, where each worker has its own mirror."""
    for path in layout.indexes_beside_mirror(entry.key) if layout.bucket is None else ():
        if os.path.lexists(path):
            yield on_disk(path, f"mirrors/{path.name}", entry.subdir, layout)


def indexes_in_folder(
    entry: RepositoryEntry, layout: HomeLayout, *, besides: Collection[str] = ()
) -> Iterator[FoundIndex]:
    """Indexes in a local folder, ignored by git or not, without those whose paths are in `besides`."""
    folder = Path(entry.location)
    for root in dict.fromkeys(("", entry.subdir)) if not is_url(entry.location) else ():
        for name in NAMES:
            path = f"{root}/{name}" if root else name
            is_bare = is_git_repository(folder) and not (folder / ".git").exists()
            if path not in besides and os.path.lexists(folder / path) and not is_bare:
                yield on_disk(folder / path, f"folder {path}", root, layout, within=folder)


def indexes_in_tree(ws: Workspace) -> dict[str, FoundIndex]:
    """Indexes that are committed, by path."""
    paths = ws.tables.read("files", ws.key, columns=["path"])["path"]
    named = pc.or_(*(pc.ends_with(paths, name) for name in NAMES))
    if not pc.any(named, min_count=0).as_py():
        return {}
    files = ws.tables.read("files", ws.key, columns=["path", "mode", "blob"]).filter(named)
    found = {}
    for path, mode, blob in zip(*(column.to_pylist() for column in files.columns), strict=True):
        root, _, name = path.rpartition("/")
        if blob and name in NAMES:
            if mode == SYMLINK_MODE:
                problem = "it is a symbolic link, which is not followed"
                found[path] = FoundIndex(f"tree {path}", root, "", problem=problem)
            else:
                opened = partial(_opened_blob, ws.layout.mirror(ws.key), blob)
                found[path] = FoundIndex(f"tree {path}", root, blob, opened)
    kept = dict(sorted(found.items(), key=lambda item: (item[0].count("/"), item[0]))[:MOST_IN_TREE])
    if left := len(found) - len(kept):
        problem = f"{left:,} more index files are left out: name those that count"
        kept[""] = FoundIndex("tree", "", "", problem=problem)
    return kept


def on_disk(path: Path, origin: str, root: str, layout: HomeLayout, *, within: Path | None = None) -> FoundIndex:
    """A file, followed through links; `within` is a folder that these may not lead out of."""
    real = Path(os.path.realpath(path))
    if within and not real.is_relative_to(os.path.realpath(within)):
        problem = f"{path} leads out of {within}: such links are not followed"
        return FoundIndex(origin, root, "", problem=problem)
    try:
        found = real.stat()
        # Another worker sees the file of a shared disk under another number.
        number = 0 if layout.bucket else found.st_ino
        signature = f"{number}:{found.st_size}:{found.st_mtime_ns}"
    except OSError:
        signature = ""
    return FoundIndex(origin, root, signature, partial(opened_file, real, path))


@contextmanager
def opened_file(path: Path, called: Path) -> Iterator[BufferedReader]:
    """A file on disk, whose links are followed already; `called` is how a person knows it."""
    try:
        # What has become a pipe or a link in the meantime is not waited for, and not followed.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError as error:
        raise RefusedIndex(f"{called} cannot be read: {error.strerror}") from error
    try:
        before = os.fstat(handle)
        if not stat.S_ISREG(before.st_mode):
            raise RefusedIndex(f"{called} is no regular file")
        with open(handle, "rb", closefd=False) as file:
            yield file
        after = os.fstat(handle)
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise RefusedIndex(f"{called} was written while it was read: the next build takes it in")
    finally:
        os.close(handle)


@contextmanager
def _opened_blob(git_dir: Path, blob: str) -> Iterator[BufferedReader]:
    """A file of a commit, as git writes it out."""
    process = start_git(["cat-file", "blob", blob], git_dir=git_dir, stderr=subprocess.DEVNULL)
    try:
        assert process.stdin is not None and isinstance(process.stdout, BufferedReader)
        process.stdin.close()
        yield process.stdout
        if process.wait() != 0:
            raise RefusedIndex(f"blob {blob} is not in the mirror")
    finally:
        stop_git(process)


_GZIP = b"\x1f\x8b"
_POINTER = b"version https://git-lfs.github.com/spec/"
_TEMPORARY = ".taken-"
_COPY = re.compile(r"[0-9a-f]{64}")


def copy_index(found: FoundIndex, folder: Path, *, most_bytes: int) -> tuple[str, int]:
    """Copy an index into a folder, under its sha256; returns this name and how many bytes it has, uncompressed.

    Raises `RefusedIndex` if it cannot be copied; nothing is left of it then.
    """
    temporary = folder / f"{_TEMPORARY}{uuid.uuid4().hex}"
    digest, size = hashlib.sha256(), 0
    with explain_refused_writes(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if found.open is None:
        raise RefusedIndex(found.problem)
    try:
        with found.open() as file, explain_refused_writes(temporary), temporary.open("xb") as target:
            for part in _content_of(file):
                size += len(part)
                if size > most_bytes:
                    raise RefusedIndex(
                        f"more than {max(most_bytes, 0) >> 20:,} MB of it, uncompressed, is not taken in: "
                        "raise scip.max_index_mb, which is for all indexes of a repository together"
                    )
                digest.update(part)
                target.write(part)
        if not size:
            raise RefusedIndex("it is empty")
        os.replace(temporary, folder / digest.hexdigest())
    finally:
        temporary.unlink(missing_ok=True)
    return digest.hexdigest(), size


def is_copied(folder: Path, sha256: str, size: int) -> bool:
    """Whether the copy of an index is there, in its full length."""
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


def _content_of(file: BufferedReader) -> Iterator[bytes]:
    """What a file holds, uncompressed, one part in memory at a time."""
    try:
        start = file.peek(len(_POINTER))
        if start.startswith(_POINTER):
            raise RefusedIndex("it is a pointer of Git LFS: its content is not in the repository")
        content = gzip.GzipFile(fileobj=file, mode="rb") if start.startswith(_GZIP) else file
        while part := content.read(_PART):
            yield part
    except EOFError as error:
        raise RefusedIndex("it is compressed, and cut off") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise RefusedIndex(f"it is compressed, and damaged: {error}") from error
    except OSError as error:
        raise RefusedIndex(f"it cannot be read: {error.strerror}") from error


_TABLE = "scip_indexes"


def snapshot_with_indexes(ws: Workspace, *, progress: Progress = no_progress) -> SnapshotReport:
    """As `take_snapshot`; also write the table `scip_indexes`."""
    # First: an index that is written meanwhile is found by the next look.
    state = index_state(ws.entry, ws.layout, ws.settings.scip)
    report = take_snapshot(ws, index_state=state, progress=progress)
    indexes = take_indexes(ws, report.commit, progress=progress)
    tables = ws.tables
    # Nothing is written if the rows did not change.
    if tables.content_hash(_TABLE, ws.key) and tables.read_rows(_TABLE, ws.key, IndexFile) == indexes:
        written = tables.keep(_TABLE, ws.key)
    else:
        written = tables.write_rows(_TABLE, ws.key, indexes, IndexFile)
    problems = tuple(f"{one.origin}: {one.problem}" for one in indexes if one.problem)
    return replace(
        report,
        table_hash=hash_of([report.table_hash, written.table_hash]),
        scip_indexes=len(indexes) - len(problems),
        scip_problems=problems,
    )


def index_state(entry: RepositoryEntry, layout: HomeLayout, settings: ScipSettings) -> str:
    """Identifies the indexes that are not part of a commit, without reading them; empty if there are none."""
    outside = (*named_indexes(entry, layout), *indexes_beside_mirror(entry, layout), *indexes_in_folder(entry, layout))
    found = [(one.origin, one.root, one.signature) for one in outside]
    # A command that failed may do better with other settings.
    made = [entry.scip_command, settings.model_dump()] if entry.scip_command else []
    return hash_of([found, made]) if found or made else ""


def lend_indexes(ws: Workspace, scratch: Workspace) -> None:
    """Let a scratch workspace read the copies of indexes that a home has, and the indexes beside its mirror."""
    folder, to = ws.layout.scip(ws.key), scratch.layout.scip(ws.key)
    beside = zip(ws.layout.indexes_beside_mirror(ws.key), scratch.layout.indexes_beside_mirror(ws.key), strict=True)
    copies = [(file, to / file.name) for file in folder.iterdir()] if folder.is_dir() else []
    for file, link in (*beside, *copies):
        if file.is_file():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file.absolute())


def take_indexes(ws: Workspace, commit: str, *, progress: Progress = no_progress) -> list[IndexFile]:
    """Copy what is found, unless that was done; each problem belongs to its index alone.

    A preview takes the index that was made last: it runs no command.
    """
    rows = ws.tables.read_rows_or_empty(_TABLE, ws.key, IndexFile)
    if ws.tables.is_scratch:
        kept = (row for row in rows if row.origin.startswith(MADE_BY))
        made = [FoundIndex(row.origin, row.root, row.signature, problem=row.problem) for row in kept]
    else:
        made = _made(ws, commit, progress)
    in_tree = indexes_in_tree(ws)
    # In the order of precedence: what a person named or put there first.
    found = (
        *named_indexes(ws.entry, ws.layout),
        *made,
        *indexes_beside_mirror(ws.entry, ws.layout),
        *in_tree.values(),
        *indexes_in_folder(ws.entry, ws.layout, besides=in_tree.keys()),
    )
    folder = ws.layout.scip(ws.key)
    if not found and not folder.exists():
        return []
    known = {(one.origin, one.signature): one for one in rows}
    taken: list[IndexFile] = []
    for one in found:
        most_bytes = (ws.settings.scip.max_index_mb << 20) - sum(file.size for file in taken)
        before = known.get((one.origin, one.signature))
        is_usable = before is not None and one.signature and before.size <= most_bytes and not ws.force
        # The same would come of it as in the last build.
        if before and is_usable and is_copied(folder, before.sha256, before.size):
            file = replace(before, root=one.root)
        else:
            progress(f"taking in {one.origin}", 0, 1)
            file = IndexFile(0, one.origin, one.root, one.signature, "", 0, "")
            try:
                sha256, size = copy_index(one, folder, most_bytes=most_bytes)
                file = replace(file, sha256=sha256, size=size)
            except RefusedIndex as error:
                file = replace(file, problem=str(error))
            progress(f"taking in {one.origin}", 1, 1)
        taken.append(replace(file, position=len(taken)))
    drop_other_copies(folder, {one.sha256 for one in taken})
    if not ws.entry.scip_command:
        drop_made(folder)
    return taken


def _made(ws: Workspace, commit: str, progress: Progress) -> list[FoundIndex]:
    """The index of the entry's command, and why there is no newer one, if so."""
    mirror = Mirror(ws.layout.mirror(ws.key), timeout_s=ws.settings.git_timeout_s)
    made = make_index(ws, mirror, commit, progress=progress)
    if made is None:
        return []
    index = [on_disk(made.path, made.origin, ws.entry.subdir, ws.layout)] if made.path else []
    return [*index, *([FoundIndex(made.origin, ws.entry.subdir, "", problem=made.problem)] if made.problem else [])]
