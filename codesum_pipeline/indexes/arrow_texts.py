"""The UTF-8 bytes of Arrow strings, without a Python string for each."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa


def utf8_of(texts: pa.LargeStringArray) -> memoryview:
    """All texts, one behind the other; none is null."""
    offsets, content = _buffers(texts)
    return content[offsets[0] : offsets[-1]]


def utf8_parts(texts: pa.LargeStringArray) -> Iterator[memoryview]:
    """Each text; none is null."""
    offsets, content = _buffers(texts)
    return (content[start:end] for start, end in pairwise(offsets))


def _buffers(texts: pa.LargeStringArray) -> tuple[list[int], memoryview]:
    _, offsets, content = texts.buffers()
    where = np.frombuffer(offsets or bytes(8), dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return where.tolist(), memoryview(content or b"")
