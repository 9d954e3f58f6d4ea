"""The row groups of Parquet files as bytes: a new file takes those of an old one as they are, without decoding them.

Nothing in the bytes of a row group says where in its file they are: only the footer does. So a file is put together of
groups of an old file and new ones, and in the footer the old groups' positions are moved. The footer is a struct in
Thrift's compact protocol (https://github.com/apache/parquet-format, `parquet.thrift`), whose other fields are those
that Arrow writes for an empty file.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import accumulate, chain, islice, pairwise
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

Integers = npt.NDArray[np.int64]

_MAGIC = b"PAR1"
# The length of the footer, and the magic.
_TAIL = 8
_COPIED_BYTES = 1 << 20
# Of a number of 63 bits.
_LONGEST_VARINT = 9
# Kinds of Thrift's compact protocol.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS = (4, 5, 6)
# Field numbers in `parquet.thrift`: of a file, a row group, a chunk of a column, and what is said about it.
_FILE_ROWS, _FILE_GROUPS = 3, 4
_GROUP_CHUNKS, _GROUP_OFFSET, _GROUP_ORDINAL = 1, 5, 7
_CHUNK_ABOUT, _CHUNK_OFFSETS = 3, (2, 4, 6)
_ABOUT_OFFSETS = (9, 10, 11, 14)


class RowGroup(Struct, frozen=True, array_like=True):
    """One row group in a footer: how long its description is, and where in it the positions in the file are, and its
    number among all groups."""

    length: int
    places: tuple[int, ...]
    ordinal: int | None


class _Field(NamedTuple):
    number: int
    kind: int
    start: int
    end: int


def _fields(data: bytes, at: int) -> Iterator[_Field]:
    """The fields of a struct; the last one, numbered 0, is the byte that ends it."""
    number = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            coded, at = _varint(data, at)
            number = coded >> 1
        end = _end(data, at, head & 15)
        yield _Field(number, head & 15, at, end)
        at = end
    yield _Field(0, 0, at, at + 1)


def _end(data: bytes, at: int, kind: int) -> int:
    """Where a value ends that begins at `at`."""
    if kind in _INTEGERS:
        while data[at] & 0x80:
            at += 1
        return at + 1
    if kind == _BINARY:
        length, at = _varint(data, at)
        return at + length
    if kind == _STRUCT:
        while head := data[at]:
            at += 1
            if not head >> 4:
                _, at = _varint(data, at)
            at = _end(data, at, head & 15)
        return at + 1
    if kind in (_LIST, _SET):
        return _items(data, at)[1]
    return at + {_TRUE: 0, _FALSE: 0, _BYTE: 1, _DOUBLE: 8}[kind]


def _items(data: bytes, at: int) -> tuple[list[int], int]:
    """Where the items of a list begin, and where the list ends."""
    count, kind = data[at] >> 4, data[at] & 15
    at += 1
    if count == 15:
        count, at = _varint(data, at)
    starts = []
    for _ in range(count):
        starts.append(at)
        # Among fields a truth value is part of the head, in a list it is a byte.
        at = at + 1 if kind in (_TRUE, _FALSE) else _end(data, at, kind)
    return starts, at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while (byte := data[at]) & 0x80:
        value |= (byte & 0x7F) << shift
        shift += 7
        at += 1
    return value | byte << shift, at + 1


def _as_varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _describe(data: bytes, start: int) -> RowGroup:
    """Find the positions in a row group's description."""
    places: list[int] = []
    ordinal = None
    *fields, stop = _fields(data, start)
    for field in fields:
        if field.number == _GROUP_CHUNKS:
            places += (place for chunk in _items(data, field.start)[0] for place in _places(data, chunk))
        elif field.number == _GROUP_OFFSET:
            places.append(field.start)
        elif field.number == _GROUP_ORDINAL:
            ordinal = field.start - start
    return RowGroup(stop.end - start, tuple(place - start for place in places), ordinal)


def _places(data: bytes, chunk: int) -> Iterator[int]:
    for field in _fields(data, chunk):
        if field.number == _CHUNK_ABOUT:
            yield from (one.start for one in _fields(data, field.start) if one.number in _ABOUT_OFFSETS)
        elif field.number in _CHUNK_OFFSETS and data[field.start]:
            # Arrow writes 0 where a chunk is described in the footer alone.
            yield field.start


