"""A local copy of what is published in a bucket, made of what readers ask for, and bounded.

The copy has the layout of a home, so whatever reads a home reads it: names of published indexes are links, which are
moved when a head names another version; the files behind a link, and tables, are fetched when somebody opens them.
What was not opened for longest goes first when the copy is larger than its bound. The notes of each repository say
what each file holds; files of a version that the version before has too are linked, and of others those pieces are
fetched that no file here has. Files are replaced and unlinked, never written into, and nothing is deleted between the
look at an index's name and the mapping of its files; what is mapped stays readable. Many processes share one copy.
"""

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from msgspec import Struct, json

from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.errors import BrokenStore, BucketUnavailable
from codesum_pipeline.foundation.data_model.ids import is_repository_key
from codesum_pipeline.foundation.settings.operation_settings import ReadingSettings
from codesum_pipeline.foundation.store.atomic import (
    replace_link,
    set_times,
    write_bytes_atomically,
    write_json_atomically,
)
from codesum_pipeline.foundation.store.layout import (
    INDEX,
    INDEX_MANIFEST,
    MANIFEST_NAME,
    STATE,
    HomeLayout,
    LocalFiles,
    PublishedPointer,
)
from codesum_pipeline.foundation.store.locks import lock_exclusively, lock_if_free, lock_shared
from codesum_pipeline.foundation.store.object_storage.heads import head_infos, read_head
from codesum_pipeline.foundation.store.object_storage.home_files import HomeFiles
from codesum_pipeline.foundation.store.object_storage.objects import Objects
from codesum_pipeline.foundation.store.object_storage.repository_files import PartNotes
from codesum_pipeline.foundation.store.object_storage.state_files import fetch_files
from codesum_pipeline.foundation.store.object_storage.state_manifest import PartGone, StateManifest, read_manifest

# Requests at one time: a bucket answers each in tens of milliseconds, whatever else it does.
_AT_ONCE = 16
# Nothing shows when a table that was brought has been read: so long it stays.
_TABLES_STAY_S = 60.0
# A server does not wait for a bucket that is away with each answer.
_AWAY_S = 30.0
# How much extra room is made, so that not every new part has to search for parts to delete.
_ROOM = 0.1
# Others may delete what was brought before it is opened; not again and again.
_MOST_TRIES = 20
_GB = 1e9
T = TypeVar("T")
_log = logging.getLogger(__name__)


class KnownHead(Struct, frozen=True, array_like=True):
    """A head as it was read: its tag, the state that it names, and the published version."""

    etag: str
    state: str | None
    digest: str | None
    published: PublishedPointer | None = None


