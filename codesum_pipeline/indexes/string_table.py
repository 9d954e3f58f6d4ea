"""Many strings as two arrays that can be mapped into memory: nothing is read until something is looked up."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

import numpy as np
from msgspec import Struct

from codesum_pipeline.indexes.stored_zip import Array

# As many as one number holds.
_HEAD_BYTES = 8


class StringTable(Struct, frozen=True, dict=True):
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
        return self._find(string.encode(), start, len(self) if end is None else end)

    def find_all(self, strings: Sequence[str]) -> list[int | None]:
        """The position of each string, or None: of several strings faster than one after the other."""
        wanted, heads = _with_heads(tuple(strings))
        found: list[int | None] = [None] * len(wanted)
        if not len(self):
            return found
        ours, (content, offsets) = self._sorted_heads, self._views
        lows = ours.searchsorted(heads)
        # Of most strings nothing has the head, and of most others the first that has it is the string.
        (there,) = (ours.take(lows, mode="clip") == heads).nonzero()
        highs = ours.searchsorted(heads[there], side="right")
        for place, low, high in zip(there.tolist(), lows[there].tolist(), highs.tolist(), strict=True):
            if content[offsets[low] : offsets[low + 1]].tobytes() == wanted[place]:
                found[place] = low
            elif high > low + 1:
                found[place] = self._find(wanted[place], low + 1, high)
        return found

    @cached_property
    def _sorted_heads(self) -> Array:
        return _heads(self.content, self.offsets)

    def with_prefix(self, prefix: str) -> range:
        """The positions of all strings that start with `prefix`, which is not empty."""
        wanted = prefix.encode()
        # No UTF-8 text holds the byte 0xff: this sorts behind every string with the prefix.
        last = wanted + b"\xff" * _HEAD_BYTES
        heads = self._sorted_heads
        low = int(heads.searchsorted(np.uint64(_head(wanted))))
        high = int(heads.searchsorted(np.uint64(_head(last)), side="right"))
        first = self._first_not_below(wanted, low, high)
        return range(first, self._first_not_below(last, first, high))

    def _find(self, wanted: bytes, start: int, end: int) -> int | None:
        position = start if end - start == 1 else self._first_not_below(wanted, start, end)
        return position if position < end and self._bytes_at(position) == wanted else None

    def _first_not_below(self, wanted: bytes, low: int, high: int) -> int:
        return bisect_left(range(high), wanted, low, high, key=self._bytes_at)

    @cached_property
    def _views(self) -> tuple[memoryview, memoryview]:
        """A query looks at hundreds of strings, and an array takes its time for a single number."""
        return self.content.data, self.offsets.data

    def _bytes_at(self, position: int) -> bytes:
        content, offsets = self._views
        return content[offsets[position] : offsets[position + 1]].tobytes()


# The same strings are looked for in one table after the other.
@lru_cache(maxsize=16)
def _with_heads(strings: tuple[str, ...]) -> tuple[list[bytes], Array]:
    encoded = [string.encode() for string in strings]
    return encoded, np.array(encoded, dtype=f"S{_HEAD_BYTES}").view(">u8").astype(np.uint64)


def _head(string: bytes) -> int:
    """The first eight bytes as one number, which sorts as the strings do where they differ in these."""
    return int.from_bytes(string[:_HEAD_BYTES].ljust(_HEAD_BYTES, b"\0"), "big")


def _heads(content: Array, offsets: Array) -> Array:
    """The head of each string."""
    padded = np.concatenate((content, np.zeros(_HEAD_BYTES, dtype=np.uint8)))
    # The number that begins at each byte: a view, in which numbers overlap.
    numbers = np.ndarray(len(content) + 1, dtype=">u8", buffer=padded.data, strides=(1,))
    beyond = np.uint64(8) * (_HEAD_BYTES - np.minimum(np.diff(offsets), _HEAD_BYTES)).astype(np.uint64)
    heads = numbers[offsets[:-1]].astype(np.uint64)
    # What follows a short string is not its own; an empty one has nothing, and numpy shifts by less than all bits.
    return np.where(beyond < 64, heads >> beyond % 64 << beyond % 64, np.uint64(0))
