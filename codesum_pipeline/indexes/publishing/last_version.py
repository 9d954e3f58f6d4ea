"""The version that was written last: what of it is the same now is taken over, and not made again.

Of each part it is known what it was made from, and of some parts, of each document: so a file becomes the last
version's, or is put together from the rows of documents that would be made from the same again and the others' new
ones. A file is read and compared with the last manifest before anything of it is used: damage is not passed on.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.errors import BrokenIndex
from codesum_pipeline.foundation.data_model.hashing import hash_of, sha256_hex
from codesum_pipeline.foundation.store.atomic import read_json, write_bytes_atomically, write_json_atomically
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.file_formats.version_folder import INDEX_SCHEMA_VERSION, Version, read_version

Places = npt.NDArray[np.int64]


class PartHashes(Struct, frozen=True):
    """The version that was written last, the hash of what each of its parts was made from, and the sha256 of the file
    that says what its rows were made from."""

    settings: str
    digest: str
    parts: dict[str, str]
    rows: str = ""


class LastVersion(Struct, frozen=True):
    """A version, the hash of what each of its parts was made from, and in index order what each of its documents was
    made from: a column for each part that is made row by row, null where nothing was made of a document."""

    version: Version
    parts: Mapping[str, str]
    rows: pa.Table
    _whole: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, ws: Workspace) -> Self | None:
        """The last version that was written under the same settings and versions, if it is still there."""
        base = ws.last_build
        last = read_json(_parts_file(base), PartHashes) if base else None
        if base and last and last.settings == _settings_hash(base):
            with suppress(BrokenIndex, OSError):
                version = read_version(base.layout.versions(ws.key) / last.digest)
                return cls(version, last.parts, _read_rows(base, last.rows))
        return None

    def has(self, *names: str) -> bool:
        """Whether files are as they were written. Each is read once."""
        for name in names:
            if name not in self._whole:
                self._whole[name] = self.version.is_whole(name, read_content=True)
        return all(self._whole[name] for name in names)

    def file(self, name: str) -> Path:
        return self.version.folder / name


class RowOrigins(Struct, frozen=True):
    """What the rows of a version are made from, as they are made. `ids` and `levels` are those of its documents, in
    index order; `places` the row of each in the last version, -1 where it had none on this level."""

    ids: pa.Array
    levels: pa.Array
    places: Places
    last: LastVersion | None = None
    made: dict[str, pa.Array] = field(default_factory=dict)

    @classmethod
    def of(cls, ids: pa.Array, levels: pa.Array, last: LastVersion | None) -> Self:
        if last is None:
            return cls(ids, levels, np.full(len(ids), -1, dtype=np.int64))
        known = last.rows
        places = pc.index_in(ids, value_set=known.column("id").combine_chunks())
        is_same = pc.fill_null(pc.equal(known.column("level").take(places), levels), False)
        found = pc.fill_null(pc.if_else(is_same, places, -1), -1)
        return cls(ids, levels, found.to_numpy().astype(np.int64), last)

    def same_rows(self, part: str, hashes: pa.Array, files: Sequence[str], *, first: int = 0) -> Places:
        """The row of the last version that was made from the same, for each document from a first one on; -1 where
        there is none, or where the part's files are not whole any more."""
        known = self.places[first : first + len(hashes)]
        if self.last is None or part not in self.last.rows.column_names or not self.last.has(*files):
            return np.full(len(hashes), -1, dtype=np.int64)
        before = self.last.rows.column(part).take(pa.array(known, mask=known < 0))
        is_same = pc.fill_null(pc.equal(before, hashes), False).to_numpy()
        found: Places = np.where(is_same, known, -1)
        return found

    def keep(self, part: str, hashes: pa.Array | pa.ChunkedArray) -> None:
        """Keep for the next build what each document was made from."""
        self.made[part] = hashes

    def keep_last(self, part: str) -> None:
        """A part whose files are the last version's is made from what they were."""
        if self.last is not None and part in self.last.rows.column_names:
            self.made[part] = self.last.rows.column(part)


def keep_origins(ws: Workspace, digest: str, parts: dict[str, str], rows: RowOrigins) -> None:
    """Keep what a version was made from beside the memos of the steps, unless it is for one use."""
    if ws.tables.is_scratch:
        return
    table = pa.table({"id": rows.ids, "level": rows.levels, **rows.made})
    content = pa.BufferOutputStream()
    with pa.ipc.new_file(content, table.schema) as written:
        written.write_table(table)
    data = content.getvalue()
    write_bytes_atomically(_rows_file(ws), data)
    write_json_atomically(_parts_file(ws), PartHashes(_settings_hash(ws), digest, parts, sha256_hex(data)))


def _read_rows(ws: Workspace, sha256: str) -> pa.Table:
    """No rows where nothing is known of them."""
    with suppress(OSError):
        data = _rows_file(ws).read_bytes()
        if sha256_hex(data) == sha256:
            return pa.ipc.open_file(data).read_all().combine_chunks()
    return pa.table({"id": pa.array([], pa.string()), "level": pa.array([], pa.int8())})


def _settings_hash(ws: Workspace) -> str:
    """The hash of everything except the commit that decides how tables become files."""
    return hash_of([INDEX_SCHEMA_VERSION, ws.fingerprint("")])


def _parts_file(ws: Workspace) -> Path:
    return ws.layout.memos(ws.key) / "index_candidate.parts.json"


def _rows_file(ws: Workspace) -> Path:
    return ws.layout.memos(ws.key) / "index_candidate.rows.arrow"
