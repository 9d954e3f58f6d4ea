"""The documents as lines of JSON, and where each line starts.

Of a document that is in the last version with the same fields and provenance, the line is copied from there.
"""

import hashlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
from msgspec import Struct

from codesum_pipeline.foundation.store.schemas import TABLES
from codesum_pipeline.indexes.file_formats import version_folder as paths
from codesum_pipeline.indexes.file_formats.arrow_texts import OF_HISTORY, DocumentLines, lines_of, stamped_documents
from codesum_pipeline.indexes.file_formats.stored_zip import map_npy, write_npy
from codesum_pipeline.indexes.publishing.candidate_tables import CandidateTables, FilePart, Numbers

_PART = "documents"
# How many bytes of each line are the document without its provenance.
_LENGTHS = "documents without provenance"
# Documents turned into lines at one time: bounds the memory.
_AT_ONCE = 1 << 13


def line_part(tables: CandidateTables) -> FilePart:
    """All lines; they hold provenance, so nothing says beforehand that they are the last version's."""
    files = [paths.DOCUMENTS, paths.OFFSETS]
    return FilePart("documents", _PART, [None], files, lambda folder: _write_lines(tables, folder))


def _write_lines(tables: CandidateTables, folder: Path) -> dict[str, str]:
    digest, last = hashlib.sha256(), _LastLines.of(tables)
    hashes, contents = list[pa.Array](), list[Numbers]()
    offsets = [np.zeros(1, dtype=np.int64)]
    with (folder / paths.DOCUMENTS).open("wb") as file:
        for some, same in _stamped(tables, hashes):
            for lines in _runs(some, same, last):
                file.write(lines.text)
                digest.update(b"}\n".join([*lines.contents(), b""]))
                offsets.append(lines.offsets[1:] + offsets[-1][-1])
                contents.append(lines.content_bytes)
    write_npy(folder / paths.OFFSETS, np.concatenate(offsets))
    tables.origins.keep(_PART, pa.chunked_array(hashes, pa.uint64()))
    tables.origins.keep(_LENGTHS, pa.chunked_array(contents, pa.int64()))
    return dict.fromkeys((paths.DOCUMENTS, paths.OFFSETS), digest.hexdigest())


def _stamped(tables: CandidateTables, hashes: list[pa.Array]) -> Iterator[tuple[pa.Table, Numbers]]:
    """Some documents at a time with all that their lines are made from, whose hashes go to `hashes`, and the row of the
    last version that has the same line, -1 where none has."""
    history = tables.tables.read("document_history", tables.key, columns=list(OF_HISTORY))
    documents = tables.tables.read_parts("documents", tables.key, columns=TABLES["documents"].schema.names)
    done = 0
    for some in stamped_documents(documents, history):
        found = tables.hash_rows(some)
        same = tables.origins.same_rows(_PART, found, [paths.DOCUMENTS, paths.OFFSETS], first=done)
        hashes.append(found)
        done += some.num_rows
        yield from ((some.slice(at, _AT_ONCE), same[at : at + _AT_ONCE]) for at in range(0, len(same), _AT_ONCE))


class _LastLines(Struct, frozen=True):
    """The lines of the last version. They are read and not mapped: pages of a map would count as memory of the build's
    largest moment."""

    path: Path
    offsets: Numbers
    content_bytes: Numbers

    @classmethod
    def of(cls, tables: CandidateTables) -> Self | None:
        last = tables.origins.last
        if last is None or _LENGTHS not in last.rows.column_names or not last.has(paths.DOCUMENTS, paths.OFFSETS):
            return None
        lengths = last.rows.column(_LENGTHS).to_numpy()
        return cls(last.file(paths.DOCUMENTS), map_npy(last.file(paths.OFFSETS)), lengths)

    def between(self, first: int, end: int) -> DocumentLines:
        """The lines from a first to before an end."""
        offsets = self.offsets[first : end + 1] - self.offsets[first]
        with self.path.open("rb") as file:
            file.seek(int(self.offsets[first]))
            return DocumentLines(memoryview(file.read(int(offsets[-1]))), offsets, self.content_bytes[first:end])


def _runs(some: pa.Table, same: Numbers, last: _LastLines | None) -> Iterator[DocumentLines]:
    """The lines of documents: runs of the last version's, and new ones."""
    is_new = same < 0
    fresh = lines_of(some.filter(pa.array(is_new)))
    rows = np.where(is_new, np.cumsum(is_new) - 1, same)
    cuts = np.flatnonzero((np.diff(rows) != 1) | np.diff(is_new)) + 1
    for start, end in pairwise([0, *cuts.tolist(), len(rows)] if len(rows) else []):
        first, stop = int(rows[start]), int(rows[end - 1]) + 1
        yield fresh.between(first, stop) if last is None or is_new[start] else last.between(first, stop)
