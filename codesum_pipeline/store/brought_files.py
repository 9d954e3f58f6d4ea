"""Which files of a bucket's repositories are there in a local copy, and how those come that are not.

A note for each repository says which part each file holds. Files of a version that are those of the version before
are linked, not fetched.
"""

import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.model.errors import BrokenStore, CodesumError
from codesum_pipeline.model.hashing import sha256_hex, sha256_of_file
from codesum_pipeline.store.atomic import write_text_atomically
from codesum_pipeline.store.heads import StateFile, StateManifest, part_name, read_manifest
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.objects import Objects

# The file of a published version that is written last.
MANIFEST_NAME = "manifest.json"
_AT_ONCE = 8
# Larger parts go to a file as they come.
_HELD_BYTES = 32 << 20

# The part that each file holds, and its size, by the file's path below the home.
Parts = dict[str, tuple[str, int]]


class PartGone(CodesumError):
    """A part that a state names is not in the bucket."""


class FileSelection(Struct, frozen=True):
    """Some files of a repository: its published version, this version's manifest, a table, or all of its state."""

    what: str
    table: str = ""

    def paths(self, layout: HomeLayout, key: str, digest: str | None, there: Iterable[str]) -> list[str]:
        """Those that are meant of the files that are there; what is fetched last comes last."""
        versions = f"{layout.versions(key).relative_to(layout.home).as_posix()}/"
        version = f"{versions}{digest}/"
        manifest = f"{version}{MANIFEST_NAME}"
        if self.what == "manifest":
            return [path for path in there if path == manifest]
        if self.what == "table":
            return [path for path in there if path == f"warehouse/{self.table}/repo={key}/part-0.parquet"]
        is_all = self.what == "state"
        found = (path for path in there if path.startswith(version) or (is_all and not path.startswith(versions)))
        return sorted(found, key=lambda path: (path == manifest, path))


INDEX, INDEX_MANIFEST, STATE = FileSelection("index"), FileSelection("manifest"), FileSelection("state")


class _BroughtState(Struct, frozen=True):
    """What this process brought, or found, of a state; `a_file` of it tells whether it is there still."""

    state: str
    a_file: Path | None


