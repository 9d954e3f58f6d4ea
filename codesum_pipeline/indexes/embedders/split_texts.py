"""Many texts as lines and words, with no Python string for any but the distinct words."""

import string
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.indexes.ascii_words import byte_kinds, has_bytes, split_words
from codesum_pipeline.indexes.embedders.number_lists import Lists

_KINDS = byte_kinds(parts=string.ascii_lowercase + string.digits, marks=string.punctuation)
_IS_UNPRINTABLE = np.isin(np.arange(256), range(ord(" "), ord("~") + 1), invert=True)


def split_texts(
    texts: Sequence[str], *, special: Sequence[str], words_of_line: Callable[[str], Sequence[str]]
) -> tuple[Lists, list[str], Lists]:
    """The texts as positions of distinct lines; the distinct words; the distinct lines as positions of words.

    Lines of printable ASCII without `special` strings are put into lower case and cut into words and marks; the others
    are given to `words_of_line`.
    """
    split = pc.split_pattern(pa.array(texts, pa.large_string()), "\n")
    lines = split.flatten().dictionary_encode()
    lengths = pc.list_value_length(split).to_numpy().astype(np.int64)
    words, found = _split_lines(lines.dictionary, special, words_of_line)
    return Lists(lines.indices.to_numpy().astype(np.int64), lengths), words, found


def _split_lines(
    lines: pa.LargeStringArray, special: Sequence[str], words_of_line: Callable[[str], Sequence[str]]
) -> tuple[list[str], Lists]:
    is_other = has_bytes(lines, _IS_UNPRINTABLE)
    for text in special:
        is_other |= pc.match_substring(lines, text).to_numpy(zero_copy_only=False)
    plain = split_words(pc.ascii_lower(lines), _KINDS, leave_out=is_other)
    numbers = {word: number for number, word in enumerate(plain.vocabulary.to_pylist())}
    others = np.flatnonzero(is_other)
    named = map(words_of_line, lines.take(pa.array(others)).to_pylist())
    added = Lists.of([[numbers.setdefault(word, len(numbers)) for word in words] for words in named])
    starts = np.cumsum(plain.lengths) - plain.lengths
    all_numbers = np.insert(plain.numbers, np.repeat(starts[others], added.lengths), added.numbers)
    lengths = plain.lengths.copy()
    lengths[others] = added.lengths
    return list(numbers), Lists(all_numbers, lengths)
