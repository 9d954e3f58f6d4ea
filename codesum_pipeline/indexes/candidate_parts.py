"""A version is written in parts; a part that is unchanged since the last version is shared with it.

The hash of what a part is made from is known before the part is written. Where
it is that of the last version's part, under the same settings and versions, the
part's files become hard links to that version's: nothing is computed, written or
flushed again. Their contents are compared with the last manifest first, so that
damage is not passed on.
"""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from msgspec import Struct, field
from pydantic import BaseModel, ConfigDict, ValidationError

from codesum_pipeline.indexes.version_folder import INDEX_SCHEMA_VERSION, Version, read_version
from codesum_pipeline.model.errors import BrokenIndex
from codesum_pipeline.model.hashing import hash_of, sha256_of_file
from codesum_pipeline.store.atomic import write_text_atomically
from codesum_pipeline.store.workspace import Workspace


class PartsMade(BaseModel):
    """The version that was written last, and the hash of what each of its parts was made from."""

    model_config = ConfigDict(frozen=True)

    settings: str
    digest: str
    parts: dict[str, str]

    @classmethod
    def standing(cls, ws: Workspace) -> Self | None:
        """The parts of the last build; None where there was none, or where its settings were others."""
        try:
            found = None if ws.force else cls.model_validate_json(_path(ws).read_bytes())
        except (OSError, ValidationError):
            return None
        return found if found is not None and found.settings == _settings(ws) else None


class Parts(Struct, frozen=True):
    """The parts of the version that is written to `folder`, and those of the last one.

    `made` is what each part was made from, `shared` the sha256 of each file
    that is the last version's.
    """

    folder: Path
    last: Version | None
    before: Mapping[str, str]
    made: dict[str, str] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, ws: Workspace, folder: Path) -> Self:
        """No part yet, and those of the last version where it still exists."""
        before = PartsMade.standing(ws)
        try:
            last = read_version(ws.layout.versions(ws.key) / before.digest) if before else None
        except (BrokenIndex, OSError):
            last = None
        return cls(folder, last, before.parts if before else {})

    def make(self, part: str, made_from: Sequence[str | None], files: Sequence[str], write: Callable[[], None]) -> None:
        """Share the files of a part, or write them, as where a hash of what it is made from is unknown."""
        if None in made_from:
            write()
            return
        self.made[part] = hash_of(made_from)
        if self.before.get(part) != self.made[part] or not self._share(files):
            write()

    def contents_of(self, files: Sequence[str]) -> dict[str, str]:
        """The sha256 without provenance in the last manifest, of those files that are shared and hold provenance."""
        known = self.last.manifest["files"] if self.last else {}
        return {
            name: known[name]["content_sha256"]
            for name in files
            if name in self.shared and "content_sha256" in known[name]
        }

    def keep(self, ws: Workspace, digest: str) -> None:
        """Note what the version was made from, once it has its name."""
        made = PartsMade(settings=_settings(ws), digest=digest, parts=self.made)
        write_text_atomically(_path(ws), made.model_dump_json())

    def _share(self, files: Sequence[str]) -> bool:
        if self.last is None or not all(_is_whole(self.last, name) for name in files):
            return False
        for name in files:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            link_or_copy(self.last.folder / name, path)
            self.shared[name] = self.last.manifest["files"][name]["sha256"]
        return True


def link_or_copy(theirs: Path, ours: Path) -> None:
    """Give a file a second name, or a durable copy where the file system has no more links for it."""
    try:
        os.link(theirs, ours)
    except OSError:
        shutil.copyfile(theirs, ours)
        with ours.open("rb") as file:
            os.fsync(file.fileno())


def _is_whole(version: Version, name: str) -> bool:
    said = version.manifest["files"].get(name)
    try:
        return said is not None and sha256_of_file(version.folder / name) == said["sha256"]
    except OSError:
        return False


def _settings(ws: Workspace) -> str:
    """A hash of all but the commit that decides how tables become files."""
    return hash_of([INDEX_SCHEMA_VERSION, ws.fingerprint("")])


def _path(ws: Workspace) -> Path:
    return ws.layout.memos(ws.key) / "index_candidate.parts.json"
