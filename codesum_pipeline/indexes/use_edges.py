"""The edges of the graph as an index has them: calls, imports and inheritance."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.indexes.uses import KINDS, Uses

# What of the edges this is made from.
OF_USES = ("src_id", "dst", "is_external", "kind")


def build_uses(edges: Iterable[pa.Table], ids: pa.StringArray) -> Uses:
    """The uses among documents whose ids are in row order; `edges` are parts that have `OF_USES`."""
    found = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(_numbered(some, ids) for some in edges)]))
    pairs, kinds = found // len(KINDS), found % len(KINDS)
    count = max(len(ids), 1)
    indptr = np.searchsorted(pairs, np.arange(len(ids) + 1) * count).astype(np.int32)
    return Uses((pairs % count).astype(np.int32), kinds.astype(np.uint8), indptr)


def _numbered(edges: pa.Table, ids: pa.StringArray) -> npt.NDArray[np.int64]:
    """A use as one number: what is used, by whom, and how."""
    inside = edges.filter(pc.invert(edges.column("is_external")))
    users, used = (
        pc.fill_null(pc.index_in(inside.column(name), value_set=ids), -1).to_numpy().astype(np.int64)
        for name in ("src_id", "dst")
    )
    kinds = pc.index_in(inside.column("kind"), value_set=pa.array(map(str, KINDS), pa.string())).to_numpy()
    kept = (users >= 0) & (used >= 0) & (users != used)
    numbers: npt.NDArray[np.int64] = ((used * len(ids) + users) * len(KINDS) + kinds)[kept]
    return numbers
