"""The documents as lines of JSON, and where each line starts.

Of a document that is in the last version with the same fields and provenance, the line is copied from there.
"""

import hashlib
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.indexes.file_formats import version_folder as paths
from codesum_pipeline.indexes.file_formats.arrow_texts import OF_HISTORY, DocumentLines, lines_of, stamps_of
from codesum_pipeline.indexes.file_formats.stored_zip import map_npy, write_npy
from codesum_pipeline.indexes.publishing.candidate_tables import CandidateTables, FilePart, Numbers
from codesum_pipeline.indexes.publishing.last_version import runs_of

_PART = "documents"
_STAMPS = "provenance"
_FILES = (paths.DOCUMENTS, paths.OFFSETS)
# How many bytes of each line are the document without its provenance.
_LENGTHS = "documents without provenance"
_NO_LINES = DocumentLines(memoryview(b""), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64))
# Lines written at one time: bounds the memory, most of which is in the processor's cache then.
_AT_ONCE = 1 << 11


def line_part(tables: CandidateTables) -> FilePart:
    """All lines; they hold provenance, so nothing says beforehand that they are the last version's."""
    return FilePart("documents", _PART, [None], _FILES, lambda folder: _write_lines(tables, folder))


def _write_lines(tables: CandidateTables, folder: Path) -> dict[str, str]:
    digest = hashlib.sha256()
    offsets, contents = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    with (folder / paths.DOCUMENTS).open("wb") as file:
        for lines in _lines(tables):
            file.write(lines.text)
            digest.update(b"}\n".join([*lines.contents(), b""]))
            offsets.append(lines.offsets[1:] + offsets[-1][-1])
            contents.append(lines.content_bytes)
    write_npy(folder / paths.OFFSETS, np.concatenate(offsets))
    tables.origins.keep(_LENGTHS, pa.array(np.concatenate(contents)))
    return dict.fromkeys(_FILES, digest.hexdigest())


def _lines(tables: CandidateTables) -> Iterator[DocumentLines]:
    """All lines in index order. Documents whose part of the table is the same are not read."""
    origins, rows, last = tables.origins, tables.order.to_numpy(), _LastLines.of(tables)
    stamps = stamps_of(tables.ids, tables.tables.read("document_history", tables.key, columns=list(OF_HISTORY)))
    of_stamps = tables.hash_rows(stamps)
    stamped = origins.same_rows(_STAMPS, of_stamps, _FILES)
    known = origins.last_hashes(_PART, tables.known["documents"][rows] & (stamped >= 0), _FILES)
    same, read, done = np.where(known.is_valid().to_numpy(zero_copy_only=False), stamped, -1), 0, 0
    wanted, hashes = np.flatnonzero(same < 0), [pa.nulls(0, pa.uint64())]
    for some in tables.documents(rows[wanted]):
        at = wanted[read : (read := read + some.num_rows)]
        hashes.append(tables.hash_rows(some))
        same[at] = np.where(origins.same_rows(_PART, hashes[-1], _FILES, at) >= 0, stamped[at], -1)
        end = int(at.max(initial=done - 1)) + 1
        yield from _runs(some.filter(pa.array(same[at] < 0)), stamps.slice(done, end - done), same[done:end], last)
        done = end
    yield from _runs(TABLES["documents"].schema.empty_table(), stamps.slice(done), same[done:], last)
    origins.keep(_STAMPS, of_stamps)
    origins.keep(_PART, pc.replace_with_mask(known, known.is_null(), pa.concat_arrays(hashes)))


class _LastLines(Struct, frozen=True):
    """The lines of the last version; none where it is not known. Some at a time are mapped: pages of a map count as
    memory."""

    path: Path
    offsets: Numbers
    content_bytes: Numbers

    @classmethod
    def of(cls, tables: CandidateTables) -> Self:
        last = tables.origins.last
        if last is None or _LENGTHS not in last.rows.column_names or not last.has(*_FILES):
            return cls(Path(), _NO_LINES.offsets, _NO_LINES.content_bytes)
        lengths = last.rows.column(_LENGTHS).to_numpy()
        return cls(last.file(paths.DOCUMENTS), map_npy(last.file(paths.OFFSETS)), lengths)

    def between(self, span: slice) -> DocumentLines:
        """The lines of a span."""
        offsets = self.offsets[span.start : span.stop + 1]
        start, end = int(offsets[0]), int(offsets[-1])
        before = start % mmap.ALLOCATIONGRANULARITY
        with self.path.open("rb") as file:
            pages = mmap.mmap(file.fileno(), end - start + before, access=mmap.ACCESS_READ, offset=start - before)
        return DocumentLines(memoryview(pages)[before:], offsets - start, self.content_bytes[span])


def _runs(new: pa.Table, stamps: pa.Table, same: Numbers, last: _LastLines) -> Iterator[DocumentLines]:
    """The lines of documents that follow one another: `same` has the rows of those that are the last version's, -1 for
    each of the `new` ones; `stamps` are those of all."""
    for first in range(0, len(same), _AT_ONCE):
        some = same[first : first + _AT_ONCE]
        is_new = some < 0
        count, stamps_of_new = int(is_new.sum()), stamps.slice(first, len(some)).filter(pa.array(is_new))
        fresh, new = lines_of(new.slice(0, count), stamps_of_new) if count else _NO_LINES, new.slice(count)
        for is_fresh, span in runs_of(some):
            yield (fresh if is_fresh else last).between(span)
