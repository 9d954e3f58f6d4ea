"""The parts of a table: runs of its rows, each with hashes of its own, so that an edit touches few of them.

Rows are in the order of the table's key. A part begins with the first row, with the first row of a group (a lane), and
where a path begins whose sha1 is a multiple of `MODULUS`. So the parts follow from the rows alone, and a path that
comes or goes touches the parts around it.
"""

import hashlib
import io
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.store.row_groups import RowGroup
from codesum_pipeline.foundation.store.rows import OrderedRows
from codesum_pipeline.foundation.store.schemas import TableSpec

# About one path in so many begins a part: of a million lines a part has about thirty thousand. 0: none does.
MODULUS = 64
# A table with fewer rows is read and written whole in less time than its parts are found. A row with a file's source is
# as long as many others.
LEAST_ROWS = 1 << 14
LEAST_SOURCES = 1 << 8
# Of parts with fewer rows on average each costs more than it saves: names of files can be chosen so that all begin one.
LEAST_PART_ROWS = 1 << 4
_NUMBERS_TOGETHER = 1 << 6
# Between the group and the id of a row; no path has it. What is behind all rows of a group.
_BETWEEN, _AFTER = "\0", "\1"
# Behind all ids of a path: a colon and the next character.
_BEHIND = ":;"


class TablePart(Struct, frozen=True):
    """Some rows of a table: the keys of the first and the last, and the hash of each column.

    `length` is that of their bytes in the file, where `row_groups` say what is needed to take them over.
    """

    first: str
    last: str
    rows: int
    hashes: dict[str, str]
    length: int = 0
    row_groups: tuple[RowGroup, ...] = ()

    @property
    def group(self) -> str:
        """The lane or level that all rows have; empty in a table without."""
        return self.first.partition(_BETWEEN)[0]


class PartList(Struct, frozen=True):
    """The parts of a table, in order, and the number that they were cut by: 0 where no path begins one."""

    modulus: int
    parts: tuple[TablePart, ...]

    @classmethod
    def cut_now(cls, parts: tuple[TablePart, ...] = ()) -> Self:
        """Parts that are cut by the present number."""
        return cls(MODULUS, parts)

    @property
    def is_cut_now(self) -> bool:
        """Whether new rows would be cut in the same way."""
        return bool(MODULUS) and self.modulus == MODULUS

    def column_hash(self, column: str, *, group: str | None = None) -> str:
        """The hash of a column from those of all parts, or of those of a group."""
        parts = self.parts if group is None else [part for part in self.parts if part.group == group]
        if len(parts) == 1 and group is not None:
            return parts[0].hashes[column]
        return hash_of([[part.group, part.hashes[column]] for part in parts])

    def with_rows_of(self, paths: Collection[str]) -> set[int]:
        """The numbers of the parts that have rows of these paths, or would have them."""
        return {number for _, found in self.with_rows_of_each(paths) for number in found}

    def with_rows_of_each(self, paths: Iterable[str]) -> Iterator[tuple[str, set[int]]]:
        """Each path with the numbers of the parts that have its rows, or would have them."""
        firsts = [part.first for part in self.parts]
        groups = {
            group: (bisect_left(firsts, group + _BETWEEN), bisect_left(firsts, group + _AFTER))
            for group in {part.group for part in self.parts}
        }
        for path in paths:
            found: set[int] = set()
            for group, (start, stop) in groups.items():
                key = f"{group}{_BETWEEN}{path}"
                # Ids below a folder are between that of the folder and what would be in a file of its name.
                for first, last in ((key, key), (key + SEPARATOR, key + _BEHIND)):
                    numbers = (bisect_right(firsts, first) - 1, bisect_right(firsts, last) - 1)
                    found.update(range(max(numbers[0], start), min(max(numbers[1], start), stop - 1) + 1))
            yield path, found

    def rows_besides(self, numbers: Collection[int]) -> int:
        """How many rows the other parts have."""
        return sum(part.rows for number, part in enumerate(self.parts) if number not in numbers)

    def row_groups_of(self, numbers: Iterable[int]) -> list[int]:
        """The numbers of the row groups of some parts."""
        firsts = [*accumulate((len(part.row_groups) for part in self.parts), initial=0)]
        return [group for number in sorted(numbers) for group in range(firsts[number], firsts[number + 1])]


class ReplacedParts(Struct, frozen=True):
    """What takes the place of consecutive parts: rows from `start` to `stop` of the new ones."""

    parts: range
    start: int
    stop: int


def find_replacements(old: PartList, touched: Collection[int], keys: Sequence[str]) -> list[ReplacedParts] | set[int]:
    """Where new rows, by their keys in order, take the place of touched parts; or parts that are touched too.

    A part is touched, too, where it would no longer begin with its first row.
    """
    parts, found, more = old.parts, list[ReplacedParts](), set[int]()
    for run in _runs(touched):
        is_last = run.stop == len(parts)
        start = bisect_left(keys, _least_key(parts, run.start))
        stop = len(keys) if is_last else bisect_left(keys, _least_key(parts, run.stop))
        before = parts[run.start - 1].last if run.start else None
        if start < stop and not _begins(keys[start], before):
            more.add(run.start - 1)
        if not is_last and not _begins(parts[run.stop].first, keys[stop - 1] if start < stop else before):
            more.add(run.stop)
        found.append(ReplacedParts(run, start, stop))
    if sum(one.stop - one.start for one in found) != len(keys):
        raise ValueError("some of the rows are of other files than those that are replaced")
    return more or found


