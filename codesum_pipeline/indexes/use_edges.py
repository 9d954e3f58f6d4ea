"""The edges of the graph as an index has them: calls, imports and inheritance."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.graph.trusted import OF_TRUST, is_trusted
from codesum_pipeline.indexes.uses import KINDS, Uses

# What of the edges this is made from.
OF_USES = ("src_id", "dst", "is_external", "kind", *OF_TRUST)


def build_uses(edges: Iterable[pa.Table], ids: pa.StringArray) -> Uses:
    """The uses among documents whose ids are in row order; `edges` are parts that have `OF_USES`."""
    found = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(_numbered(some, ids) for some in edges)]))
    uses = np.unique(found >> 1)
    pairs, kinds = uses // len(KINDS), uses % len(KINDS)
    count = max(len(ids), 1)
    indptr = np.searchsorted(pairs, np.arange(len(ids) + 1) * count).astype(np.int32)
    trusted = np.isin(uses, found[(found & 1).astype(np.bool_)] >> 1)
    return Uses((pairs % count).astype(np.int32), kinds.astype(np.uint8), indptr, trusted)


def _numbered(edges: pa.Table, ids: pa.StringArray) -> npt.NDArray[np.int64]:
    """A use as one number: what is used, by whom, and how; then one bit that says whether an index confirms it."""
    inside = edges.filter(pc.invert(edges.column("is_external")))
    users, used = (
        pc.fill_null(pc.index_in(inside.column(name), value_set=ids), -1).to_numpy().astype(np.int64)
        for name in ("src_id", "dst")
    )
    kinds = pc.index_in(inside.column("kind"), value_set=pa.array(map(str, KINDS), pa.string())).to_numpy()
    kept = (users >= 0) & (used >= 0) & (users != used)
    uses: npt.NDArray[np.int64] = (used * len(ids) + users) * len(KINDS) + kinds
    numbers: npt.NDArray[np.int64] = (uses << 1 | is_trusted(inside).to_numpy().astype(np.int64))[kept]
    return numbers
