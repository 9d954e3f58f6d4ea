"""Which files of a bucket's repositories are there in a local copy, and how those come that are not.

A note for each repository says which part each file holds. Files of a version that are those of the version before
are linked, not fetched.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from msgspec import MsgspecError, json

from codesum_pipeline.model.hashing import sha256_hex
from codesum_pipeline.store.atomic import set_times, write_bytes_atomically
from codesum_pipeline.store.heads import StateFile, StateManifest, fetch_part, read_manifest
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.objects import Objects

# The file of a published version that is written last.
MANIFEST_NAME = "manifest.json"
_AT_ONCE = 8

# The part that each file holds, and its size, by the file's path below the home.
Parts = dict[str, tuple[str, int]]


# Some files of a repository: its published version, this version's manifest, all of its state, else those of a table.
INDEX, INDEX_MANIFEST, STATE = "index", "manifest of the index", "state"


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

    def __init__(self, layout: HomeLayout, objects: Callable[[], Objects]) -> None:
        self._layout = layout
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
        manifest, there = self._manifest(key, state), self._note(key)
        files = manifest.files
        # The name of an index is as old as where it was built: people are told when it was published.
        name = self._layout.published(key)
        link = manifest.links.get(name.relative_to(self._layout.home).as_posix())
        if link and name.is_symlink() and name.lstat().st_mtime_ns != link.modified_ns:
            set_times(name, link.modified_ns)
        paths = _selected(wanted, self._layout, key, digest, files)
        missing = []
        for path in paths:
            local, file = self._layout.home / path, files[path]
            is_known = there.get(path, ("",))[0] == file.part
            if not (is_known and local.exists() and local.stat().st_size == file.size):
                missing.append(path)
        by_part = {part: path for path, (part, _) in there.items()}

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
            there = {
                path: part
                for path, part in there.items()
                if path in files and files[path].part == part[0] and (self._layout.home / path).exists()
            }
            there.update((path, (files[path].part, files[path].size)) for path in paths)
            self._write_note(key, there)
        self._touch(key)
        self._known[key, wanted] = state, self._layout.home / paths[-1] if paths else None
        return fetched

    def sizes(self) -> dict[str, tuple[float, int]]:
        """When files of each repository were used last, and how many bytes they have."""
        found = {}
        for note in self._folder.glob("*.files.json"):
            key = note.name.removesuffix(".files.json")
            try:
                found[key] = (note.stat().st_mtime, _bytes(self._note(key)))
            except FileNotFoundError:
                continue
        return found

    def delete(self, key: str, *, tables: bool) -> int:
        """Delete the files of a repository's versions, and with `tables` all others; how many bytes went."""
        before, versions = self._note(key), self._layout.versions(key)
        prefix = f"{versions.relative_to(self._layout.home).as_posix()}/"
        shutil.rmtree(versions, ignore_errors=True)
        kept = {path: part for path, part in before.items() if not tables and not path.startswith(prefix)}
        for path in before.keys() - kept.keys():
            (self._layout.home / path).unlink(missing_ok=True)
        if kept:
            self._write_note(key, kept)
        else:
            self._note_file(key).unlink(missing_ok=True)
            self._manifest_file(key).unlink(missing_ok=True)
        return _bytes(before) - _bytes(kept)

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

    def _manifest(self, key: str, state: str) -> StateManifest:
        """As it was fetched last, if that is the one."""
        file = self._manifest_file(key)
        if file.exists() and sha256_hex(data := file.read_bytes()) == state:
            return json.decode(data, type=StateManifest)
        manifest = read_manifest(self._objects(), state)
        write_bytes_atomically(file, manifest.encoded())
        return manifest

    @property
    def _folder(self) -> Path:
        return self._layout.home / "brought"

    def _note_file(self, key: str) -> Path:
        return self._folder / f"{key}.files.json"

    def _manifest_file(self, key: str) -> Path:
        return self._folder / f"{key}.state.json"

    def _note(self, key: str) -> Parts:
        try:
            return json.decode(self._note_file(key).read_bytes(), type=Parts)
        except (OSError, MsgspecError):
            return {}

    def _write_note(self, key: str, there: Parts) -> None:
        write_bytes_atomically(self._note_file(key), json.encode(there, order="sorted"))

    def _touch(self, key: str) -> None:
        with suppress(FileNotFoundError):
            os.utime(self._note_file(key))


def _bytes(parts: Parts) -> int:
    """A part that several files share is there once."""
    return sum(dict(parts.values()).values())
