"""Many strings as two arrays that can be mapped into memory: nothing is read until something is looked up."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from codesum_pipeline.indexes.stored_zip import Array

# As many as one number holds.
_HEAD_BYTES = 8


@dataclass(frozen=True)
class StringTable:
    """The UTF-8 bytes of string k are `content[offsets[k]:offsets[k + 1]]`.

    `find` and `with_prefix` need the strings sorted by those bytes, which is how Python sorts strings.
    """

    content: Array
    offsets: Array

    @classmethod
    def of(cls, strings: Sequence[str]) -> "StringTable":
        """Keep the strings in the given order."""
        encoded = [string.encode() for string in strings]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, position: int) -> str:
        return self._bytes_at(position).decode()

    def __iter__(self) -> Iterator[str]:
        return (self[position] for position in range(len(self)))

    def find(self, string: str, *, start: int = 0, end: int | None = None) -> int | None:
        """The position of a string between two positions, or None."""
        last = len(self) if end is None else end
        wanted = string.encode()
        position = self._first_not_below(wanted, start, last)
        return position if position < last and self._bytes_at(position) == wanted else None

    def find_all(self, strings: Sequence[str]) -> list[int | None]:
        """The position of each string, or None: of several strings faster than one after the other."""
        heads = np.array([_head(string.encode()) for string in strings], dtype=np.uint64)
        lows, highs = (np.searchsorted(self._sorted_heads, heads, side=side).tolist() for side in ("left", "right"))
        return [self.find(string, start=low, end=high) for string, low, high in zip(strings, lows, highs, strict=True)]

    @cached_property
    def _sorted_heads(self) -> Array:
        return _heads(self.content, self.offsets)

    def with_prefix(self, prefix: str) -> range:
        """The positions of all strings that start with `prefix`, which is not empty."""
        wanted = prefix.encode()
        first = self._first_not_below(wanted, 0, len(self))
        # No UTF-8 text holds the byte 0xff: this sorts behind every string with the prefix.
        return range(first, self._first_not_below(wanted + b"\xff", first, len(self)))

    def _first_not_below(self, wanted: bytes, low: int, high: int) -> int:
        # Views, not arrays: a query looks at hundreds of strings, and an array takes its time for a single number.
        content, offsets = self.content.data, self.offsets.data

        def string_at(position: int) -> bytes:
            return content[offsets[position] : offsets[position + 1]].tobytes()

        return bisect_left(range(high), wanted, low, high, key=string_at)

    def _bytes_at(self, position: int) -> bytes:
        return self.content[self.offsets[position] : self.offsets[position + 1]].tobytes()


def _head(string: bytes) -> int:
    """The first eight bytes as one number, which sorts as the strings do where they differ in these."""
    return int.from_bytes(string[:_HEAD_BYTES].ljust(_HEAD_BYTES, b"\0"), "big")


def _heads(content: Array, offsets: Array) -> Array:
    """The head of each string."""
    starts, lengths = offsets[:-1], np.diff(offsets)
    heads = np.zeros((len(starts), _HEAD_BYTES), dtype=np.uint8)
    for place in range(_HEAD_BYTES):
        long = np.flatnonzero(lengths > place)
        heads[long, place] = content[starts[long] + place]
    return heads.view(">u8").reshape(-1).astype(np.uint64)
