"""BM25 with all arithmetic done when the index is written: a query only adds numbers.

The formula is Lucene's: idf = ln(1 + (N - df + 0.5) / (df + 0.5)) and
tf / (tf + k1 (1 - b + b |d| / avg)). N, df and avg are those of the document's own
level: a class is not long because functions are short, and a word that every
module has can still tell functions apart.

The scores stand in a sparse matrix by column (one column per token), which
`scipy.sparse.load_npz` reads too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.stored_zip import Array, map_npz, write_npz
from codesum_pipeline.indexes.string_table import StringTable

# Lucene's defaults (Robertson and Zaragoza, 2009, give the ranges 1.2-2 and 0.5-0.8).
K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class Bm25Index:
    """`data[p]` is the score that token t gives document `indices[p]`, for p in `indptr[t]:indptr[t + 1]`."""

    documents: int
    vocabulary: StringTable
    data: Array
    indices: Array
    indptr: Array

    def score(self, tokens: Sequence[str]) -> npt.NDArray[np.float32]:
        """The score of every document; a token asked twice counts twice, an unknown one nothing."""
        scores = np.zeros(self.documents, dtype=np.float32)
        for token in tokens:
            column = self.vocabulary.find(token)
            if column is not None:
                span = slice(self.indptr[column], self.indptr[column + 1])
                # No document stands twice in a column, so nothing is lost.
                scores[self.indices[span]] += self.data[span]
        return scores

    def write(self, path: Path) -> None:
        """Write one `.npz` file with the matrix and its vocabulary."""
        arrays = {
            "format": np.array(b"csc"),
            "shape": np.array([self.documents, len(self.vocabulary)], dtype=np.int64),
            "data": self.data,
            "indices": self.indices,
            "indptr": self.indptr,
            "vocabulary": self.vocabulary.content,
            "vocabulary_offsets": self.vocabulary.offsets,
        }
        write_npz(path, arrays)

    @classmethod
    def map(cls, path: Path) -> "Bm25Index":
        """Open what `write` wrote, memory-mapped."""
        arrays = map_npz(path)
        return cls(
            documents=int(arrays["shape"][0]),
            vocabulary=StringTable(arrays["vocabulary"], arrays["vocabulary_offsets"]),
            data=arrays["data"],
            indices=arrays["indices"],
            indptr=arrays["indptr"],
        )


def build_bm25(tokens: Array, lengths: Array, levels: Array, vocabulary: StringTable) -> Bm25Index:
    """Count and score.

    `tokens` are positions in the vocabulary, those of document 0 first;
    `lengths` says how many each document has, `levels` its level's number.
    """
    documents, terms = len(lengths), len(vocabulary)
    document_of_token = np.repeat(np.arange(documents, dtype=np.int64), lengths)
    pairs, counts = np.unique(tokens.astype(np.int64) * max(documents, 1) + document_of_token, return_counts=True)
    columns, rows = np.divmod(pairs, max(documents, 1))
    return Bm25Index(
        documents=documents,
        vocabulary=vocabulary,
        data=_scores(columns, rows, counts, lengths, levels).astype(np.float32),
        indices=rows.astype(np.int32),
        indptr=np.searchsorted(columns, np.arange(terms + 1)).astype(np.int64),
    )


def _scores(columns: Array, rows: Array, counts: Array, lengths: Array, levels: Array) -> npt.NDArray[np.float64]:
    """The score of each (token, document) pair."""
    level_count = int(levels.max(initial=0)) + 1
    members = np.bincount(levels, minlength=level_count)
    usual_length = np.bincount(levels, weights=lengths, minlength=level_count) / np.maximum(members, 1)
    level_of_pair = levels[rows]
    groups = columns * level_count + level_of_pair
    frequency = np.bincount(groups)[groups] if len(groups) else np.empty(0)
    idf = np.log1p((members[level_of_pair] - frequency + 0.5) / (frequency + 0.5))
    relative_length = lengths[rows] / usual_length[level_of_pair]
    scores: npt.NDArray[np.float64] = idf * counts / (counts + K1 * (1 - B + B * relative_length))
    return scores
