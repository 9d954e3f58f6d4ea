"""Many texts as lines and words, with no Python string for any but the distinct words."""

import string
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.indexes.embedders.tokenizer_calls import Lists, make_encodable
from codesum_pipeline.indexes.file_formats.arrow_texts import byte_kinds, has_bytes, split_words, utf8_and_offsets

_KINDS = byte_kinds(parts=string.ascii_lowercase + string.digits, marks=string.punctuation)
_NO_PART, _LOWER, _UPPER, _DIGIT = range(4)
_PARTS = np.array(
    [
        _LOWER if byte in string.ascii_lowercase.encode() else
        _UPPER if byte in string.ascii_uppercase.encode() else
        _DIGIT if byte in string.digits.encode() else _NO_PART
        for byte in range(256)
    ],
    dtype=np.uint8,
)  # fmt: skip
# White space within a line is never part of a word.
_IS_UNPRINTABLE = np.isin(np.arange(256), [*range(ord(" "), ord("~") + 1), *b"\t\r"], invert=True)


def split_texts(
    texts: Sequence[str], *, special: Sequence[str], words_of_line: Callable[[str], Sequence[str]]
) -> tuple[Lists, list[str], Lists]:
    """The texts as positions of distinct lines; the distinct words; the distinct lines as positions of words. Lines of
    printable ASCII without `special` strings are cut into the parts of identifiers and marks, in lower case; the others
    are given to `words_of_line`."""
    split = pc.split_pattern(_strings(texts), "\n")
    lines = split.flatten().dictionary_encode()
    lengths = pc.list_value_length(split).to_numpy().astype(np.int64)
    words, found = _split_lines(lines.dictionary, special, words_of_line)
    return Lists(lines.indices.to_numpy().astype(np.int64), lengths), words, found


def _strings(texts: Sequence[str]) -> pa.LargeStringArray:
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:
        return pa.array(map(make_encodable, texts), pa.large_string())


def _split_lines(
    lines: pa.LargeStringArray, special: Sequence[str], words_of_line: Callable[[str], Sequence[str]]
) -> tuple[list[str], Lists]:
    is_other = has_bytes(lines, _IS_UNPRINTABLE)
    for text in special:
        is_other |= pc.match_substring(lines, text).to_numpy(zero_copy_only=False)
    plain = split_words(pc.ascii_lower(_with_cut_identifiers(lines)), _KINDS, leave_out=is_other)
    numbers = {word: number for number, word in enumerate(plain.vocabulary.to_pylist())}
    others = np.flatnonzero(is_other)
    named = map(words_of_line, lines.take(pa.array(others)).to_pylist())
    added = Lists.of([[numbers.setdefault(word, len(numbers)) for word in words] for words in named])
    starts = np.cumsum(plain.lengths) - plain.lengths
    all_numbers = np.insert(plain.numbers, np.repeat(starts[others], added.lengths), added.numbers)
    lengths = plain.lengths.copy()
    lengths[others] = added.lengths
    return list(numbers), Lists(all_numbers, lengths)


def _with_cut_identifiers(lines: pa.LargeStringArray) -> pa.LargeStringArray:
    """The lines with a space wherever an identifier's next part begins: between a lower-case letter and a capital,
    before the last capital of several with a lower-case letter behind it, and between letters and digits."""
    content, offsets = utf8_and_offsets(lines)
    parts = _PARTS[content]
    before, behind = np.roll(parts, 1), np.roll(parts, -1)
    begins, ends = offsets[:-1][np.diff(offsets) > 0], offsets[1:][np.diff(offsets) > 0]
    before[begins], behind[ends - 1] = _NO_PART, _NO_PART
    is_digit = parts == _DIGIT
    cut = (parts != _NO_PART) & (before != _NO_PART) & (is_digit != (before == _DIGIT))
    is_upper = parts == _UPPER
    cut |= is_upper & ((before == _LOWER) | ((before == _UPPER) & (behind == _LOWER)))
    places = np.flatnonzero(cut)
    spaced = np.insert(content, places, ord(" "))
    moved = offsets + np.searchsorted(places, offsets)
    return pa.LargeStringArray.from_buffers(len(lines), pa.py_buffer(moved), pa.py_buffer(spaced))
