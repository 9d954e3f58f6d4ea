"""The product of many vectors with one, the same whatever stands around a vector."""

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.embedders import Vectors

# The numbers from which on OpenBLAS takes threads for a product, and how many vectors it takes at a time.
_NUMBERS_FOR_THREADS = 9216
_AT_A_TIME = 4


def products(vectors: Vectors, query: Vectors) -> npt.NDArray[np.float32]:
    """The inner product of each vector with the query.

    BLAS works on blocks that it takes no threads for: threads wait for each other milliseconds long when the cores are
    busy. Each vector is in a whole block, so its sum is added in the same order wherever it stands.
    """
    count, dimensions = vectors.shape
    block = (_NUMBERS_FOR_THREADS - 1) // dimensions // _AT_A_TIME * _AT_A_TIME or 1
    whole = count // block * block
    found = np.empty(count, dtype=np.float32)
    np.matmul(vectors[:whole].reshape(-1, block, dimensions), query, out=found[:whole].reshape(-1, block))
    if whole < count:
        last = np.zeros((block, dimensions), dtype=np.float32)
        last[: count - whole] = vectors[whole:]
        found[whole:] = (last @ query)[: count - whole]
    return found
