"""Many strings as two arrays that can be mapped into memory: nothing is read until something is looked up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from codesum_pipeline.indexes.stored_zip import Array


@dataclass(frozen=True, slots=True)
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

    def with_prefix(self, prefix: str) -> range:
        """The positions of all strings that start with `prefix`, which is not empty."""
        wanted = prefix.encode()
        first = self._first_not_below(wanted, 0, len(self))
        # No UTF-8 text holds the byte 0xff: this sorts behind every string with the prefix.
        return range(first, self._first_not_below(wanted + b"\xff", first, len(self)))

    def _first_not_below(self, wanted: bytes, low: int, high: int) -> int:
        while low < high:
            middle = (low + high) // 2
            if self._bytes_at(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def _bytes_at(self, position: int) -> bytes:
        return self.content[self.offsets[position] : self.offsets[position + 1]].tobytes()
