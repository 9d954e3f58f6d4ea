"""BM25 with all arithmetic done when the index is written: a query only adds numbers.

The formula is Lucene's: idf = ln(1 + (N - df + 0.5) / (df + 0.5)) and tf / (tf + k1 (1 - b + b |d| / avg)). N, df and
avg are those of the document's own level: a class is not long because functions are short, and a word that every module
has can still distinguish functions.

The scores are a sparse matrix by column (one column per token), which `scipy.sparse.load_npz` reads too.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.indexes.file_formats.index_files import StringTable
from codesum_pipeline.indexes.file_formats.stored_zip import Array, map_npz, write_npz

# Lucene's defaults (Robertson and Zaragoza, 2009, give the ranges 1.2-2 and 0.5-0.8).
K1 = 1.2
B = 0.75
NO_TOKENS: Mapping[str, float] = {}
NOWHERE = slice(0, 0)
# Pairs looked at at one time: what is computed of them stays in the processor's cache.
_AT_ONCE = 1 << 16
# Of a number that stands for a column and a row.
_ROW_BITS = 32


class TokenCounts(Struct, frozen=True):
    """Token `columns[k]` occurs `counts[k]` times in text `rows[k]`; sorted by column, then by row. A column is a
    position in `vocabulary`, which is sorted. `lengths` says how many tokens each text has."""

    columns: Array
    rows: Array
    counts: Array
    lengths: Array
    vocabulary: list[str]

    @classmethod
    def of_index(cls, index: "Bm25Index") -> "TokenCounts":
        """What an index was made from."""
        columns = np.repeat(np.arange(len(index.vocabulary), dtype=np.int32), np.diff(index.indptr))
        lengths = np.zeros(index.documents, dtype=np.int64)
        for some in _parts_of(index.times):
            of_some = np.bincount(index.indices[some], weights=index.times[some], minlength=index.documents)
            lengths += of_some.astype(np.int64)
        return cls(columns, index.indices, index.times, lengths, index.vocabulary.to_list())

    def with_texts(self, rows: Array, fresh: "TokenCounts", rows_of_fresh: Array, count: int) -> "TokenCounts":
        """The counts of `count` texts: text k becomes `rows[k]`, or is left out where that is -1, and text k of `fresh`
        becomes `rows_of_fresh[k]`. No text changes its place with another."""
        moved = rows.astype(np.int32)[self.rows]
        kept = moved >= 0
        columns, moved = self.columns[kept], moved[kept]
        is_used = np.bincount(columns, minlength=len(self.vocabulary)) > 0
        known = [*compress(self.vocabulary, is_used.tolist())]
        added = sorted({*fresh.vocabulary}.difference(known))
        vocabulary = sorted([*known, *added])
        places = np.fromiter((bisect_left(vocabulary, token) for token in added), dtype=np.int32, count=len(added))
        rank = np.zeros(len(self.vocabulary), dtype=np.int32)
        rank[is_used] = np.delete(np.arange(len(vocabulary), dtype=np.int32), places)
        rank_of_fresh = np.array([bisect_left(vocabulary, token) for token in fresh.vocabulary], dtype=np.int32)
        # Each has the narrowest numbers that hold its own counts.
        counts = self.counts[kept].astype(np.promote_types(self.counts.dtype, _narrowest(fresh.counts)), copy=False)
        ours = rank[columns], moved, counts
        theirs = rank_of_fresh[fresh.columns], rows_of_fresh[fresh.rows].astype(np.int32), fresh.counts
        at = np.searchsorted(_pair_numbers(*ours[:2]), _pair_numbers(*theirs[:2]))
        lengths = np.zeros(count, dtype=np.int64)
        lengths[rows[rows >= 0]] = self.lengths[rows >= 0]
        lengths[rows_of_fresh] = fresh.lengths
        columns, new_rows, counts = (np.insert(own, at, other) for own, other in zip(ours, theirs, strict=True))
        return TokenCounts(columns, new_rows, counts, lengths, vocabulary)


def _pair_numbers(columns: Array, rows: Array) -> Array:
    """A column and a row as one number, in the order of pairs."""
    numbers: Array = columns.astype(np.int64) << _ROW_BITS | rows
    return numbers


class Bm25Index(Struct, frozen=True):
    """`data[p]` is the score that token t gives document `indices[p]`, for p in `indptr[t]:indptr[t + 1]`; `times[p]`
    says how often the document has it. Versions without `times` are read, and nothing is made from them."""

    documents: int
    vocabulary: StringTable
    data: Array
    indices: Array
    indptr: Array
    times: Array

    def score(self, tokens: Sequence[str], weighted: Mapping[str, float] = NO_TOKENS) -> npt.NDArray[np.float32]:
        """The score of every document; a repeated token counts twice, an unknown one nothing. The tokens of `weighted`
        count with their weights."""
        scores = np.zeros(self.documents, dtype=np.float32)
        weights = [*[1.0] * len(tokens), *weighted.values()]
        self.add_to(scores, self.spans((*tokens, *weighted)), np.array(weights, dtype=np.float32))
        return scores

    def add_to(self, scores: npt.NDArray[np.float32], spans: Sequence[slice], weights: npt.NDArray[np.float32]) -> None:
        """Add to the scores what the tokens with these spans give each document, each token with its weight."""
        there = [number for number, span in enumerate(spans) if span is not NOWHERE]
        if there:
            used = [spans[number] for number in there]
            rows = np.concatenate([self.indices[span] for span in used])
            shares = np.concatenate([self.data[span] for span in used])
            shares *= weights[there].repeat([span.stop - span.start for span in used])
            # Token by token: the order of the additions decides the last bit of a sum.
            np.add.at(scores, rows, shares)

    def spans(self, tokens: Sequence[str]) -> list[slice]:
        """Where in `data` and `indices` each token is: nowhere where no document has it."""
        # A view: to read a single number from an array is slow.
        bounds = self.indptr.data
        columns = self.vocabulary.find_all(tokens)
        return [NOWHERE if column is None else slice(bounds[column], bounds[column + 1]) for column in columns]

    def counts(self, tokens: Sequence[str]) -> npt.NDArray[np.int64]:
        """How many of some distinct tokens every document has."""
        rows = np.concatenate([self.indices[:0], *(self.indices[span] for span in self.spans(tokens))])
        return np.bincount(rows, minlength=self.documents)

    def write(self, path: Path) -> None:
        """Write one `.npz` file with the matrix and its vocabulary."""
        arrays = {
            "format": np.array(b"csc"),
            "shape": np.array([self.documents, len(self.vocabulary)], dtype=np.int64),
            "data": self.data,
            "indices": self.indices,
            "indptr": self.indptr,
            "times": self.times,
            "vocabulary": self.vocabulary.content,
            "vocabulary_offsets": self.vocabulary.offsets,
        }
        write_npz(path, arrays)

    @classmethod
    def map_file(cls, path: Path) -> "Bm25Index":
        """Open what `write` wrote, memory-mapped."""
        arrays = map_npz(path)
        return cls(
            documents=int(arrays["shape"][0]),
            vocabulary=StringTable(arrays["vocabulary"], arrays["vocabulary_offsets"]),
            data=arrays["data"],
            indices=arrays["indices"],
            indptr=arrays["indptr"],
            times=arrays.get("times", arrays["indices"][:0]),
        )


def build_bm25(found: TokenCounts, levels: Array) -> Bm25Index:
    """Score what was counted; `levels` says the number of each document's level."""
    return Bm25Index(
        documents=len(found.lengths),
        vocabulary=StringTable.of(found.vocabulary),
        data=_scores(found, levels),
        indices=found.rows,
        indptr=np.searchsorted(found.columns, np.arange(len(found.vocabulary) + 1)).astype(np.int64),
        times=found.counts.astype(_narrowest(found.counts)),
    )


