"""The calls among the edges of the graph, as an index has them."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.indexes.callers import Callers
from codesum_pipeline.model.graph import EdgeKind

# What of the edges the callers are made from.
OF_EDGES = ("src_id", "dst", "is_external", "kind")


def build_callers(edges: Iterable[pa.Table], ids: pa.StringArray) -> Callers:
    """The callers among functions and classes, whose ids are in row order; `edges` are parts that have `OF_EDGES`."""
    # A pair of rows is one number, that of who is called first.
    pairs = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(_pairs(some, ids) for some in edges)]))
    indptr = np.searchsorted(pairs, np.arange(len(ids) + 1) * len(ids)).astype(np.int32)
    return Callers((pairs % max(len(ids), 1)).astype(np.int32), indptr)


def _pairs(edges: pa.Table, ids: pa.StringArray) -> npt.NDArray[np.int64]:
    inside = pc.and_(pc.equal(edges.column("kind"), str(EdgeKind.CALL)), pc.invert(edges.column("is_external")))
    calls = edges.filter(inside)
    callers, called = (
        pc.fill_null(pc.index_in(calls.column(name), value_set=ids), -1).to_numpy().astype(np.int64)
        for name in ("src_id", "dst")
    )
    kept = (callers >= 0) & (called >= 0) & (callers != called)
    pairs: npt.NDArray[np.int64] = called[kept] * len(ids) + callers[kept]
    return pairs
