"""Which files of a bucket's repositories are in the local copy, and how missing ones are fetched.

The notes of each repository say which part each file holds. Files of a version that the version before has too are
linked, not fetched.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from codesum_pipeline.store.atomic import set_times, write_json_atomically
from codesum_pipeline.store.heads import StateFile, fetch_part, read_manifest
from codesum_pipeline.store.layout import INDEX, INDEX_MANIFEST, STATE, HomeLayout
from codesum_pipeline.store.objects import Objects
from codesum_pipeline.store.repository_files import PartNotes

# The file of a published version that is written last.
MANIFEST_NAME = "manifest.json"
_AT_ONCE = 8


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


class BroughtFiles:
    """The files below the home of `layout`. `fetch` and `delete` are for whoever holds the `lock` of the repository."""

    def __init__(self, layout: HomeLayout, url: str, objects: Callable[[], Objects]) -> None:
        self._layout = layout
        self._url = url
        self._objects = objects
        # The state that this process brought, or found, and a file of it, which tells whether it is there still.
        self._known: dict[tuple[str, str], tuple[str, Path | None]] = {}

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
        notes, home = self._notes(key), self._layout.home
        is_new = notes.based_on != state
        if is_new:
            notes.based_on, notes.manifest = state, read_manifest(self._objects(), state)
        files = notes.manifest.files
        # The name of an index is as old as where it was built: people are told when it was published.
        name = self._layout.published(key)
        link = notes.manifest.links.get(name.relative_to(home).as_posix())
        if link and name.is_symlink() and name.lstat().st_mtime_ns != link.modified_ns:
            set_times(name, link.modified_ns)
        paths = _selected(wanted, self._layout, key, digest, files)
        missing = [path for path in paths if notes.part_of(home, path) != files[path].part]
        by_part = {noted.part: path for path, noted in notes.files.items()}

        def bring(path: str) -> int:
            return self._bring(path, files[path], by_part.get(files[path].part))

        fetched = 0
        if missing:
            # The last is the manifest of a version, which tells that the others are there.
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                fetched = sum(pool.map(bring, missing[:-1]))
            fetched += bring(missing[-1])
            # Versions that are not published any more go, and what is not of the present state is forgotten.
            versions = self._layout.versions(key)
            for folder in versions.iterdir() if versions.is_dir() else ():
                if folder.name != digest:
                    shutil.rmtree(folder, ignore_errors=True)
            notes.keep_only(path for path, file in files.items() if notes.part_of(home, path) == file.part)
            for path in paths:
                notes.note(home, path, files[path].part)
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
                found[key] = (note.stat().st_mtime, self._notes(key).bytes)
            except FileNotFoundError:
                continue
        return found

    def delete(self, key: str, *, tables: bool) -> int:
        """Delete the files of a repository's versions, and with `tables` all others; how many bytes went."""
        notes, versions = self._notes(key), self._layout.versions(key)
        prefix = f"{versions.relative_to(self._layout.home).as_posix()}/"
        shutil.rmtree(versions, ignore_errors=True)
        before, there = notes.bytes, notes.files
        notes.keep_only([] if tables else [path for path in there if not path.startswith(prefix)])
        for path in there.keys() - notes.files.keys():
            (self._layout.home / path).unlink(missing_ok=True)
        if notes.files:
            write_json_atomically(self._notes_file(key), notes)
        else:
            self._notes_file(key).unlink(missing_ok=True)
        return before - notes.bytes

    def _bring(self, path: str, file: StateFile, same: str | None) -> int:
        """Have a file there, as another name of the `same` one if that is there; how many bytes came."""
        aside, target = self._folder / f".{os.getpid()}-{uuid.uuid4().hex}.tmp", self._layout.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with suppress(OSError):
                if same:
                    os.link(self._layout.home / same, aside)
            is_linked = aside.exists()
            if not is_linked:
                fetch_part(self._objects(), file, aside)
            os.replace(aside, target)
        finally:
            # Where both names were one file already, the other name stays.
            aside.unlink(missing_ok=True)
        return 0 if is_linked else file.size

    @property
    def _folder(self) -> Path:
        return self._layout.home / "brought"

    def _notes_file(self, key: str) -> Path:
        return self._folder / f"{key}.files.json"

    def _notes(self, key: str) -> PartNotes:
        return PartNotes.read(self._notes_file(key), url=self._url)

    def _touch(self, key: str) -> None:
        with suppress(FileNotFoundError):
            os.utime(self._notes_file(key))
