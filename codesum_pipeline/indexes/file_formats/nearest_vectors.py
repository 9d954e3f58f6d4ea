"""The best of many without looking at all of them: the vectors nearest to a query, and the highest of many scores.

Vectors are sorted into cells around centroids (an inverted file, by faiss), and kept in a byte per number. A search
looks into the cells nearest to the query. What it finds are candidates: their scores are left to the exact vectors, so
a vector that is found has the score and the place that it has among all.

The same vectors give the same bytes: one thread, one seed. Another processor may round another way, so the digest
without provenance covers what the cells are made from.
"""

import math
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.indexes.file_formats.stored_zip import Vectors, map_bytes

if TYPE_CHECKING:
    import faiss


# Fewer vectors are all compared: 5,000 vectors of 256 numbers take 0.8 ms, and cells with exact scores after them 1.3;
# 20,000 take 2.7 against 1.4, a million 140 against 7 (benchmarks/results/latency.md).
FEWEST_VECTORS = 20_000
# They hold 96 % of the 100 nearest of 20,000 to 70,000 vectors, as 96 do of cells that are made from all vectors
# (benchmarks/results/edits.md).
_CELLS_SEARCHED = 112
# Candidates per wanted vector: a byte per number misplaces few vectors by more.
_SPARE = 1.5
_TRAINED_PER_CELL = 64
_ROUNDS = 8
_SEED = 1

Numbers = npt.NDArray[np.int64]


