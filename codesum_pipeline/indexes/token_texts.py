"""The tokens of many texts at once, as `tokens.joined_tokens` gives them for one.

No word reaches over the end of a line, so that each distinct line is looked at
once: most stand in a function, in its class and in its file.
"""

import string

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.indexes.ascii_words import Integers, byte_kinds, split_words
from codesum_pipeline.indexes.tokens import joined_tokens, tokens_of_word

_KINDS = byte_kinds(parts=string.ascii_letters + string.digits + "_")
_SPACE = pa.scalar(" ", pa.large_string())


def join_tokens(texts: pa.LargeStringArray) -> pa.StringArray:
    """The tokens of each text, joined by single spaces."""
    split = pc.split_pattern(texts, "\n")
    lines = split.flatten().dictionary_encode()
    lengths = pc.list_value_length(split).to_numpy()
    return _joined(_tokens_of_lines(lines.dictionary), lines.indices.to_numpy(), lengths).cast(pa.string())


def _tokens_of_lines(lines: pa.LargeStringArray) -> pa.LargeStringArray:
    """Of ASCII lines each distinct word is looked at once."""
    is_foreign = pc.invert(pc.string_is_ascii(lines))
    words = split_words(lines, _KINDS, leave_out=is_foreign.to_numpy(zero_copy_only=False))
    tokens = pa.array(map(tokens_of_word, words.vocabulary.to_pylist()), pa.large_string())
    joined = _joined(tokens, words.numbers, words.lengths)
    others = [joined_tokens(line) for line in lines.filter(is_foreign).to_pylist()]
    return pc.replace_with_mask(joined, is_foreign, pa.array(others, pa.large_string()))


def _joined(strings: pa.LargeStringArray, numbers: Integers, lengths: Integers) -> pa.LargeStringArray:
    """Of each list of numbers the strings that it names, but the empty ones; one list behind the other has its
    length."""
    says_something = pc.not_equal(strings, "").to_numpy(zero_copy_only=False)[numbers]
    counted = np.concatenate(([0], np.cumsum(says_something)))
    ends = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    named = strings.take(pa.array(numbers[says_something]))
    return pc.binary_join(pa.LargeListArray.from_arrays(pa.array(counted[ends]), named), _SPACE)
