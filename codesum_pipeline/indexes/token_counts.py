"""How often each token stands in each text, counted some texts at a time.

All tokens of a large repository together are many times as long as their counts.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import count

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.indexes.bm25 import TokenCounts
from codesum_pipeline.indexes.stored_zip import Array

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
    # Rows stand in order already. Sorted are numbers made of a column and a place: faster than places by their columns.
    order = rank[columns].astype(np.int64) << _PLACE_BITS | np.arange(len(columns))
    order.sort()
    columns = (order >> _PLACE_BITS).astype(np.int32)
    order &= (1 << _PLACE_BITS) - 1
    # One after the other, so that no more than one of them is there twice.
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
