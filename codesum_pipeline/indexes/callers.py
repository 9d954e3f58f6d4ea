"""Who calls each function and class: these are the first rows of an index."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.stored_zip import Array, map_npz, write_npz
from codesum_pipeline.indexes.symbol_names import ranges_of


@dataclass(frozen=True, slots=True)
class Callers:
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
