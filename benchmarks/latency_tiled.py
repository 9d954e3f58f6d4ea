"""An index of very many documents: those of a real one again and again; see `benchmarks/latency.py`.

Every document stands in it as often as it takes, under ids of its own. Its words and names are repeated as they are,
copies of its vectors get noise, and both are written and opened as those of any published index. So words and names are
as frequent among these documents as in the real index; a real one of this size has more different ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from codesum_pipeline.foundation.data_model.document import LEVELS
from codesum_pipeline.foundation.data_model.hashing import sha256_hex
from codesum_pipeline.indexes.file_formats.bm25 import Bm25Index
from codesum_pipeline.indexes.file_formats.index_files import Callers, ShownFields, StringTable, SymbolNames, ranges_of
from codesum_pipeline.indexes.file_formats.nearest_vectors import FEWEST_VECTORS, is_sampled, write_nearest
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors, write_npz, write_tensor
from codesum_pipeline.indexes.file_formats.version_folder import (
    BM25_FILES,
    CALLERS,
    DOCUMENT_ARRAYS,
    DOCUMENTS,
    EMBEDDINGS,
    NEAREST_FILES,
    OFFSETS,
    PASSAGES,
    SHOWN_FIELDS,
    SYMBOL_NAMES,
    VECTOR_FILES,
    manifest_bytes,
)
from codesum_pipeline.search.retrieval.published_index import PublishedIndex

Integers = npt.NDArray[np.int64]
Enlarge = Callable[[Vectors, int], Vectors]


@dataclass(frozen=True, slots=True)
class Tiling:
    """Rows sorted by level, then by copy, then as in the real index."""

    index: PublishedIndex
    copies: int

    def rows(self, rows: Integers, copies: Integers) -> Integers:
        """The rows of some documents' copies; -1 stays."""
        starts = np.array(self.index.level_starts)
        levels = starts.searchsorted(rows, side="right") - 1
        first, size = starts[levels], np.diff(starts)[np.minimum(levels, len(LEVELS) - 1)]
        tiled: Integers = np.where(rows < 0, -1, first * self.copies + copies * size + rows - first)
        return tiled

    def sources(self) -> tuple[Integers, Integers]:
        """The real document of each row, and the number of its copy."""
        spans = [self.index.rows_of(level) for level in LEVELS]
        documents = [np.tile(np.arange(span.start, span.stop), self.copies) for span in spans]
        numbers = [np.repeat(np.arange(self.copies), span.stop - span.start) for span in spans]
        return np.concatenate(documents), np.concatenate(numbers)

    def postings(self, indptr: Integers) -> tuple[Integers, Integers, Integers]:
        """Lists repeated: where each ends, and of each element the place in the real lists and its copy."""
        starts, ends = (np.repeat(bounds, self.copies) for bounds in (indptr[:-1], indptr[1:]))
        places = ranges_of(np.arange(int(indptr[-1])), starts, ends)
        return indptr * self.copies, places, np.repeat(np.tile(np.arange(self.copies), len(indptr) - 1), ends - starts)


def write_tiled(index: PublishedIndex, copies: int, parent: Path, enlarge: Enlarge) -> PublishedIndex:
    """Write and open such an index; `enlarge` gives as many vectors as it is told, made of some."""
    tiling = Tiling(index, copies)
    counts = {"documents": copies * len(index)}
    many = copies * len(index.dense_rows) >= FEWEST_VECTORS
    files = dict.fromkeys(VECTOR_FILES[lane] for lane in index.vectors if lane in VECTOR_FILES)
    files |= dict.fromkeys(NEAREST_FILES[lane] for lane in index.vectors if many)
    data = manifest_bytes({**index.version.manifest, "counts": counts, "files": files})
    folder = parent / sha256_hex(data)
    if not folder.exists():
        aside = parent / "unfinished"
        for name in ("dense", "bm25", "code", "summary", "symbol", "documents"):
            (aside / name).mkdir(parents=True, exist_ok=True)
        _write_documents(tiling, aside)
        _write_words(tiling, aside)
        _write_vectors(tiling, aside, enlarge, many=many)
        (aside / "manifest.json").write_bytes(data)
        aside.rename(folder)
    return PublishedIndex.of_version(folder)