def _narrowest(counts: Array) -> "np.dtype[np.unsignedinteger]":
    """The type of the narrowest numbers that hold some counts."""
    found: np.dtype[np.unsignedinteger] = np.min_scalar_type(int(counts.max(initial=0)))
    return found


def _parts_of(pairs: Array) -> Iterator[slice]:
    return (slice(start, start + _AT_ONCE) for start in range(0, len(pairs), _AT_ONCE))


def _scores(found: TokenCounts, levels: Array) -> npt.NDArray[np.float32]:
    level_count = int(levels.max(initial=0)) + 1
    members = np.bincount(levels, minlength=level_count)
    usual_length = np.bincount(levels, weights=found.lengths, minlength=level_count) / np.maximum(members, 1)
    # No document of a level without tokens is in any pair.
    usual_length[usual_length == 0] = 1
    length_norm = K1 * (1 - B + B * (found.lengths / usual_length[levels]))
    frequency = np.zeros(len(found.vocabulary) * level_count, dtype=np.int64)
    for some in _parts_of(found.counts):
        groups = _groups(found, levels, level_count, some)
        # The columns of some pairs are few that follow one another.
        first = int(groups[0]) // level_count * level_count
        numbers = np.bincount(groups - first)
        frequency[first : first + len(numbers)] += numbers
    level_members = np.tile(members, len(found.vocabulary))
    idf = np.log1p((level_members - frequency + 0.5) / (frequency + 0.5))
    scores = np.empty(len(found.counts), dtype=np.float32)
    for some in _parts_of(scores):
        counts, groups = found.counts[some], _groups(found, levels, level_count, some)
        scores[some] = idf[groups] * counts / (counts + length_norm[found.rows[some]])
    return scores


def _groups(found: TokenCounts, levels: Array, level_count: int, some: slice) -> Array:
    """For some pairs a number of the token and the document's level."""
    groups: Array = found.columns[some].astype(np.int64) * level_count + levels[found.rows[some]]
    return groups