def _least_key(parts: Sequence[TablePart], number: int) -> str:
    """The least key that a row of a part may have."""
    part = parts[number]
    is_first = not number or parts[number - 1].group != part.group
    return part.group + _BETWEEN if is_first else part.first


def _runs(numbers: Iterable[int]) -> list[range]:
    """Consecutive numbers together."""
    ordered = sorted(numbers)
    breaks = [at for at, (one, two) in enumerate(pairwise(ordered), 1) if two != one + 1]
    return [range(ordered[a], ordered[b - 1] + 1) for a, b in pairwise([0, *breaks, len(ordered)])] if ordered else []


def is_cut(spec: TableSpec, rows: int) -> bool:
    """Whether a table of so many rows has parts that begin with a path."""
    return bool(rows and spec.cut_by and MODULUS and rows >= (LEAST_SOURCES if spec.has_sources else LEAST_ROWS))


def are_large_enough(parts: int, rows: int) -> bool:
    """Whether parts have enough rows on average for a table to be cut into them."""
    return rows >= parts * LEAST_PART_ROWS


def keys_of(ordered: OrderedRows, spec: TableSpec) -> pa.Array:
    """The key of each row by which parts are found: its group, and its path or id."""
    ids = _as_ids(ordered.column(spec.cut_by))
    is_grouped = spec.sort_by[0] != spec.cut_by
    group = ordered.column(spec.sort_by[0]) if is_grouped else pa.repeat(pa.scalar("", pa.string()), len(ids))
    return pc.binary_join_element_wise(group, ids, _BETWEEN)


def _as_ids(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The column of ids or paths; of numbers, which are added at the end, some are one path."""
    if not pa.types.is_integer(column.type):
        return column
    return pc.utf8_lpad(pc.divide(column, _NUMBERS_TOGETHER).cast(pa.string()), 16, "0")


def paths_of_rows(rows: pa.Table, spec: TableSpec) -> pa.ChunkedArray:
    """The path of each row, by which it is replaced."""
    return paths_of(_as_ids(rows.column(spec.cut_by)))


def rows_of_files(rows: pa.Table, spec: TableSpec, paths: Collection[str], *, are_wanted: bool = True) -> pa.Table:
    """The rows of some files, or all others."""
    is_of_them = pc.is_in(paths_of_rows(rows, spec), value_set=pa.array([*paths], pa.string()))
    return rows.filter(is_of_them if are_wanted else pc.invert(is_of_them))


def paths_of(ids: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The path of the file of each id."""
    return pc.list_element(pc.split_pattern(ids, SEPARATOR, max_splits=1), 0)


def find_spans(keys: pa.Array, *, by_path: bool) -> list[slice]:
    """Where the parts of rows are, by their keys in order."""
    encoded = paths_of(keys).dictionary_encode()
    paths, numbers = encoded.dictionary.to_pylist(), encoded.indices.to_numpy()
    groups = np.unique(np.array([path.partition(_BETWEEN)[0] for path in paths], dtype=str), return_inverse=True)[1]
    cuts = np.array([by_path and _cuts(path.partition(_BETWEEN)[2]) for path in paths], dtype=bool)
    is_other_path, is_other_group = (np.ones(len(numbers), dtype=bool) for _ in range(2))
    is_other_path[1:] = np.diff(numbers) != 0
    is_other_group[1:] = np.diff(groups[numbers]) != 0
    starts = np.flatnonzero(is_other_group | (is_other_path & cuts[numbers])).tolist()
    return [slice(*span) for span in pairwise([*starts, len(numbers)])]


def _begins(key: str, before: str | None) -> bool:
    """Whether a row begins a part, by its key and that of the row before it."""
    if before is None:
        return True
    (group, _, id_), (group_before, _, id_before) = key.partition(_BETWEEN), before.partition(_BETWEEN)
    path = id_.partition(SEPARATOR)[0]
    return group != group_before or (path != id_before.partition(SEPARATOR)[0] and _cuts(path))


@lru_cache(maxsize=1 << 16)
def _cuts(path: str) -> bool:
    digest = hashlib.sha1(path.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:8], "big") % MODULUS == 0


class _HashingFile(io.RawIOBase):
    """A file that keeps the hash of what is written to it."""

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        return len(data)


def column_hash(values: pa.Array, field: pa.Field) -> str:
    """The sha256 of a column in Arrow's stream format, which leaves out offsets, padding and unused bitmaps.

    The values are one array, since a stream shows where chunks end.
    """
    column = pa.table([values], schema=pa.schema([field]))
    digest = _HashingFile()
    with pa.ipc.new_stream(pa.PythonFile(digest, mode="w"), column.schema) as stream:
        stream.write_table(column)
    return digest.sha256.hexdigest()


def list_parts(
    ordered: OrderedRows, spec: TableSpec, within: slice | None = None, *, by_path: bool = True
) -> list[tuple[TablePart, slice]]:
    """The parts of rows, or of some of them, each with where its rows are; none where all would be too small."""
    keys = keys_of(ordered, spec)
    spans = find_spans(keys[within] if within else keys, by_path=by_path)
    if by_path and within is None and not are_large_enough(len(spans), len(keys)):
        return []
    within = within or slice(0, len(keys))
    columns = [(field, ordered.column(field.name)) for field in spec.schema]
    found = []
    for span in spans:
        start, stop = span.start + within.start, span.stop + within.start
        # Taken, for a slice shares its last bytes with what follows, and they would be hashed.
        rows = pa.array(np.arange(start, stop))
        hashes = {field.name: column_hash(column.take(rows), field) for field, column in columns}
        part = TablePart(keys[start].as_py(), keys[stop - 1].as_py(), stop - start, hashes)
        found.append((part, slice(start, stop)))
    return found
