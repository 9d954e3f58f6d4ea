"""The files that make up the state of one repository: which of them a bucket keeps, and as which of its parts.

Mirrors and overlays are caches of each worker, and what is hidden is unfinished: both stay out. Of the file of
in-flight state all but the lease is kept, as JSON: the lease is one of this worker's processes among each other.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec import Struct

from codesum_pipeline.foundation.store.atomic import FileState, read_json, write_bytes_atomically
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.object_storage.pieces import FilePiece, from_bytes
from codesum_pipeline.foundation.store.object_storage.state_files import PieceSource
from codesum_pipeline.foundation.store.object_storage.state_manifest import StateManifest
from codesum_pipeline.foundation.store.schemas import TABLES


def files_of(layout: HomeLayout, key: str) -> Iterator[Path]:
    """Every file of the repository that is kept, but the ledger's, which `dump_ledger` writes."""
    for table in TABLES:
        yield from _below(layout.warehouse / table / f"repo={key}")
    for folder in (layout.memos(key), layout.versions(key), layout.graph_index(key), layout.compared(key)):
        yield from _below(folder)
    for file in (layout.hold(key), layout.outages(key), layout.finished_vectors(key), layout.kept_ledger(key)):
        if file.is_file():
            yield file


def links_of(layout: HomeLayout, key: str) -> list[Path]:
    """The name that readers resolve, where something is published."""
    return [layout.published(key)] if layout.published(key).is_symlink() else []


def _below(folder: Path) -> Iterator[Path]:
    """The files in a folder at any depth, but what is hidden."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _below(path)
        elif path.is_file():
            yield path


def dump_ledger(state: Path, to: Path) -> None:
    """Write what a file of in-flight state holds besides its lease; no file where it holds nothing."""
    tables: dict[str, dict[str, list[Any]]] = {}
    if state.exists():
        with closing(sqlite3.connect(state)) as connection:
            made_by = "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type DESC, name"
            for name in _names(connection):
                rows = [[*row] for row in connection.execute(f'SELECT * FROM "{name}" ORDER BY 1')]
                tables[name] = {"made by": [sql for (sql,) in connection.execute(made_by, (name,))], "rows": rows}
    if not any(found["rows"] for found in tables.values()):
        to.unlink(missing_ok=True)
        return
    data = json.dumps(tables, sort_keys=True).encode()
    if not to.exists() or to.read_bytes() != data:
        write_bytes_atomically(to, data)


def restore_ledger(state: Path, dumped: Path) -> None:
    """The inverse of `dump_ledger`; the lease stays."""
    tables = json.loads(dumped.read_bytes()) if dumped.exists() else {}
    if not tables and not state.exists():
        return
    with closing(sqlite3.connect(state, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for name in {*tables, *_names(connection)}:
            connection.execute(f'DROP TABLE IF EXISTS "{name}"')
        for name, found in tables.items():
            for statement in found["made by"]:
                connection.execute(statement)
            marks = ", ".join("?" * len(found["rows"][0])) if found["rows"] else ""
            connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', found["rows"])
        connection.execute("COMMIT")


def _names(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'lease' "
        "ORDER BY name"
    )
    return [name for (name,) in found]


class PartNote(Struct, frozen=True):
    """One file as it was, the sha256 of its content, and its pieces where they are known."""

    stat: FileState
    part: str
    pieces: bytes = b""


class PartNotes(Struct):
    """The files of one repository in a local copy of a bucket, and the state of the bucket that they were made from.

    A file counts as unchanged while its size, time and inode are those of the note.
    """

    url: str
    based_on: str | None = None
    manifest: StateManifest = StateManifest()
    files: dict[str, PartNote] = {}

    @classmethod
    def read(cls, path: Path, *, url: str) -> "PartNotes":
        """The notes of a bucket; none if there are none that can be read."""
        found = read_json(path, cls)
        return found if found and found.url == url else cls(url)

    def part_of(self, home: Path, path: str) -> str | None:
        """The sha256 of a file, where that is known without reading it."""
        noted = self.note_of(home, path)
        return noted.part if noted else None

    def note_of(self, home: Path, path: str) -> PartNote | None:
        """What was noted of a file that is still as it was."""
        noted = self.files.get(path)
        return noted if noted and noted.stat == FileState.of(home / path) else None

    def is_whole(self, home: Path) -> bool:
        """Whether all files and links of the state are there, changed or not."""
        files, links = self.manifest.files, self.manifest.links
        return all((home / path).is_file() for path in files) and all((home / path).is_symlink() for path in links)

    def pieces_here(self, home: Path) -> dict[FilePiece, PieceSource]:
        """The pieces of all files that are still as they were, and where they are."""
        found: dict[FilePiece, PieceSource] = {}
        for path in self.files:
            noted, start = self.note_of(home, path), 0
            for piece in from_bytes(noted.pieces) if noted else ():
                found.setdefault(piece, PieceSource(home / path, start))
                start += piece.size
        return found

    @property
    def size(self) -> int:
        """How many bytes the files have; a part that several files share is there once."""
        return sum({noted.part: noted.stat.size for noted in self.files.values()}.values())

    def note(self, home: Path, path: str, part: str, pieces: bytes) -> PartNote:
        """A file, which is there, holds this content now."""
        found = FileState.of(home / path)
        if found is None:
            raise FileNotFoundError(home / path)
        self.files[path] = PartNote(found, part, pieces)
        return self.files[path]

    def keep_only(self, paths: Iterable[str]) -> None:
        """Forget files that are gone."""
        wanted = set(paths)
        self.files = {path: noted for path, noted in self.files.items() if path in wanted}
