"""What the files of a repository asked for when they were resolved, kept for the next build."""

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import accumulate, pairwise
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.bounded_batches import bounded_batches
from codesum_pipeline.graph.resolvers.cells import ABSENT, CELL, Answers, LookupRecord, hash_answer

_NUMBER = np.dtype("<u4")
# A question about a module: the folder that it is asked in, the number of dots before the name or `in`, and the name.
_MODULE = re.compile(r"[^\0]*+\0(?:in|[0-9]{1,9})\0.*+", re.DOTALL)
# Rows of fixed length are sorted and compared as bytes.
_BYTES = np.dtype(f"S{CELL.itemsize}")
_CELL = pa.binary(CELL.itemsize)
# Cells that are put together at one time: bounds the memory.
_CELLS_AT_ONCE = 1 << 18


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
        asked = np.flatnonzero(_are_among(cells["owner"], now))
        differs = np.zeros(len(cells), bool)
        differs[asked] = [now[owner].get(key, ABSENT) != answer for owner, key, answer in cells[asked].tolist()]
        if not differs.any():
            return set()
        return {path for path, numbers in self.numbers.items() if differs[np.frombuffer(numbers, _NUMBER)].any()}

    def keys_of(self, owner: int) -> set[int]:
        """What was asked of an owner."""
        cells = np.frombuffer(self.cells, CELL)
        return {*cells["key"][cells["owner"] == owner].tolist()}

    def updated(self, kept: Collection[str], records: Mapping[str, LookupRecord]) -> Self:
        """The table with the records of the files that are kept and of those that were resolved."""
        kept = [path for path in kept if path in self.numbers]
        cells, old = np.frombuffer(self.cells, _BYTES), self._numbers_of(kept)
        is_used = np.zeros(len(cells), bool)
        is_used[old] = True
        distinct, places = _distinct_cells(records.values())
        joined = _JoinedCells.of(cells[is_used], distinct)
        # Numbers stay in order, so that those of a file need not be sorted again.
        numbers = np.zeros(len(cells), _NUMBER)
        numbers[is_used] = joined.of_ones
        by_file = dict(zip(kept, _split(numbers[old], [len(self.numbers[path]) for path in kept]), strict=True))
        lengths = [len(record.cells) * _NUMBER.itemsize for record in records.values()]
        parts = map(_in_order, _split(joined.of_others[places], lengths))
        by_file |= dict(zip(records, parts, strict=True))
        modules = {*self.modules, *(question for record in records.values() for question in record.modules)}
        hashes = {question: hash_answer(question) for question in sorted(modules)}
        owners = joined.cells.view(CELL)["owner"]
        asked = {*owners[_are_among(owners, hashes.values())].tolist()}
        return type(self)(
            cells=joined.cells.tobytes(),
            numbers=dict(sorted(by_file.items())),
            modules=tuple(question for question, hash_ in hashes.items() if hash_ in asked),
        )

    def _numbers_of(self, paths: Collection[str]) -> npt.NDArray[np.uint32]:
        return np.frombuffer(b"".join(self.numbers[path] for path in paths), _NUMBER)


class _JoinedCells(NamedTuple):
    """Two sorted lists of distinct cells as one, and the number in it of each."""

    cells: npt.NDArray[np.bytes_]
    of_ones: npt.NDArray[np.uint32]
    of_others: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, ones: npt.NDArray[np.bytes_], others: npt.NDArray[np.bytes_]) -> Self:
        at = np.searchsorted(ones, others)
        is_new = np.ones(len(others), bool)
        is_inside = at < len(ones)
        is_new[is_inside] = ones[at[is_inside]] != others[is_inside]
        before = np.cumsum(is_new) - is_new
        of_others = (at + before).astype(_NUMBER)
        of_ones = (np.arange(len(ones)) + np.searchsorted(at[is_new], np.arange(len(ones)), side="right")).astype(
            _NUMBER
        )
        return cls(np.insert(ones, at[is_new], others[is_new]), of_ones, of_others)


def _distinct_cells(records: Iterable[LookupRecord]) -> tuple[npt.NDArray[np.bytes_], npt.NDArray[np.uint32]]:
    """The distinct cells of some records, sorted, and the place among them of each cell. Many files ask the same:
    sorting all would take several times the memory."""
    parts = []
    for some in bounded_batches(records, lambda record: len(record.cells), most=_CELLS_AT_ONCE):
        joined = b"".join(cell for record in some for cell in record.cells)
        buffers = [None, pa.py_buffer(joined)]
        parts.append(pa.FixedSizeBinaryArray.from_buffers(_CELL, len(joined) // CELL.itemsize, buffers))
    encoded = pa.chunked_array(parts, _CELL).dictionary_encode().chunks
    if not encoded:
        return np.empty(0, _BYTES), np.empty(0, _NUMBER)
    # All have the same dictionary.
    cells = np.frombuffer(b"".join(encoded[0].dictionary.to_pylist()), _BYTES)
    order = np.argsort(cells)
    ranks = np.empty(len(order), _NUMBER)
    ranks[order] = np.arange(len(order), dtype=_NUMBER)
    return cells[order], ranks[np.concatenate([part.indices.to_numpy() for part in encoded])]


def _are_among(numbers: npt.NDArray[np.uint64], few: Collection[int]) -> npt.NDArray[np.bool_]:
    """Whether each number is one of a few: `np.isin` would sort all."""
    wanted = pa.array(np.fromiter(few, np.uint64, len(few)))
    found: npt.NDArray[np.bool_] = pc.is_in(pa.array(numbers.copy()), value_set=wanted).to_numpy(zero_copy_only=False)
    return found


def _split(numbers: npt.NDArray[np.uint32], lengths: Iterable[int]) -> list[bytes]:
    """The bytes of some numbers, in parts of these lengths."""
    content = numbers.tobytes()
    return [content[start:stop] for start, stop in pairwise(accumulate(lengths, initial=0))]


def _in_order(numbers: bytes) -> bytes:
    return np.sort(np.frombuffer(numbers, _NUMBER)).tobytes()
