"""The tokens of many texts at once, and how often each token stands in each text.

No word reaches over the end of a line, so that each distinct line is tokenized once: most are in a function, in its
class and in its file. Counting goes some texts at a time: all tokens of a large repository are many times as long as
their counts.
"""

import string
from collections import defaultdict
from collections.abc import Iterator
from itertools import count

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.indexes.arrow_texts import Integers, byte_kinds, split_words
from codesum_pipeline.indexes.bm25 import TokenCounts
from codesum_pipeline.indexes.stored_zip import Array
from codesum_pipeline.indexes.tokens import joined_tokens, tokens_of_word

_KINDS = byte_kinds(parts=string.ascii_letters + string.digits + "_")
_SPACE = pa.scalar(" ", pa.large_string())


def join_tokens(texts: pa.LargeStringArray) -> pa.StringArray:
    """The tokens of each text, joined by single spaces."""
    split = pc.split_pattern(texts, "\n")
    lines = split.flatten().dictionary_encode()
    lengths = pc.list_value_length(split).to_numpy()
    is_foreign = pc.invert(pc.string_is_ascii(lines.dictionary))
    words = split_words(lines.dictionary, _KINDS, leave_out=is_foreign.to_numpy(zero_copy_only=False))
    tokens = pa.array(map(tokens_of_word, words.vocabulary.to_pylist()), pa.large_string())
    joined = _joined(tokens, words.numbers, words.lengths)
    others = [joined_tokens(line) for line in lines.dictionary.filter(is_foreign).to_pylist()]
    return _joined(
        pc.replace_with_mask(joined, is_foreign, pa.array(others, pa.large_string())), lines.indices.to_numpy(), lengths
    ).cast(pa.string())


def _joined(strings: pa.LargeStringArray, numbers: Integers, lengths: Integers) -> pa.LargeStringArray:
    """For each list of numbers the strings at these positions, joined by spaces, without empty ones. The lists follow
    one another, each with its length."""
    says_something = pc.not_equal(strings, "").to_numpy(zero_copy_only=False)[numbers]
    counted = np.concatenate(([0], np.cumsum(says_something)))
    ends = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    named = strings.take(pa.array(numbers[says_something]))
    return pc.binary_join(pa.LargeListArray.from_arrays(pa.array(counted[ends]), named), _SPACE)


# Texts split at one time: bounds the memory.
_AT_ONCE = 1 << 12
_PLACE_BITS = 32


def count_tokens(texts: pa.ChunkedArray) -> TokenCounts:
    """Count in texts whose tokens are joined by single spaces."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    columns, rows, counts, lengths = (np.concatenate(part) for part in zip(*_parts(texts, numbers), strict=True))
    vocabulary = sorted(numbers)
    rank = np.empty(len(vocabulary), dtype=np.int32)
    rank[[numbers[token] for token in vocabulary]] = np.arange(len(vocabulary), dtype=np.int32)
    # Rows are in order already. Numbers made of a column and a place are sorted: faster than places by their columns.
    order = rank[columns].astype(np.int64) << _PLACE_BITS | np.arange(len(columns))
    order.sort()
    columns = (order >> _PLACE_BITS).astype(np.int32)
    order &= (1 << _PLACE_BITS) - 1
    # One after the other, so that at most one of them is in memory twice.
    rows = rows[order]
    counts = counts[order]
    return TokenCounts(columns, rows, counts, lengths, vocabulary)


def _parts(texts: pa.ChunkedArray, numbers: defaultdict[str, int]) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Columns, rows, counts and lengths of some texts; a column is what `numbers` gives a token, row after row."""
    for start in range(0, max(len(texts), 1), _AT_ONCE):
        some = texts.slice(start, _AT_ONCE)
        split = pc.split_pattern(some.combine_chunks(), " ")
        # An empty text splits into one empty token.
        is_empty = pc.equal(some, "").to_numpy()
        lengths = np.where(is_empty, 0, pc.list_value_length(split).to_numpy()).astype(np.int64)
        flat = split.flatten()
        encoded = (flat.filter(pc.not_equal(flat, "")) if is_empty.any() else flat).dictionary_encode()
        bits = len(encoded.dictionary).bit_length()
        pairs = np.repeat(np.arange(len(some), dtype=np.int64) << bits, lengths) | encoded.indices.to_numpy()
        pairs, counts = np.unique(pairs, return_counts=True)
        rows, columns = pairs >> bits, pairs & (1 << bits) - 1
        names = np.array([numbers[token] for token in encoded.dictionary.to_pylist()], dtype=np.int32)
        yield names[columns], (rows + start).astype(np.int32), counts.astype(np.int32), lengths
