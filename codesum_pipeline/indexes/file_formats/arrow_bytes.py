"""Arrow strings, many at a time, without a Python string for each: their UTF-8 bytes and their words.

Words are those of ASCII texts: what a byte is decides alone where a word begins, so that all bytes of all texts are
looked at in a few passes.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct


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


Bytes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]

# What a byte is: between words, a word of its own, or part of a word as long as such bytes follow one another.
GAP, MARK, PART = 0, 1, 2


class TextWords(Struct, frozen=True):
    """Text after text the positions of its words in `vocabulary`, which has each word once; `lengths` says how many
    words each text has."""

    vocabulary: pa.LargeStringArray
    numbers: Integers
    lengths: Integers


def byte_kinds(*, parts: str, marks: str = "") -> Bytes:
    """A table of what each byte is, for `split_words`."""
    kinds = np.full(256, GAP, dtype=np.uint8)
    kinds[list(parts.encode("ascii"))] = PART
    kinds[list(marks.encode("ascii"))] = MARK
    return kinds


def has_bytes(texts: pa.LargeStringArray, wanted: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which texts have a byte of those in the table `wanted`."""
    content, offsets = utf8_and_offsets(texts)
    found = np.flatnonzero(wanted[content])
    counts: Integers = np.diff(np.searchsorted(found, offsets))
    return counts > 0


def split_words(texts: pa.LargeStringArray, kinds: Bytes, *, leave_out: npt.NDArray[np.bool_]) -> TextWords:
    """The words of ASCII texts; of those to `leave_out`, which may hold anything, none."""
    content, offsets = utf8_and_offsets(texts)
    if leave_out.any():
        content = np.where(np.repeat(leave_out, np.diff(offsets)), np.uint8(np.flatnonzero(kinds == GAP)[0]), content)
    data = content.tobytes()
    of_bytes = np.frombuffer(data.translate(kinds.tobytes()), dtype=np.uint8)
    begins = of_bytes == PART
    begins[1:] &= of_bytes[:-1] != PART
    # A word never reaches into the next text.
    firsts = offsets[:-1][offsets[:-1] < offsets[1:]]
    begins[firsts] = of_bytes[firsts] == PART
    begins |= of_bytes == MARK
    ends = of_bytes != GAP
    ends[:-1] &= begins[1:] | ~ends[1:]
    places = np.flatnonzero(begins)
    sizes = np.flatnonzero(ends) - places + 1
    kept = np.frombuffer(data.translate(None, delete=np.flatnonzero(kinds == GAP).astype(np.uint8).tobytes()), np.uint8)
    bounds = np.append(np.cumsum(sizes) - sizes, len(kept)).astype(np.int64)
    words = pa.LargeStringArray.from_buffers(len(sizes), pa.py_buffer(bounds), pa.py_buffer(kept)).dictionary_encode()
    lengths = np.diff(np.searchsorted(places, offsets))
    return TextWords(words.dictionary, words.indices.to_numpy().astype(np.int64), lengths)
