"""The UTF-8 bytes of Arrow strings, without a Python string for each."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def utf8_of(texts: pa.LargeStringArray) -> memoryview:
    """All texts, one behind the other; none is null."""
    offsets, content = _buffers(texts)
    return content[offsets[0] : offsets[-1]]


def utf8_parts(texts: pa.LargeStringArray) -> Iterator[memoryview]:
    """Each text; none is null."""
    offsets, content = _buffers(texts)
    return (content[start:end] for start, end in pairwise(offsets.tolist()))


def utf8_and_offsets(texts: pa.LargeStringArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """All texts, one behind the other, and where each begins and the last one ends; none is null."""
    offsets, content = _buffers(texts)
    return np.frombuffer(content, dtype=np.uint8)[offsets[0] : offsets[-1]], offsets - offsets[0]


def _buffers(texts: pa.LargeStringArray) -> tuple[npt.NDArray[np.int64], memoryview]:
    _, offsets, content = texts.buffers()
    where = np.frombuffer(offsets or bytes(8), dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return where, memoryview(content or b"")
