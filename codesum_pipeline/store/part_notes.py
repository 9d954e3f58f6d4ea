"""What this worker knows of its files without reading them: by which part of the bucket each is kept.

A file counts as unchanged while its size, time and inode are those of the note.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ValidationError

from codesum_pipeline.model.hashing import sha256_hex, sha256_of_file
from codesum_pipeline.store.atomic import write_text_atomically
from codesum_pipeline.store.file_state import FileState
from codesum_pipeline.store.heads import StateManifest

_MEMOS = ".steps"


class PartNote(BaseModel):
    """One file as it was, and the part with its content."""

    stat: FileState
    part: str


class PartNotes(BaseModel):
    """The files of one repository in this worker's folder, and the state of the bucket that they were made from."""

    url: str = ""
    based_on: str | None = None
    manifest: StateManifest = StateManifest()
    files: dict[str, PartNote] = {}

    @classmethod
    def read(cls, path: Path, *, url: str) -> "PartNotes":
        """The notes of a bucket; none where there are none that can be read."""
        try:
            found = cls.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            return cls(url=url)
        return found if found.url == url else cls(url=url)

    def write(self, path: Path) -> None:
        """Replace the notes."""
        write_text_atomically(path, self.model_dump_json())

    def part_of(self, home: Path, path: str) -> str | None:
        """The part with a file's content, where that is known without reading it."""
        noted = self.files.get(path)
        return noted.part if noted and noted.stat == FileState.of(home / path) else None

    def note(self, home: Path, path: str, part: str) -> None:
        """A file holds the content of this part now."""
        found = FileState.of(home / path)
        if found:
            self.files[path] = PartNote(stat=found, part=part)

    def keep_only(self, paths: Iterable[str]) -> None:
        """Forget files that are gone."""
        wanted = set(paths)
        self.files = {path: noted for path, noted in self.files.items() if path in wanted}


def content_to_keep(path: Path) -> bytes | None:
    """What is kept of a file in other words than its own: memos name files by inodes, which no other worker has.

    None: the file as it is.
    """
    if path.parent.suffix != _MEMOS:
        return None
    try:
        memo = json.loads(path.read_bytes())
        files = memo["files"]
        memo["files"] = {name: state and [*state[:2], 0] for name, state in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return json.dumps(memo, separators=(",", ":")).encode() if files else None


def part_with(path: Path) -> str:
    """The name of the part that a file is kept as."""
    data = content_to_keep(path)
    return sha256_of_file(path) if data is None else sha256_hex(data)


def set_times(path: Path, modified_ns: int) -> None:
    """Give a file or link the time at which it was first written."""
    os.utime(path, ns=(modified_ns, modified_ns), follow_symlinks=False)