def _moved(described: bytes, groups: Sequence[RowGroup], *, by: int, ordinals: int) -> list[tuple[bytes, RowGroup]]:
    """The descriptions of row groups, one behind the other, that are moved by so many bytes, and by so many groups."""
    starts = [*accumulate((group.length for group in groups), initial=0)]
    if not (by or ordinals):
        return [(described[at:end], group) for group, (at, end) in zip(groups, pairwise(starts), strict=True)]
    of_group = [[*group.places, *([] if group.ordinal is None else [group.ordinal])] for group in groups]
    counts = [*map(len, of_group)]
    places = np.array([*chain.from_iterable(of_group)], dtype=np.int64) + np.repeat(starts[:-1], counts)
    moves = np.full(len(places), by, dtype=np.int64)
    lasts = np.cumsum(counts) - 1
    moves[[last for last, group in zip(lasts, groups, strict=True) if group.ordinal is not None]] = ordinals
    data, now = _with_sums(described, places, moves)
    # How far each group, and what is behind the last, has been moved by longer numbers before it.
    lengths = np.append(now - places, len(data) - len(described))
    firsts = np.append([0], np.cumsum(counts))
    ends = [start + int(lengths[first]) for start, first in zip(starts, firsts, strict=True)]
    found = []
    for number, (group, (at, end)) in enumerate(zip(groups, pairwise(ends), strict=True)):
        *own, last = (now[firsts[number] : firsts[number + 1]] - at).tolist()
        own, ordinal = ([*own, last], None) if group.ordinal is None else (own, last)
        found.append((data[at:end], RowGroup(end - at, tuple(own), ordinal)))
    return found


def _with_sums(data: bytes, places: Integers, summands: Integers) -> tuple[bytes, Integers]:
    """Bytes in which something is added to the numbers at some places, and where these are then."""
    order = np.argsort(places, kind="stable")
    at, added = places[order], summands[order]
    read = np.frombuffer(data + bytes(_LONGEST_VARINT), dtype=np.uint8)
    values, lengths = np.zeros(len(at), dtype=np.int64), np.zeros(len(at), dtype=np.int64)
    goes_on = np.ones(len(at), dtype=np.bool_)
    while goes_on.any():
        byte = read[at + lengths].astype(np.int64)
        values |= np.where(goes_on, (byte & 0x7F) << (7 * lengths), 0)
        # Where a number has ended, its length stays.
        goes_on, lengths = goes_on & (byte > 0x7F), lengths + goes_on
    # Positive numbers are coded as their doubles.
    values += 2 * added
    longer = np.ones(len(at), dtype=np.int64)
    for size in range(1, _LONGEST_VARINT):
        longer += values >= (1 << (7 * size))
    before = np.cumsum(longer - lengths) - (longer - lengths)
    now = at + before
    written = np.empty(len(data) + int((longer - lengths).sum()), dtype=np.uint8)
    is_kept, is_old = np.ones(len(data), dtype=np.bool_), np.ones(len(written), dtype=np.bool_)
    for size in range(_LONGEST_VARINT):
        is_kept[at[lengths > size] + size] = False
        some = longer > size
        goes_on = longer[some] > size + 1
        written[now[some] + size] = (values[some] >> (7 * size)) & 0x7F | (goes_on * 0x80)
        is_old[now[some] + size] = False
    written[is_old] = read[: len(data)][is_kept]
    found = np.empty_like(now)
    found[order] = now
    return written.tobytes(), found


