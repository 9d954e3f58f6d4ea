"""The best of many without looking at all of them: the vectors nearest to a query, and the highest of many scores.

Vectors are sorted into cells around centroids (an inverted file, by faiss), and kept in a byte per number. A search
looks into the cells nearest to the query. What it finds are candidates: their scores are left to the exact vectors, so
a vector that is found has the score and the place that it has among all.

The same vectors give the same bytes: one thread, one seed. Another processor may round another way, so the digest
without provenance covers the vectors, not their cells.
"""

import math
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
# With 512 cells of 100,000 vectors, these hold 97 % of the 100 nearest; 64 hold 95 % and save 0.5 of 2.4 ms.
_CELLS_SEARCHED = 96
# Candidates per wanted vector: a byte per number misplaces few vectors by more.
_SPARE = 1.5
_TRAINED_PER_CELL = 64
_ROUNDS = 8
_SEED = 1


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


def write_nearest(path: Path, vectors: Vectors) -> None:
    """Sort vectors into cells, and write one file."""
    import faiss

    count, dimensions = vectors.shape
    # About one and a half times the square root, a power of two.
    cell_count = 1 << round(math.log2(math.sqrt(count)) + 0.5)
    cells = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dimensions),
        dimensions,
        cell_count,
        faiss.ScalarQuantizer.QT_8bit,
        faiss.METRIC_INNER_PRODUCT,
        False,
    )
    cells.cp.niter, cells.cp.seed = _ROUNDS, _SEED
    # Centroids on the sphere, faiss's way with inner products, hold 1 % less of the nearest.
    cells.cp.spherical = False
    cells.cp.max_points_per_centroid, cells.cp.min_points_per_centroid = _TRAINED_PER_CELL, 1
    threads = faiss.omp_get_max_threads()
    # Sums are added in one order.
    faiss.omp_set_num_threads(1)
    try:
        cells.train(vectors)
        cells.add(vectors)
    finally:
        faiss.omp_set_num_threads(threads)
    faiss.write_index(cells, str(path))


Numbers = npt.NDArray[np.int64]
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
