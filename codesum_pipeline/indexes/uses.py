"""Who calls each function and class, and who uses each function, class and file, and how: the graph in an index."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.indexes.stored_zip import Array, map_npz, write_npz
from codesum_pipeline.indexes.symbol_names import ranges_of
from codesum_pipeline.model.graph import EdgeKind


class Callers(Struct, frozen=True):
    """The callers of row k are `rows[indptr[k]:indptr[k + 1]]`, ascending, each once and never k itself."""

    rows: Array
    indptr: Array

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def of(self, rows: npt.NDArray[np.integer]) -> tuple[Array, Array]:
        """How many callers each of some functions and classes has, and those of all, one after the other."""
        starts, ends = self.indptr[rows], self.indptr[rows + 1]
        return ends - starts, ranges_of(self.rows, starts, ends)

    def write(self, path: Path) -> None:
        write_npz(path, {"rows": self.rows, "indptr": self.indptr})

    @classmethod
    def map(cls, path: Path) -> "Callers":
        """Open what `write` wrote, memory-mapped."""
        arrays = map_npz(path)
        return cls(arrays["rows"], arrays["indptr"])


# The numbers by which an index knows them.
KINDS = (EdgeKind.CALL, EdgeKind.IMPORT, EdgeKind.INHERIT)
USE_ARRAYS = ("users", "kinds", "indptr", "trusted")


class Uses(Struct, frozen=True):
    """The users of row k are `users[indptr[k]:indptr[k + 1]]`, ascending; for each of them `kinds` has a position in
    `KINDS`, and `trusted` says whether a compiler's index confirms the use. The rows are those of functions, classes
    and files; calls by a file are those outside of functions."""

    users: Array
    kinds: Array
    indptr: Array
    trusted: Array

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def users_of(self, row: int, kind: EdgeKind) -> list[int]:
        """What calls, imports or inherits from a row, ascending."""
        span = slice(*self.indptr[row : row + 2].tolist())
        found: list[int] = self.users[span][self.kinds[span] == KINDS.index(kind)].tolist()
        return found

    @property
    def confirmed(self) -> "Uses":
        """The uses that a compiler's index confirms."""
        before = np.concatenate(([0], np.cumsum(self.trusted)))
        return Uses(self.users[self.trusted], self.kinds[self.trusted], before[self.indptr], self.trusted[self.trusted])

    def used_by_any(self, rows: Sequence[int], kind: EdgeKind) -> list[int]:
        """What any of some rows calls, imports or inherits from, ascending, each once."""
        is_one = np.isin(self.users, np.array(rows, dtype=self.users.dtype))
        places = (is_one & (self.kinds == KINDS.index(kind))).nonzero()[0]
        found: list[int] = np.unique(self.indptr.searchsorted(places, side="right") - 1).tolist()
        return found

    def write(self, path: Path) -> None:
        write_npz(path, {name: getattr(self, name) for name in USE_ARRAYS})

    @classmethod
    def map(cls, path: Path) -> "Uses":
        """Open what `write` wrote, memory-mapped."""
        arrays = map_npz(path)
        return cls(*(arrays[name] for name in USE_ARRAYS))
