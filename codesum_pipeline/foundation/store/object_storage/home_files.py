"""The files of a home in a bucket that concern all repositories: each is an object, and has a local copy.

`repos.yaml`, `codesum.toml`, `intents.yaml` and templates of prompts are kept as `home/<path>` and read as local files.
A change is made in the local copy and then sent on the condition that the object is the one that was changed: whoever
loses reads the newer text and makes the change again, so two who add a repository at one time have added two.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TypeVar

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import BrokenStore, WriteConflict
from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.foundation.store.atomic import read_json, write_bytes_atomically, write_json_atomically
from codesum_pipeline.foundation.store.layout import LocalFiles
from codesum_pipeline.foundation.store.locks import lock_exclusively
from codesum_pipeline.foundation.store.object_storage.objects import Objects, open_objects

T = TypeVar("T")
_PREFIX = "home/"
_PROMPTS = "prompts"
_SUFFIXES = frozenset({".yaml", ".yml", ".toml", ".json", ".jsonl"})
# A person waits: that a bucket cannot be reached is said soon.
_RETRY_S = 10.0
# After so many lost races, somebody else writes without end.
_MOST_TRIES = 50


class _CopiedObject(Struct, frozen=True, array_like=True):
    """An object as it was copied: its tag, and the sha256 of what it held."""

    etag: str
    sha256: str


class HomeFiles(LocalFiles):
    """The files of the home at `url`, copied to `folder`. For many threads and processes.

    A worker that builds has everything else of its repositories here, too. Remembers its connection to the bucket, and
    when this process looked there last.
    """

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self._objects: Objects | None = None
        self._looked_at: float | None = None
        self._lock = threading.RLock()

    @property
    def objects(self) -> Objects:
        """The bucket, connected to when it is first needed."""
        with self._lock:
            if self._objects is None:
                self._objects = open_objects(self.url, retry_s=_RETRY_S)
            return self._objects

    @property
    def is_copied(self) -> bool:
        """Whether the bucket was ever looked at from here."""
        return self._note.exists()

    def refresh(self, *, max_age_s: float = 0.0) -> None:
        """Bring the copies up to date, unless this process did so `max_age_s` ago; raises `BucketUnavailable`."""
        with self._lock, lock_exclusively(self.folder / ".bucket.lock"):
            if max_age_s and self._looked_at is not None and time.monotonic() - self._looked_at < max_age_s:
                return
            known, present = self._known(), {}
            for info in self.objects.infos(_PREFIX):
                name = info.name.removeprefix(_PREFIX)
                if _is_home_file(name):
                    present[name] = self._copied(name, info.etag, known.get(name))
            for name in known.keys() - present.keys():
                (self.folder / name).unlink(missing_ok=True)
            if present != known or not self.is_copied:
                write_json_atomically(self._note, present)
            self._looked_at = time.monotonic()

    def send(self, path: Path) -> None:
        """Write a changed copy, or those below a folder, to the bucket; raises `WriteConflict` if it changed there."""
        with self._lock, lock_exclusively(self.folder / ".bucket.lock"):
            known = self._known()
            below = PurePosixPath(path.relative_to(self.folder))
            local = [each for each in (path.rglob("*") if path.is_dir() else [path]) if each.is_file()]
            names = {each.relative_to(self.folder).as_posix(): each for each in local}
            for name in sorted(name for name in names if _is_home_file(name)):
                known[name] = self._sent(name, names[name].read_bytes(), known.get(name))
                write_json_atomically(self._note, known)
            gone = [name for name in known if name not in names and PurePosixPath(name).is_relative_to(below)]
            self.objects.delete(_PREFIX + name for name in gone)
            write_json_atomically(self._note, {name: copied for name, copied in known.items() if name not in gone})

    def edit(self, path: Path, edit: Callable[[], T]) -> T:
        """See `LocalFiles.edit`; a file that is not of the home is edited as it is."""
        if not path.is_relative_to(self.folder):
            return edit()
        for _ in range(_MOST_TRIES):
            self.refresh()
            result = edit()
            try:
                self.send(path)
            except WriteConflict:
                continue
            except BaseException:
                # The next look at the bucket copies what was edited anew: until then it is not there.
                for each in [each for each in (path, *path.rglob("*")) if each.is_file()]:
                    each.unlink()
                raise
            return result
        raise BrokenStore(f"{self.url}: {path.name} was changed by others {_MOST_TRIES} times in a row: try again")

    def _copied(self, name: str, etag: str, known: _CopiedObject | None) -> _CopiedObject:
        path = self.folder / name
        if known and known.etag == etag and path.exists():
            return known
        found = self.objects.get(_PREFIX + name)
        if found is None:
            raise BrokenStore(f"{self.url}: {_PREFIX}{name} was deleted while it was read: try again")
        write_bytes_atomically(path, found.data)
        return _CopiedObject(found.etag, sha256_hex(found.data))

    def _sent(self, name: str, data: bytes, known: _CopiedObject | None) -> _CopiedObject:
        digest = sha256_hex(data)
        if known is None:
            return _CopiedObject(self.objects.create(_PREFIX + name, data), digest)
        if known.sha256 == digest:
            return known
        return _CopiedObject(self.objects.swap(_PREFIX + name, data, etag=known.etag), digest)

    @property
    def _note(self) -> Path:
        return self.folder / ".bucket.json"

    def _known(self) -> dict[str, _CopiedObject]:
        return read_json(self._note, dict[str, _CopiedObject]) or {}


def _is_home_file(name: str) -> bool:
    """Whether an object is a file of a home, and not a path out of it, or over what a worker keeps there."""
    path = PurePosixPath(name)
    if any(part.startswith(".") for part in path.parts) or path.is_absolute():
        return False
    return path.parts[0] == _PROMPTS if len(path.parts) > 1 else path.suffix in _SUFFIXES