class NearestVectors(Struct, frozen=True):
    """The cells of one matrix of vectors; `content` is the file that they lie in."""

    content: npt.NDArray[np.uint8]
    cells: "faiss.IndexIVF"

    @classmethod
    def map_file(cls, path: Path) -> "NearestVectors":
        """Open what `write_nearest` wrote, memory-mapped."""
        import faiss

        content = map_bytes(path)
        reader = faiss.ZeroCopyIOReader(faiss.swig_ptr(content), len(content))
        return cls(content, faiss.read_index(reader, faiss.IO_FLAG_MMAP_IFC))

    def __len__(self) -> int:
        return int(self.cells.ntotal)

    def cell_of_each(self) -> Numbers:
        """The cell that each vector is in."""
        import faiss

        found = np.full(len(self), -1, dtype=np.int64)
        lists = self.cells.invlists
        for cell in range(self.cells.nlist):
            if size := lists.list_size(cell):
                found[faiss.rev_swig_ptr(lists.get_ids(cell), size)] = cell
        return found

    def candidates(self, query: Vectors, count: int, *, among: slice | npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """The rows, ascending, of a few more than `count` vectors near a query's, in a span or where a mask is true."""
        import faiss

        if isinstance(among, slice):
            chosen = faiss.IDSelectorRange(among.start, among.stop)
        else:
            bits = np.packbits(among, bitorder="little")
            chosen = faiss.IDSelectorBitmap(len(bits), faiss.swig_ptr(bits))
        how = faiss.SearchParametersIVF(nprobe=_CELLS_SEARCHED, sel=chosen)
        _, found = self.cells.search(query[np.newaxis], math.ceil(count * _SPARE), params=how)
        rows: npt.NDArray[np.int64] = np.sort(found[0])
        return rows[np.searchsorted(rows, 0) :]


# The share of vectors that cells are made from: with one in eight they hold about as many of the nearest as with all,
# with one in sixteen 1 % less (benchmarks/results/edits.md).
_SAMPLED_SHARE = 8
# Steps in which vectors and centroids are compared: of vectors no longer than 1, float32 holds every sum of products of
# such whole numbers exactly. So a vector's cell does not depend on those that are compared in the same go.
_STEPS = 4000
# Vectors compared with all centroids at one time: bounds the memory.
_AT_ONCE = 1 << 12


def is_sampled(ids: Iterable[str]) -> npt.NDArray[np.bool_]:
    """Which documents' vectors say where cells are: one in `_SAMPLED_SHARE`, by a checksum of their ids. So most edits
    move no centroid."""
    sums = np.fromiter((zlib.crc32(id_.encode()) for id_ in ids), dtype=np.uint32)
    found: npt.NDArray[np.bool_] = sums % _SAMPLED_SHARE == 0
    return found


class SortedVectors(Struct, frozen=True):
    """Vectors that were sorted into cells before, which of them were sampled, and for each vector that is to be sorted
    now its place among them, -1 if there is none that equals it."""

    nearest: NearestVectors
    sampled: npt.NDArray[np.bool_]
    places: Numbers

    def has_sample(self, sample: Numbers, cell_count: int) -> bool:
        """Whether so many cells would be made from the same vectors again."""
        before = _sample_of(self.sampled, cell_count)
        return int(self.nearest.cells.nlist) == cell_count and np.array_equal(self.places[sample], before)

    def cell_of_each(self) -> Numbers:
        """The cell of each vector that is to be sorted now, -1 for one that was in none."""
        return np.append(self.nearest.cell_of_each(), -1)[self.places]


def _sample_of(sampled: npt.NDArray[np.bool_], cell_count: int) -> Numbers:
    """The sampled vectors, or all where these are too few for so many cells."""
    sample = np.flatnonzero(sampled)
    return sample if len(sample) >= cell_count else np.arange(len(sampled))


def write_nearest(
    path: Path, vectors: Vectors, sampled: npt.NDArray[np.bool_], last: SortedVectors | None = None
) -> None:
    """Sort vectors into cells, and write one file. Centroids are made from those that are `sampled`, or from all where
    these are too few. Vectors that were sorted before around the same centroids stay in their cells."""
    import faiss

    count, dimensions = vectors.shape
    # About one and a half times the square root, a power of two.
    cell_count = 1 << round(math.log2(math.sqrt(count)) + 0.5)
    sample = _sample_of(sampled, cell_count)
    centroids, kind = faiss.IndexFlatIP(dimensions), faiss.ScalarQuantizer.QT_8bit
    cells = faiss.IndexIVFScalarQuantizer(centroids, dimensions, cell_count, kind, faiss.METRIC_INNER_PRODUCT, False)
    cells.cp.niter, cells.cp.seed = _ROUNDS, _SEED
    # Centroids on the sphere, faiss's way with inner products, hold 1 % less of the nearest.
    cells.cp.spherical = False
    cells.cp.max_points_per_centroid, cells.cp.min_points_per_centroid = _TRAINED_PER_CELL, 1
    threads = faiss.omp_get_max_threads()
    # Sums are added in one order.
    faiss.omp_set_num_threads(1)
    try:
        chosen = np.full(count, -1, dtype=np.int64)
        if last is not None and last.has_sample(sample, cell_count):
            centroids.add(_centroids_of(last.nearest.cells))
            chosen = last.cell_of_each()
        # Without centroids, it makes them.
        cells.train(vectors[sample])
        new = np.flatnonzero(chosen < 0)
        if len(new):
            chosen[new] = _best_cells(vectors[new], _centroids_of(cells))
        cells.add_core(count, faiss.swig_ptr(vectors), None, faiss.swig_ptr(chosen))
    finally:
        faiss.omp_set_num_threads(threads)
    faiss.write_index(cells, str(path))


def _centroids_of(cells: "faiss.IndexIVF") -> Vectors:
    import faiss

    flat = faiss.downcast_index(cells.quantizer)
    found: Vectors = faiss.rev_swig_ptr(flat.get_xb(), flat.ntotal * flat.d).reshape(flat.ntotal, flat.d)
    return found


def _best_cells(vectors: Vectors, centroids: Vectors) -> Numbers:
    """The cell of each vector: that of the centroid with the largest inner product, the first of equal ones."""
    whole = np.rint(centroids.T * _STEPS)
    parts = [np.argmax(np.rint(some * _STEPS) @ whole, axis=1) for some in _in_parts(vectors)]
    found: Numbers = np.concatenate(parts)
    return found


def _in_parts(vectors: Vectors) -> Iterator[Vectors]:
    return (vectors[start : start + _AT_ONCE] for start in range(0, len(vectors), _AT_ONCE))


Scores = npt.NDArray[np.floating]

# About so many scores are sampled, and of few scores one in so many.
_SAMPLED = 4096
_FEWEST_STRIDE = 16
# More than the share of the sample that is expected to be among the highest: a sample that was unlucky costs a second
# look at all.
_SPARE_SHARE = 1.5
_SPARE_MORE = 8


def find_highest(scores: Scores, limit: int) -> Numbers:
    """The places of the `limit` highest scores, and of those that are as good as the last of them; ascending."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    places: Numbers = (scores >= _nth_highest(scores, limit)).nonzero()[0]
    return places


def highest_above_zero(scores: Scores, limit: int) -> Numbers:
    """As `highest`, of the scores above 0."""
    guess = _guess(scores, limit) if len(scores) > limit else 0.0
    places: Numbers = (scores >= guess if guess > 0 else scores > 0).nonzero()[0]
    if len(places) < limit and guess > 0:
        places = (scores > 0).nonzero()[0]
    if len(places) <= limit:
        return places
    some = scores[places]
    return places[some >= _nth_highest(some, limit)]


def _guess(scores: Scores, limit: int) -> float:
    """A number that about `limit` scores, or a few more, are above; 0 if none is known."""
    stride = max(_FEWEST_STRIDE, len(scores) // _SAMPLED)
    sample = scores[::stride]
    spare = int(_SPARE_SHARE * limit / stride) + _SPARE_MORE
    return _nth_highest(sample, spare) if len(sample) > 2 * spare else 0.0


def _nth_highest(scores: Scores, number: int) -> float:
    place = len(scores) - number
    return float(np.partition(scores, place)[place])
