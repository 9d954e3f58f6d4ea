"""What an overlay takes over from indexes that have some of it, instead of making it anew.

Of the overlays that are kept, the one that has most of its files: the last one of the same tree, or one of another
tree with files in common. Of its other files, which were edited, the base has most texts, vectors and words. Each row
is taken over by the hash of what it was made from, so that by the law the same comes of it.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc

from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.ids import SEPARATOR
from codesum_pipeline.overlays.kept import kept_overlays
from codesum_pipeline.parsing.symbols import facts_note
from codesum_pipeline.source.folders import FolderScan
from codesum_pipeline.store.memory_tables import MemoryTables
from codesum_pipeline.store.schemas import SCHEMA_VERSION, TABLES, texts_table
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.store.workspace import Workspace

# Beside the index of an overlay: the blob of each of its files, and the tables that another may begin with.
_FILES = "files.json"
_TABLES = "tables"
# Of files that are the same.
_PARSED = ("symbols", "compiler_files", "file_facts")
# What edited files have in common with what they were.
_MADE = (*(texts_table(level) for level in (Level.FUNCTION, Level.CLASS, Level.FILE)), "vectors", "terms")
_WRITING = ipc.IpcWriteOptions(compression="zstd")
# To make a document takes as long as to read the rows of so many.
_READ_WHILE_ONE_IS_MADE = 100


@dataclass(frozen=True, slots=True)
class _OverlayCopy:
    """An overlay, and how many of the files that are asked for it has as they are."""

    folder: Path
    blobs: Mapping[str, str]
    shared: int


def carried_tables(ws: Workspace, scan: FolderScan, overlays: Path) -> MemoryTables:
    """The tables that an overlay of these files begins with; `overlays` is where those of the repository are kept."""
    wanted = _blobs(scan)
    nearest = max(_having_some(wanted, overlays), key=lambda kept: (kept.shared, kept.folder.name), default=None)
    tables = MemoryTables(overlays)
    kept = _read_all(nearest.folder) if nearest else {}
    known: Collection[str] = nearest.blobs if nearest and kept else ()
    edited = pa.array(sorted(wanted.keys() - known), pa.string())
    for name in (*_PARSED, *_MADE):
        parts = [kept[name]] if kept else []
        parts += [*_rows_of(ws.tables, name, ws.key, edited)] if name in _MADE and len(edited) else []
        if parts:
            # What `file_facts` says holds of the tables that stand beside it.
            note = facts_note("symbols", "compiler_files") if name == "file_facts" else ""
            tables.write(name, ws.key, pa.concat_tables(parts), note=note)
    return tables


def keep_tables(tables: MemoryTables, scan: FolderScan, key: str, folder: Path) -> None:
    """Write into the folder of an overlay what the next one may take over."""
    (folder / _TABLES).mkdir()
    for name in (*_PARSED, *_MADE):
        rows = tables.read(name, key)
        with ipc.new_file(str(_path(folder, name)), rows.schema, options=_WRITING) as file:
            file.write_table(rows)
    (folder / _FILES).write_text(json.dumps(_blobs(scan)), encoding="utf-8")


def _blobs(scan: FolderScan) -> dict[str, str]:
    return {path.decode(): file.blob for path, file in scan.files.items()}


def _having_some(wanted: Mapping[str, str], overlays: Path) -> Iterator[_OverlayCopy]:
    for folder in kept_overlays(overlays):
        try:
            blobs = json.loads((folder / _FILES).read_bytes())
        except (OSError, ValueError):
            # One with its base's tables behind it keeps none, and one may be dropped now.
            continue
        if shared := len(wanted.items() & blobs.items()):
            yield _OverlayCopy(folder, blobs, shared)


def _read_all(folder: Path) -> Mapping[str, pa.Table]:
    """The tables of an overlay; none where one of them is damaged, of another version or dropped now: some say what
    stands in others."""
    found = {}
    for name in (*_PARSED, *_MADE):
        try:
            with pa.memory_map(str(_path(folder, name))) as file:
                found[name] = ipc.open_file(file).read_all()
        except (OSError, pa.ArrowInvalid):
            return {}
        if found[name].schema != TABLES[name].schema:
            return {}
    return found


def _rows_of(tables: TableStore, name: str, key: str, paths: pa.Array) -> Iterator[pa.Table]:
    """A table's rows of some files, of groups of rows in which they are not few."""
    first, sought = 0, []
    for ids in tables.read_parts(name, key, columns=["id"]):
        in_file = pc.list_element(pc.split_pattern(ids.column("id"), SEPARATOR, max_splits=1), 0)
        rows = pc.indices_nonzero(pc.is_in(in_file, value_set=paths)).to_numpy().astype("int64")
        if len(rows) * _READ_WHILE_ONE_IS_MADE > len(ids):
            sought.extend((rows + first).tolist())
        first += len(ids)
    if sought:
        yield tables.read_at(name, key, pa.array(sought).to_numpy(), columns=TABLES[name].schema.names)


def _path(folder: Path, name: str) -> Path:
    return folder / _TABLES / f"{name}-{SCHEMA_VERSION}.arrow"
