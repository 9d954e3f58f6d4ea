"""The product of many vectors with one, the same whatever stands around a vector."""

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.embedders import Vectors


def products(
    vectors: Vectors, query: Vectors, *, out: npt.NDArray[np.float32] | None = None
) -> npt.NDArray[np.float32]:
    """The inner product of each vector with the query, written to `out` where it is given.

    One vector after the other: memory is read in one go, which takes a third of the time of a product of matrices where
    the vectors are not in the cache, and BLAS takes no threads, which wait for each other when the cores are busy.
    """
    found: npt.NDArray[np.float32] = np.vecdot(vectors, query, out=out)
    return found
