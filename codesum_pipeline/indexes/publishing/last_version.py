"""The version that was written last: what of it is the same now is taken over, and not made again.

Of each part it is known what it was made from, and of some parts, of each document: so a file becomes the last
version's, or is put together from the rows of documents that would be made from the same again and the others' new
ones. Parts of a table with the hash that they had are not read for it. A file is read and compared with the last
manifest before anything of it is used: damage is not passed on.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
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
Mask = npt.NDArray[np.bool_]


class PartHashes(Struct, frozen=True):
    """The version that was written last, the hash of what each of its parts was made from, the sha256 of the file that
    says what its rows were made from, and the hashes of the parts of the tables that it was made from."""

    settings: str
    digest: str
    parts: dict[str, str]
    rows: str = ""
    tables: dict[str, list[str]] = {}


class LastVersion(Struct, frozen=True):
    """A version, the hash of what each of its parts was made from, and in index order what each of its documents was
    made from: a column for each part that is made row by row, null where nothing was made of a document. `tables` has
    the hashes of the parts of tables that it was made from."""

    version: Version
    parts: Mapping[str, str]
    rows: pa.Table
    tables: Mapping[str, Sequence[str]]
    _whole: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, ws: Workspace) -> Self | None:
        """The last version that was written under the same settings and versions, if it is still there."""
        base = ws.last_build
        last = read_json(_parts_file(base), PartHashes) if base else None
        if base and last and last.settings == _settings_hash(base):
            with suppress(BrokenIndex, OSError):
                version = read_version(base.layout.versions(ws.key) / last.digest)
                return cls(version, last.parts, _read_rows(base, last.rows), last.tables)
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
    tables: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, ids: pa.Array, levels: pa.Array, last: LastVersion | None) -> Self:
        if last is None:
            return cls(ids, levels, np.full(len(ids), -1, dtype=np.int64))
        known = last.rows
        places = pc.index_in(ids, value_set=known.column("id").combine_chunks())
        is_same = pc.fill_null(pc.equal(known.column("level").take(places), levels), False)
        found = pc.fill_null(pc.if_else(is_same, places, -1), -1)
        return cls(ids, levels, found.to_numpy().astype(np.int64), last)

    def known_rows(self, table: str, parts: Sequence[tuple[str, int]]) -> Mask:
        """For each row of a table, given the hash and the number of rows of each of its parts, whether it is in a part
        that the last version was made from, too."""
        self.tables[table] = [part for part, _ in parts if part]
        before = frozenset(self.last.tables.get(table, ()) if self.last else ())
        return np.repeat([part in before for part, _ in parts], [rows for _, rows in parts]).astype(np.bool_)

    def last_hashes(
        self, part: str, is_wanted: Mask | np.bool_, files: Sequence[str], at: Places | None = None
    ) -> pa.Array:
        """What each document of the last version was made from; null where it had none or it is not wanted, and for all
        where the part's files are not whole any more."""
        rows = self.places if at is None else self.places[at]
        if self.last is None or part not in self.last.rows.column_names or not self.last.has(*files):
            return pa.nulls(len(rows), pa.uint64())
        return self.last.rows.column(part).take(pa.array(rows, mask=(rows < 0) | ~is_wanted)).combine_chunks()

    def same_rows(
        self, part: str, hashes: pa.Array | pa.ChunkedArray, files: Sequence[str], at: Places | None = None
    ) -> Places:
        """The row of the last version that was made from the same, for each document, or each of those `at` some
        places; -1 where there is none, or where the part's files are not whole any more."""
        before = self.last_hashes(part, np.True_, files, at)
        is_same = pc.fill_null(pc.equal(before.cast(hashes.type), hashes), False).to_numpy(zero_copy_only=False)
        found: Places = np.where(is_same, self.places if at is None else self.places[at], -1)
        return found

    def keep(self, part: str, hashes: pa.Array | pa.ChunkedArray) -> None:
        """Keep for the next build what each document was made from."""
        self.made[part] = hashes

    def keep_last(self, part: str) -> None:
        """A part whose files are the last version's is made from what they were."""
        if self.last is not None and part in self.last.rows.column_names:
            self.made[part] = self.last.rows.column(part)


def runs_of(same: Places) -> Iterator[tuple[bool, slice]]:
    """What follows one another, given the row of the last version of each, or -1 of what is new, as runs: whether these
    are new, and where they are among all that is new or in the last version."""
    is_new = same < 0
    rows = np.where(is_new, np.cumsum(is_new) - 1, same)
    cuts = np.flatnonzero((np.diff(rows) != 1) | np.diff(is_new)) + 1
    for start, end in pairwise([0, *cuts.tolist(), len(rows)] if len(rows) else []):
        yield bool(is_new[start]), slice(int(rows[start]), int(rows[end - 1]) + 1)


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
    write_json_atomically(_parts_file(ws), PartHashes(_settings_hash(ws), digest, parts, sha256_hex(data), rows.tables))


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
