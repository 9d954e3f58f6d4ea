"""The row groups of Parquet files as bytes: a new file takes those of an old one as they are, without decoding them.

Nothing in the bytes of a row group says where in its file they are: only the footer does. So a file is put together of
groups of an old file and new ones, and in the footer the old groups' positions are moved. The footer is a struct in
Thrift's compact protocol (https://github.com/apache/parquet-format, `parquet.thrift`), whose other fields are those
that Arrow writes for an empty file.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import accumulate, pairwise
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

_MAGIC = b"PAR1"
# The length of the footer, and the magic.
_TAIL = 8
_COPIED_BYTES = 1 << 20
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


def _moved(described: bytes, group: RowGroup, *, by: int, ordinals: int) -> tuple[bytes, RowGroup]:
    """A row group that is moved by so many bytes, and by so many groups."""
    if not (by or ordinals):
        return described, group
    moves = dict.fromkeys(group.places, by) | ({} if group.ordinal is None else {group.ordinal: ordinals})
    # A table has tens of thousands of places, so that numbers are read and written here.
    data, at, now = bytearray(), 0, {}
    for place in sorted(moves):
        data += described[at:place]
        now[place] = len(data)
        coded = shift = 0
        at = place
        while (byte := described[at]) > 0x7F:
            coded |= (byte & 0x7F) << shift
            shift += 7
            at += 1
        # Positive numbers are coded as their doubles.
        value = (coded | byte << shift) + 2 * moves[place]
        at += 1
        while value > 0x7F:
            data.append(value & 0x7F | 0x80)
            value >>= 7
        data.append(value)
    data += described[at:]
    ordinal = None if group.ordinal is None else now[group.ordinal]
    return bytes(data), RowGroup(len(data), tuple([now[place] for place in group.places]), ordinal)


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
        _, first = _first_group(footer)
        self._groups = []
        for some in groups:
            ends = [*accumulate((group.length for group in some), initial=first)]
            self._groups.append(
                [(footer[at:end], group) for group, (at, end) in zip(some, pairwise(ends), strict=True)]
            )
            first = ends[-1]
        if self._starts[-1] != file.seek(0, 2) - _TAIL - len(footer):
            raise pa.ArrowInvalid("its parts are not where its footer says")
        self._firsts = [*accumulate(map(len, self._groups), initial=0)]

    def data(self, part: int) -> Iterator[bytes]:
        """The bytes of a part."""
        self._file.seek(self._starts[part])
        left = self._starts[part + 1] - self._starts[part]
        while left:
            some = self._file.read(min(left, _COPIED_BYTES))
            if not some:
                raise pa.ArrowInvalid("it is cut off")
            left -= len(some)
            yield some

    def described(self, part: int, *, at: int, first: int) -> list[tuple[bytes, RowGroup]]:
        """The descriptions of a part's groups in a file where it begins at `at`, and they are the `first` and next."""
        by, ordinals = at - self._starts[part], first - self._firsts[part]
        return [_moved(described, group, by=by, ordinals=ordinals) for described, group in self._groups[part]]


class _Inside:
    """Where Arrow writes a file whose row groups become part of another: its frame is left out."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.written = 0
        self.footer: BytesIO | None = None
        self.closed = False

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

    def take_over(self, source: WrittenParts, part: int, rows: int) -> tuple[RowGroup, ...]:
        """Add a part of another file, as it is."""
        at = self._at
        for some in source.data(part):
            self._at += self._file.write(some)
        return self._describe(source.described(part, at=at, first=len(self._described)), rows)

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
        first, by, found = len(self._described), self._at - len(_MAGIC), []
        for _ in range(count):
            group = _describe(footer, start)
            found.append(_moved(footer[start : start + group.length], group, by=by, ordinals=first))
            start += group.length
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