def _read_footer(file: BinaryIO) -> bytes:
    """The footer of a file; raises `ArrowInvalid` if it has none."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > size - _TAIL:
        raise pa.ArrowInvalid("it has no footer")
    file.seek(size - _TAIL - length)
    return file.read(length)


def _first_group(footer: bytes) -> tuple[int, int]:
    """How many row groups a footer describes, and where the first description begins."""
    at = number = 0
    while head := footer[at]:
        number, at = number + (head >> 4), at + 1
        if number == _FILE_GROUPS:
            count = footer[at] >> 4
            return (count, at + 1) if count < 15 else _varint(footer, at + 1)
        at = _end(footer, at, head & 15)
    raise pa.ArrowInvalid("its footer cannot be read")


def _with_groups(footer: bytes, described: Sequence[bytes], rows: int) -> bytes:
    """The footer of a file without rows, of these row groups."""
    by_number = {field.number: field for field in _fields(footer, 0)}
    before, after = by_number[_FILE_ROWS], by_number[_FILE_GROUPS]
    count = len(described)
    head = bytes([count << 4 | _STRUCT]) if count < 15 else bytes([0xF0 | _STRUCT]) + _as_varint(count)
    return b"".join(
        [footer[: before.start], _as_varint(2 * rows), footer[before.end : after.start], head, *described,
         footer[after.end :]]
    )  # fmt: skip


class WrittenParts:
    """An open Parquet file whose parts can be taken over: of each its length in bytes, and its row groups."""

    def __init__(self, file: BinaryIO, lengths: Iterable[int], groups: Iterable[Sequence[RowGroup]]) -> None:
        self._file = file
        footer = _read_footer(file)
        self._starts = [*accumulate(lengths, initial=len(_MAGIC))]
        self._groups = [*groups]
        _, first = _first_group(footer)
        sizes = (sum(group.length for group in some) for some in self._groups)
        self._footer, self._described = footer, [*accumulate(sizes, initial=first)]
        if self._starts[-1] != file.seek(0, 2) - _TAIL - len(footer):
            raise pa.ArrowInvalid("its parts are not where its footer says")
        self._firsts = [*accumulate(map(len, self._groups), initial=0)]

    def length(self, part: int) -> int:
        """How many bytes a part has."""
        return self._starts[part + 1] - self._starts[part]

    def data(self, parts: range) -> Iterator[bytes]:
        """The bytes of parts that follow each other."""
        self._file.seek(self._starts[parts.start])
        left = self._starts[parts.stop] - self._starts[parts.start]
        while left:
            some = self._file.read(min(left, _COPIED_BYTES))
            if not some:
                raise pa.ArrowInvalid("it is cut off")
            left -= len(some)
            yield some

    def described(self, parts: range, *, at: int, first: int) -> list[list[tuple[bytes, RowGroup]]]:
        """The descriptions of each part's groups in a file where the parts begin at `at`, and their groups are the
        `first` and next."""
        by, ordinals = at - self._starts[parts.start], first - self._firsts[parts.start]
        described = self._footer[self._described[parts.start] : self._described[parts.stop]]
        groups = [*chain.from_iterable(self._groups[parts.start : parts.stop])]
        moved = iter(_moved(described, groups, by=by, ordinals=ordinals))
        return [[*islice(moved, len(self._groups[part]))] for part in parts]


class _Inside(Struct, eq=False):
    """Where Arrow writes a file whose row groups become part of another: its frame is left out."""

    file: BinaryIO
    written: int = 0
    footer: BytesIO | None = None
    closed: bool = False

    def write(self, data: Any) -> int:
        size = len(data)
        if self.footer is not None:
            self.footer.write(data)
        elif self.written:
            self.file.write(data)
        elif bytes(data) != _MAGIC:
            raise ValueError(f"Arrow begins a file with {bytes(data)[:8]!r}")
        self.written += size
        return size

    def flush(self) -> None:
        """The outer file does."""


class PartsWriter:
    """Writes a Parquet file part by part; `options` are those of `ParquetWriter`."""

    def __init__(self, file: BinaryIO, schema: pa.Schema, options: Mapping[str, Any]) -> None:
        self._file, self._schema, self._options = file, schema, options
        self._at = file.write(_MAGIC)
        self._described: list[bytes] = []
        self._rows = 0

    def take_over(self, source: WrittenParts, parts: range, rows: Sequence[int]) -> list[tuple[RowGroup, ...]]:
        """Add parts of another file that follow each other there, as they are; returns the groups of each."""
        described = source.described(parts, at=self._at, first=len(self._described))
        for some in source.data(parts):
            self._at += self._file.write(some)
        return [self._describe(found, count) for found, count in zip(described, rows, strict=True)]

    def add(self, tables: Iterable[pa.Table]) -> tuple[int, tuple[RowGroup, ...]]:
        """Add a part of one row group for each of some tables; returns its length and its groups."""
        sink, rows = _Inside(self._file), 0
        with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), self._schema, **self._options) as writer:
            for some in tables:
                writer.write_table(some)
                rows += some.num_rows
            length, sink.footer = sink.written - len(_MAGIC), BytesIO()
        footer = sink.footer.getvalue()
        count, start = _first_group(footer)
        groups, end = [], start
        for _ in range(count):
            groups.append(_describe(footer, end))
            end += groups[-1].length
        by, first = self._at - len(_MAGIC), len(self._described)
        found = _moved(footer[start:end], groups, by=by, ordinals=first)
        self._at += length
        return length, self._describe(found, rows)

    def finish(self, metadata: Mapping[bytes, bytes]) -> None:
        """Write the footer, with what is to be kept there."""
        empty = BytesIO()
        with pq.ParquetWriter(empty, self._schema, **self._options) as writer:
            # Not as the schema's, of which the footer has a copy.
            writer.add_key_value_metadata(dict(metadata))
        footer = _with_groups(_read_footer(empty), self._described, self._rows)
        self._file.write(footer + len(footer).to_bytes(4, "little") + _MAGIC)

    def _describe(self, found: Sequence[tuple[bytes, RowGroup]], rows: int) -> tuple[RowGroup, ...]:
        self._described += (described for described, _ in found)
        self._rows += rows
        return tuple(group for _, group in found)