class ReadingCopy(LocalFiles):
    """The copy at `folder` of the home in a bucket whose own files are `files`."""

    is_copy = True

    def __init__(self, files: HomeFiles, folder: Path, reading: ReadingSettings, *, is_offline: bool = False) -> None:
        self.layout = HomeLayout(folder)
        self._files = files
        self._fresh_s = reading.fresh_s
        self._cache_bytes = reading.cache_gb * _GB
        self._is_offline = is_offline
        self._brought = BroughtFiles(self.layout, files.url, lambda: self.objects)
        self._heads: dict[str, KnownHead] = {}
        self._heads_read_at = 0
        self._looked_at: float | None = None
        # What is there, as far as this process knows: other processes bring and delete, too.
        self._bytes: int | None = None
        self._lock = threading.RLock()
        self._looking = threading.Lock()

    @property
    def objects(self) -> Objects:
        """Raises `BucketUnavailable` offline: what was not copied yet is not to be had."""
        if self._is_offline:
            raise BucketUnavailable(f"{self._files.url}: this was not copied from the bucket yet, and we are offline")
        return self._files.objects

    def look(self) -> None:
        """Bring the names of indexes and the home's own files up to date, unless that was done within `fresh_s`.

        The first look waits for another thread's, and raises `BucketUnavailable`. Later ones keep what was found before
        where the bucket cannot be reached, and while another thread looks.
        """
        if self._is_offline:
            self._read_heads()
            return
        if not self._looking.acquire(blocking=self._looked_at is None):
            return
        try:
            now = time.monotonic()
            if self._looked_at is not None and now - self._looked_at < self._fresh_s:
                return
            try:
                self._files.refresh(max_age_s=self._fresh_s)
                self.refresh(max_age_s=self._fresh_s)
            except BucketUnavailable as error:
                if self._looked_at is None:
                    raise
                _log.warning("answers are of what was published before: %s", error)
                now = time.monotonic() + _AWAY_S
            self._looked_at = now
        finally:
            self._looking.release()

    def refresh(self, *, max_age_s: float = 0.0) -> None:
        """Read the heads that changed, unless another process did so `max_age_s` ago."""
        with self._lock, lock_exclusively(self.layout.home / ".heads.lock"):
            self._read_heads()
            # A look in the future was taken before the clock was set back.
            if 0 <= time.time() - self._heads_read_at / 1e9 < max_age_s:
                return
            present = {key: info for key, info in head_infos(self.objects) if is_repository_key(key)}
            known = {key: head for key, head in self._heads.items() if key in present}
            # One that an earlier version noted lacks what is published.
            changed = [
                key
                for key, info in present.items()
                if key not in known
                or known[key].etag != info.etag
                or bool(known[key].digest) != bool(known[key].published)
            ]
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                found = {key: head for key, head in pool.map(self._head, changed) if head}
            # Nothing stays of a repository that the bucket does not have any more.
            for key in self._heads.keys() - present.keys():
                self.layout.published(key).unlink(missing_ok=True)
                with lock_exclusively(self._brought.lock(key)):
                    self._brought.delete(key, tables=True)
            heads = known | found
            for key, head in heads.items():
                before = self._heads.get(key)
                if before is None or before.digest != head.digest or not os.path.lexists(self.layout.published(key)):
                    self._point(key, head.digest, present[key].modified.timestamp())
            self._write_heads(heads)

    @contextmanager
    def keep_index(self, key: str) -> Iterator[None]:
        """Within the block, the files of a published index are in the copy."""
        for _ in range(_MOST_TRIES):
            self.bring(key, INDEX)
            with lock_shared(self._brought.lock(key)):
                head = self._heads.get(key)
                if head is None or not head.state or self._brought.has(key, head.state, INDEX):
                    yield
                    return
        raise BucketUnavailable(
            f"{self.layout.home}: {key!r} is deleted as often as it is fetched: raise reading.cache_gb"
        )

    def edit(self, path: Path, edit: Callable[[], T]) -> T:
        """See `LocalFiles.edit`."""
        return self._files.edit(path, edit)

    def pointer(self, key: str) -> PublishedPointer | None:
        """See `LocalFiles.pointer`."""
        head = self._heads.get(key)
        return head.published if head else None

    def bring_indexes(self, keys: Iterable[str]) -> None:
        """Fetch the published indexes that are not there, several at one time; a broken one is left to who opens it."""
        missing = [key for key in keys if not (self.layout.published(key) / MANIFEST_NAME).exists()]
        if len(missing) > 1:

            def bring(key: str) -> None:
                with suppress(BrokenStore):
                    self.bring(key, INDEX)

            with ThreadPoolExecutor(_AT_ONCE // 2) as pool:
                list(pool.map(bring, missing))

    def bring_tables_of_all(self, tables: Iterable[str]) -> None:
        """Have some tables of all repositories there."""
        with ThreadPoolExecutor(_AT_ONCE // 2) as pool:
            for table in tables:
                list(pool.map(self.bring, sorted(self._heads), repeat(table)))

    def bring(self, key: str, wanted: str) -> None:
        """Fetch what is not there of a table of a repository, or of its `INDEX`, `INDEX_MANIFEST` or `STATE`.

        Raises `BucketUnavailable` or `BrokenStore`.
        """
        for is_last in (False, True):
            head = self._heads.get(key)
            if head is None or head.state is None or self._brought.has(key, head.state, wanted):
                return
            try:
                with lock_exclusively(self._brought.lock(key)):
                    fetched = self._brought.fetch(key, head.state, head.digest, wanted)
                break
            except PartGone as error:
                # Replaced meanwhile, and what only the old state had was deleted: the new head knows better.
                if is_last:
                    raise BrokenStore(f"{error}: run `codesum doctor`") from error
                self.refresh()
        if fetched:
            self._make_room(fetched, keep=key)

    def _make_room(self, fetched: int, *, keep: str) -> None:
        with self._lock:
            if self._bytes is not None:
                self._bytes += fetched
            else:
                self._bytes = sum(size for _, size in self._brought.sizes().values())
            if self._bytes <= self._cache_bytes:
                return
            sizes = self._brought.sizes()
            self._bytes = sum(size for _, size in sizes.values())
            # Only where others' parts were not what went beyond it.
            least = (1 - _ROOM) * self._cache_bytes
            for key, (used_at, _) in sorted(sizes.items(), key=lambda item: item[1][0]):
                if self._bytes <= least:
                    return
                if key != keep:
                    with lock_if_free(self._brought.lock(key)) as is_free:
                        if is_free:
                            is_old = time.time() - used_at > _TABLES_STAY_S
                            self._bytes -= self._brought.delete(key, tables=is_old)

    def _head(self, key: str) -> tuple[str, KnownHead | None]:
        try:
            found = read_head(self.objects, key)
        except BrokenStore as error:
            _log.warning("left as it was: %s", error)
            return key, self._heads.get(key)
        if found is None:
            return key, None
        head = found.head
        return key, KnownHead(found.etag, head.state, head.published.digest if head.published else None, head.published)

    def _point(self, key: str, digest: str | None, published_at: float) -> None:
        name = self.layout.published(key)
        if digest is None:
            name.unlink(missing_ok=True)
            return
        target = (self.layout.versions(key) / digest).relative_to(name.parent)
        replace_link(name, target, modified_ns=round(published_at * 1e9))

    @property
    def _note(self) -> Path:
        return self.layout.home / "heads.json"

    def _read_heads(self) -> None:
        with suppress(FileNotFoundError):
            read_at = self._note.stat().st_mtime_ns
            if read_at != self._heads_read_at:
                self._heads = decode(self._note.read_bytes(), dict[str, KnownHead])
                self._heads_read_at = read_at

    def _write_heads(self, heads: dict[str, KnownHead]) -> None:
        if heads == self._heads and self._note.exists():
            os.utime(self._note)
        else:
            write_bytes_atomically(self._note, json.encode(heads, order="sorted"))
        self._heads, self._heads_read_at = heads, self._note.stat().st_mtime_ns


def _selected(wanted: str, layout: HomeLayout, key: str, digest: str | None, there: Iterable[str]) -> list[str]:
    """Those that are meant of the files that are there; what is fetched last comes last."""
    versions = f"{layout.versions(key).relative_to(layout.home).as_posix()}/"
    version = f"{versions}{digest}/"
    manifest = f"{version}{MANIFEST_NAME}"
    if wanted not in (INDEX, STATE):
        path = manifest if wanted == INDEX_MANIFEST else f"warehouse/{wanted}/repo={key}/part-0.parquet"
        return [each for each in there if each == path]
    is_all = wanted == STATE
    found = (path for path in there if path.startswith(version) or (is_all and not path.startswith(versions)))
    return sorted(found, key=lambda path: (path == manifest, path))


class BroughtFiles(Struct, eq=False):
    """The files below the home of `layout`. `fetch` and `delete` are for whoever holds the `lock` of the repository."""

    layout: HomeLayout
    url: str
    objects: Callable[[], Objects]
    # The state that this process fetched or found, and one file of it, which shows whether it still exists.
    _known: dict[tuple[str, str], tuple[str, Path | None]] = {}

    def lock(self, key: str) -> Path:
        """The file that whoever changes, or maps, files of a repository locks."""
        return self._folder / f"{key}.lock"

    def has(self, key: str, state: str, wanted: str) -> bool:
        """Whether this process knows that all of these files are there; they count as used now."""
        known_state, a_file = self._known.get((key, wanted), ("", None))
        if known_state != state or (a_file and not a_file.exists()):
            return False
        if a_file:
            self._touch(key)
        return True

    def fetch(self, key: str, state: str, digest: str | None, wanted: str) -> int:
        """Have these files there; how many bytes came. Raises `PartGone`, `BrokenStore` or `BucketUnavailable`."""
        notes, home = self._notes(key), self.layout.home
        is_new = notes.based_on != state
        if is_new:
            notes.based_on, notes.manifest = state, read_manifest(self.objects(), state)
        files = notes.manifest.files
        # The link keeps the time of the original, since the time of publication is shown.
        name = self.layout.published(key)
        link = notes.manifest.links.get(name.relative_to(home).as_posix())
        if link and name.is_symlink() and name.lstat().st_mtime_ns != link.modified_ns:
            set_times(name, link.modified_ns)
        paths = _selected(wanted, self.layout, key, digest, files)
        missing = [path for path in paths if notes.part_of(home, path) != files[path].part]
        fetched = self._bring(notes, notes.manifest, missing) if missing else 0
        if missing:
            # Versions that are not published any more go. Tables of earlier states stay: new ones have most of their
            # pieces, and what is noted counts as being there.
            versions = self.layout.versions(key)
            for folder in versions.iterdir() if versions.is_dir() else ():
                if folder.name != digest:
                    shutil.rmtree(folder, ignore_errors=True)
            notes.keep_only(path for path in notes.files if notes.note_of(home, path))
        if missing or is_new:
            write_json_atomically(self._notes_file(key), notes)
        self._touch(key)
        self._known[key, wanted] = state, home / paths[-1] if paths else None
        return fetched

    def sizes(self) -> dict[str, tuple[float, int]]:
        """When files of each repository were used last, and how many bytes they have."""
        found = {}
        for note in self._folder.glob("*.files.json"):
            key = note.name.removesuffix(".files.json")
            try:
                found[key] = (note.stat().st_mtime, self._notes(key).size)
            except FileNotFoundError:
                continue
        return found

    def delete(self, key: str, *, tables: bool) -> int:
        """Delete the files of a repository's versions, and with `tables` all others; how many bytes went."""
        notes, versions = self._notes(key), self.layout.versions(key)
        prefix = f"{versions.relative_to(self.layout.home).as_posix()}/"
        shutil.rmtree(versions, ignore_errors=True)
        before, there = notes.size, notes.files
        notes.keep_only([] if tables else [path for path in there if not path.startswith(prefix)])
        for path in there.keys() - notes.files.keys():
            (self.layout.home / path).unlink(missing_ok=True)
        if notes.files:
            write_json_atomically(self._notes_file(key), notes)
        else:
            self._notes_file(key).unlink(missing_ok=True)
        return before - notes.size

    def _bring(self, notes: PartNotes, manifest: StateManifest, paths: Sequence[str]) -> int:
        """Have files there, in this order, as other names of files with their content where there are such; how many
        bytes came."""
        home, files = self.layout.home, manifest.files
        same = {noted.part: home / path for path, noted in notes.files.items() if notes.note_of(home, path)}
        self._folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=self._folder, prefix=".fetched-", suffix=".tmp") as name:
            folder = Path(name)
            for part in {files[path].part for path in paths} & same.keys():
                os.link(same[part], folder / part)
            new = {files[path].part: path for path in paths if files[path].part not in same}
            here = notes.pieces_here(home) if new else {}
            fetch_files(self.objects(), manifest, new.values(), folder, here=here, transfers=_AT_ONCE // 2)
            for path, pieces in manifest.pieces_of(paths).items():
                target, aside = home / path, folder / "aside"
                target.parent.mkdir(parents=True, exist_ok=True)
                os.link(folder / files[path].part, aside)
                os.replace(aside, target)
                # Where both names were one file already, the other name stays.
                aside.unlink(missing_ok=True)
                notes.note(home, path, files[path].part, pieces)
        return sum(files[path].size for path in new.values())

    @property
    def _folder(self) -> Path:
        return self.layout.home / "brought"

    def _notes_file(self, key: str) -> Path:
        return self._folder / f"{key}.files.json"

    def _notes(self, key: str) -> PartNotes:
        return PartNotes.read(self._notes_file(key), url=self.url)

    def _touch(self, key: str) -> None:
        with suppress(FileNotFoundError):
            os.utime(self._notes_file(key))