def _write_documents(tiling: Tiling, folder: Path) -> None:
    index = tiling.index
    sources, numbers = tiling.sources()
    arrays = {
        name: index.arrays[name][sources]
        for name in ("importance", "is_test", "is_vendored", "only_reexports", "role", "level")
    }
    for name in ("file_row", "parent_row"):
        arrays[name] = tiling.rows(index.arrays[name][sources].astype(np.int64), numbers).astype(np.int32)
    is_dense = np.zeros(len(index), dtype=np.bool_)
    is_dense[index.dense_rows] = True
    arrays["dense_rows"] = is_dense[sources].nonzero()[0].astype(np.int32)
    known = list(index.ids)
    ids = StringTable.of(
        [f"{copy:05}/{known[row]}" for row, copy in zip(sources.tolist(), numbers.tolist(), strict=True)]
    )
    write_npz(folder / DOCUMENT_ARRAYS, arrays | {"ids": ids.content, "id_offsets": ids.offsets})
    _write_shown(index.shown, sources, folder)
    lines = [index.line(row) for row in range(len(index))]
    lengths = np.array([*map(len, lines)], dtype=np.int64)[sources]
    np.save(folder / OFFSETS, np.concatenate(([0], np.cumsum(lengths))))
    with (folder / DOCUMENTS).open("wb") as file:
        for row in sources.tolist():
            file.write(lines[row])


def _write_shown(shown: ShownFields, sources: Integers, folder: Path) -> None:
    """What hits show, for the copies too."""
    texts = shown.is_there.shape[1]
    places = (sources[:, np.newaxis] * texts + np.arange(texts)).reshape(-1)
    starts, ends = shown.offsets[places], shown.offsets[places + 1]
    content = ranges_of(shown.texts, starts, ends)
    offsets = np.concatenate(([0], np.cumsum(ends - starts)))
    ShownFields(shown.lines[sources], content, offsets, shown.is_there[sources]).write(folder / SHOWN_FIELDS)


def _write_words(tiling: Tiling, folder: Path) -> None:
    index, copies = tiling.index, tiling.copies
    for lane, name in BM25_FILES.items():
        words = index.words[lane]
        indptr, places, numbers = tiling.postings(words.indptr)
        old = words.indices[places].astype(np.int64)
        # Passages stand behind all documents.
        passages = (copies - 1) * len(index) + numbers * len(index.passage_files) + old
        rows = np.where(old < len(index), tiling.rows(np.minimum(old, len(index) - 1), numbers), passages)
        content, times, count = words.data[places], words.times[places], copies * words.documents
        lengths = np.bincount(rows, weights=times, minlength=count).astype(np.int32)
        tiled = Bm25Index(count, words.vocabulary, content, rows.astype(np.int32), indptr, times, lengths)
        tiled.write(folder / name)
    files = np.tile(index.passage_files.astype(np.int64), copies)
    of_copies = np.repeat(np.arange(copies), len(index.passage_files))
    np.save(folder / PASSAGES, tiling.rows(files, of_copies).astype(np.int32))
    _write_names(tiling, folder)


def _write_names(tiling: Tiling, folder: Path) -> None:
    """Names and callers, which are found by name or number as in the real index."""
    index = tiling.index
    indptr, places, numbers = tiling.postings(index.names.indptr)
    rows = tiling.rows(index.names.rows[places].astype(np.int64), numbers).astype(np.int32)
    SymbolNames(index.names.names, rows, indptr).write(folder / SYMBOL_NAMES)
    sources, numbers = (of_all[: tiling.copies * len(index.callers)] for of_all in tiling.sources())
    counts, callers = index.callers.of(sources)
    rows = tiling.rows(callers.astype(np.int64), np.repeat(numbers, counts)).astype(np.int32)
    Callers(rows, np.concatenate(([0], np.cumsum(counts))).astype(np.int32)).write(folder / CALLERS)


def _write_vectors(tiling: Tiling, folder: Path, enlarge: Enlarge, *, many: bool) -> None:
    """Level by level, as rows are; all copies but the first with noise."""
    spans = [slice(*tiling.index.dense_starts[number : number + 2]) for number in range(len(LEVELS))]
    for lane in tiling.index.vectors:
        real = np.asarray(tiling.index.vectors[lane])
        levels = [
            enlarge(real[span], tiling.copies * (span.stop - span.start)) for span in spans if span.stop > span.start
        ]
        vectors = np.concatenate(levels)
        if lane in VECTOR_FILES:
            np.save(folder / VECTOR_FILES[lane], vectors)
        else:
            write_tensor(folder / EMBEDDINGS, vectors)
        if many:
            write_nearest(folder / NEAREST_FILES[lane], vectors, is_sampled(map(str, range(len(vectors)))))
