"""Who uses each function, class and file, and how: the graph as an index has it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codesum_pipeline.indexes.stored_zip import Array, map_npz, write_npz
from codesum_pipeline.model.graph import EdgeKind

# The numbers by which an index knows them.
KINDS = (EdgeKind.CALL, EdgeKind.IMPORT, EdgeKind.INHERIT)
ARRAYS = ("users", "kinds", "indptr", "trusted")


@dataclass(frozen=True, slots=True)
class Uses:
    """The users of row k are `users[indptr[k]:indptr[k + 1]]`, ascending; for each of them `kinds` has a position in
    `KINDS`, and `trusted` says whether a compiler's index confirms it. The rows are those of functions, classes and
    files; calls of a file are those outside of functions."""

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
        """Those alone that a compiler's index confirms."""
        before = np.concatenate(([0], np.cumsum(self.trusted)))
        return Uses(self.users[self.trusted], self.kinds[self.trusted], before[self.indptr], self.trusted[self.trusted])

    def used_by(self, row: int, kind: EdgeKind) -> list[int]:
        """What a row calls, imports or inherits from, ascending."""
        return self.used_by_any([row], kind)

    def used_by_any(self, rows: Sequence[int], kind: EdgeKind) -> list[int]:
        """What any of some rows calls, imports or inherits from, ascending, each once."""
        is_one = np.isin(self.users, np.array(rows, dtype=self.users.dtype))
        places = (is_one & (self.kinds == KINDS.index(kind))).nonzero()[0]
        found: list[int] = np.unique(self.indptr.searchsorted(places, side="right") - 1).tolist()
        return found

    def write(self, path: Path) -> None:
        write_npz(path, {name: getattr(self, name) for name in ARRAYS})

    @classmethod
    def map(cls, path: Path) -> "Uses":
        """Open what `write` wrote, memory-mapped."""
        arrays = map_npz(path)
        return cls(*(arrays[name] for name in ARRAYS))