class BroughtFiles:
    """The files below the home of `layout`. `fetch` and `delete` are for whoever holds the `lock` of the repository."""

    def __init__(self, layout: HomeLayout, objects: Callable[[], Objects]) -> None:
        self._layout = layout
        self._objects = objects
        self._known: dict[tuple[str, FileSelection], _BroughtState] = {}

    def lock(self, key: str) -> Path:
        """The file that whoever changes, or maps, files of a repository locks."""
        return self._folder / f"{key}.lock"

    def has(self, key: str, state: str, wanted: FileSelection) -> bool:
        """Whether this process knows that all of these files are there; they count as used now."""
        known = self._known.get((key, wanted))
        if known is None or known.state != state or (known.a_file and not known.a_file.exists()):
            return False
        if known.a_file:
            self._touch(key)
        return True

    def fetch(self, key: str, state: str, digest: str | None, wanted: FileSelection) -> int:
        """Have these files there; how many bytes came. Raises `PartGone`, `BrokenStore` or `BucketUnavailable`."""
        manifest, there = self._manifest(key, state), self._note(key)
        files = manifest.files
        self._date_link(key, manifest)
        paths = wanted.paths(self._layout, key, digest, files)
        a_file = self._layout.home / paths[-1] if paths else None
        missing = [path for path in paths if not self._is_there(path, files[path], there)]
        if not missing:
            self._touch(key)
            self._known[key, wanted] = _BroughtState(state, a_file)
            return 0
        by_part = {part: path for path, (part, _) in there.items()}
        linked = {path for path in missing if self._link(path, by_part.get(files[path].part))}
        to_fetch = [path for path in missing if path not in linked]
        # The last is the manifest of a version, which tells that the others are there.
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda path: self._fetch(path, files[path]), to_fetch[:-1]))
        for path in to_fetch[-1:]:
            self._fetch(path, files[path])
        there = self._without_old(key, digest, there, files)
        there.update((path, (files[path].part, files[path].size)) for path in paths)
        self._write_note(key, there)
        self._known[key, wanted] = _BroughtState(state, a_file)
        return sum(files[path].size for path in to_fetch)

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

    def _date_link(self, key: str, manifest: StateManifest) -> None:
        """The name of an index is as old as where it was built: people are told when it was published."""
        name = self._layout.published(key)
        link = manifest.links.get(name.relative_to(self._layout.home).as_posix())
        if link and name.is_symlink() and name.lstat().st_mtime_ns != link.modified_ns:
            os.utime(name, ns=(link.modified_ns, link.modified_ns), follow_symlinks=False)

    def _without_old(self, key: str, digest: str | None, there: Parts, files: Mapping[str, StateFile]) -> Parts:
        """What is there of the present state; versions that are not published any more go."""
        versions = self._layout.versions(key)
        for folder in versions.iterdir() if versions.is_dir() else ():
            if folder.name != digest:
                shutil.rmtree(folder, ignore_errors=True)
        return {
            path: part
            for path, part in there.items()
            if path in files and files[path].part == part[0] and (self._layout.home / path).exists()
        }

    def _is_there(self, path: str, file: StateFile, there: Parts) -> bool:
        """Whether a file is as it is to be; what a version holds never changes, also where no note was written."""
        is_known = there.get(path, ("",))[0] == file.part
        try:
            return is_known and (self._layout.home / path).stat().st_size == file.size
        except FileNotFoundError:
            return False

    def _link(self, path: str, same: str | None) -> bool:
        """Give a file that is there another name; False where it is not."""
        if same is None:
            return False
        target = self._layout.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = self._aside()
        try:
            os.link(self._layout.home / same, aside)
        except OSError:
            return False
        os.replace(aside, target)
        # Where both names were one file already, the other name stays.
        aside.unlink(missing_ok=True)
        return True

    def _fetch(self, path: str, file: StateFile) -> None:
        aside, target = self._aside(), self._layout.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            digest = self._download(file, aside)
            if digest != file.part:
                raise BrokenStore(
                    f"{self._objects().url}: {part_name(file.part)} has another content than its name says"
                )
            os.utime(aside, ns=(file.modified_ns, file.modified_ns))
            os.replace(aside, target)
        finally:
            aside.unlink(missing_ok=True)

    def _download(self, file: StateFile, aside: Path) -> str:
        """Returns the sha256 of what came."""
        name, objects = part_name(file.part), self._objects()
        if file.size > _HELD_BYTES:
            if not objects.download(name, aside):
                raise PartGone(f"{objects.url}: {name} is not there, which a state names")
            return sha256_of_file(aside)
        found = objects.get(name)
        if found is None:
            raise PartGone(f"{objects.url}: {name} is not there, which a state names")
        aside.write_bytes(found.data)
        return sha256_hex(found.data)

    def _manifest(self, key: str, state: str) -> StateManifest:
        """As it was fetched last, if that is the one."""
        file = self._manifest_file(key)
        try:
            data = file.read_bytes()
            if sha256_hex(data) == state:
                return StateManifest.model_validate_json(data)
        except FileNotFoundError:
            pass
        manifest = read_manifest(self._objects(), state)
        write_text_atomically(file, manifest.encoded().decode())
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
            said = json.loads(self._note_file(key).read_text(encoding="utf-8"))
            return {path: (part, size) for path, (part, size) in said.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            return {}

    def _write_note(self, key: str, there: Parts) -> None:
        write_text_atomically(self._note_file(key), json.dumps(dict(sorted(there.items()))))

    def _touch(self, key: str) -> None:
        try:
            os.utime(self._note_file(key))
        except FileNotFoundError:
            return

    def _aside(self) -> Path:
        return self._folder / f".{os.getpid()}-{uuid.uuid4().hex}.tmp"


def _bytes(parts: Parts) -> int:
    """A part that several files share is there once."""
    return sum(dict(parts.values()).values())
