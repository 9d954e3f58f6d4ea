"""What the files of a repository asked for when they were resolved, kept for the next build."""

import re
from collections.abc import Collection, Mapping
from typing import Self

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.graph.resolvers.cells import ABSENT, CELL, Answers, LookupRecord, hash_answer

_NUMBER = np.dtype("<u4")
# A question about a module: the folder that it is asked in, the number of dots before the name or `in`, and the name.
_MODULE = re.compile(r"[^\0]*+\0(?:in|[0-9]{1,9})\0.*+", re.DOTALL)
# Rows of fixed length are sorted and compared as bytes.
_BYTES = np.dtype(f"S{CELL.itemsize}")


class LookupTable(Struct, frozen=True):
    """The distinct cells of all records, sorted rows of `CELL`; for each file the numbers of its own, 32 bits each; and
    all questions about modules. A file without numbers has no record."""

    cells: bytes = b""
    numbers: dict[str, bytes] = {}
    modules: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether it can be used: it may come from elsewhere."""
        sizes = [len(numbers) % _NUMBER.itemsize for numbers in self.numbers.values()]
        if len(self.cells) % CELL.itemsize or any(sizes) or not all(map(_MODULE.fullmatch, self.modules)):
            return False
        used = self._numbers_of([*self.numbers])
        return not len(used) or int(used.max()) < len(self.cells) // CELL.itemsize

    def find_outdated(self, now: Mapping[int, Answers]) -> set[str]:
        """The files that asked for a cell that has another answer now; owners that are not given answer as before."""
        cells = np.frombuffer(self.cells, CELL)
        asked = np.flatnonzero(np.isin(cells["owner"], np.fromiter(now, np.uint64, len(now))))
        differs = np.zeros(len(cells), bool)
        differs[asked] = [now[owner].get(key, ABSENT) != answer for owner, key, answer in cells[asked].tolist()]
        return {path for path, numbers in self.numbers.items() if differs[np.frombuffer(numbers, _NUMBER)].any()}

    def keys_of(self, owner: int) -> set[int]:
        """What was asked of an owner."""
        cells = np.frombuffer(self.cells, CELL)
        return {*cells["key"][cells["owner"] == owner].tolist()}

    def updated(self, kept: Collection[str], records: Mapping[str, LookupRecord]) -> Self:
        """The table with the records of the files that are kept and of those that were resolved."""
        kept = [path for path in kept if path in self.numbers]
        old = self._numbers_of(kept)
        used = np.unique(old)
        fresh = np.frombuffer(b"".join(cell for record in records.values() for cell in record.cells), _BYTES)
        rows = np.concatenate([np.frombuffer(self.cells, _BYTES)[used], fresh])
        distinct, places = np.unique(rows, return_inverse=True)
        numbers = np.concatenate([places[np.searchsorted(used, old)], places[len(used) :]]).astype(_NUMBER)
        sizes = [len(self.numbers[path]) // _NUMBER.itemsize for path in kept]
        sizes += [len(record.cells) for record in records.values()]
        parts = np.split(numbers, np.cumsum(sizes)[:-1]) if sizes else []
        owners = {*distinct.view(CELL)["owner"].tolist()}
        modules = {*self.modules, *(question for record in records.values() for question in record.modules)}
        by_file = {path: np.sort(part).tobytes() for path, part in zip((*kept, *records), parts, strict=True)}
        return type(self)(
            cells=distinct.tobytes(),
            numbers=dict(sorted(by_file.items())),
            modules=tuple(sorted(question for question in modules if hash_answer(question) in owners)),
        )

    def _numbers_of(self, paths: Collection[str]) -> npt.NDArray[np.uint32]:
        return np.frombuffer(b"".join(self.numbers[path] for path in paths), _NUMBER)
