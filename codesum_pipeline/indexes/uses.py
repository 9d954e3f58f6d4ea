"""Who uses each function, class and file, and how: the graph as an index has it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.indexes.stored_zip import Array, map_npz, write_npz
from codesum_pipeline.model.graph import EdgeKind

# The numbers by which an index knows them.
KINDS = (EdgeKind.CALL, EdgeKind.IMPORT, EdgeKind.INHERIT)
# What of the edges this is made from.
OF_USES = ("src_id", "dst", "is_external", "kind")


@dataclass(frozen=True, slots=True)
class Uses:
    """The users of row k are `users[indptr[k]:indptr[k + 1]]`, ascending, and `kinds` has a position in `KINDS` for
    each of them. The rows are those of functions, classes and files; calls of a file are those outside of functions."""

    users: Array
    kinds: Array
    indptr: Array

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def users_of(self, row: int, kind: EdgeKind) -> list[int]:
        """What calls, imports or inherits from a row, ascending."""
        span = slice(*self.indptr[row : row + 2].tolist())
        found: list[int] = self.users[span][self.kinds[span] == KINDS.index(kind)].tolist()
        return found

    def used_by(self, row: int, kind: EdgeKind) -> list[int]:
        """What a row calls, imports or inherits from, ascending."""
        places = ((self.users == row) & (self.kinds == KINDS.index(kind))).nonzero()[0]
        found: list[int] = (self.indptr.searchsorted(places, side="right") - 1).tolist()
        return found

    def write(self, path: Path) -> None:
        write_npz(path, {"users": self.users, "kinds": self.kinds, "indptr": self.indptr})

    @classmethod
    def map(cls, path: Path) -> "Uses":
        """Open what `write` wrote, memory-mapped."""
        arrays = map_npz(path)
        return cls(arrays["users"], arrays["kinds"], arrays["indptr"])


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
