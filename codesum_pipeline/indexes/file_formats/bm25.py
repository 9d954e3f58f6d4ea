"""BM25 with all arithmetic done when the index is written: a query only adds numbers.

The formula is Lucene's: idf = ln(1 + (N - df + 0.5) / (df + 0.5)) and tf / (tf + k1 (1 - b + b |d| / avg)). N, df and
avg are those of the document's own level: a class is not long because functions are short, and a word that every module
has can still distinguish functions. N and avg are rounded up: so an edit changes the scores of texts and words that it
touches, and nearly never all others.

The scores are a sparse matrix by column (one column per token), which `scipy.sparse.load_npz` reads too.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

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
# A number is rounded up to its first so many binary digits: by less than 1/64.
_DIGITS = 7


def rarity_of(having: Array, members: Array) -> npt.NDArray[np.float64]:
    """The idf of words, of which each is in so many of a level's texts; `having` may be more than its `members`."""
    members = np.maximum(_rounded_up(members), having)
    found: npt.NDArray[np.float64] = np.log1p((members - having + 0.5) / (having + 0.5))
    return found


def _rounded_up(numbers: Array) -> npt.NDArray[np.float64]:
    """Numbers with few binary digits, so that small changes of large ones are seldom seen; those below 128 that are
    whole stay as they are."""
    mantissas, exponents = np.frexp(numbers)
    found: npt.NDArray[np.float64] = np.ldexp(np.ceil(np.ldexp(mantissas, _DIGITS)), exponents - _DIGITS)
    return found


class TokenCounts(Struct, frozen=True):
    """Token `columns[k]` occurs `counts[k]` times in text `rows[k]`; sorted by column, then by row. A column is a
    position in `vocabulary`, which is sorted. `lengths` says how many tokens each text has."""

    columns: Array
    rows: Array
    counts: Array
    lengths: Array
    vocabulary: list[str]


class Bm25Index(Struct, frozen=True):
    """`data[p]` is the score that token t gives document `indices[p]`, for p in `indptr[t]:indptr[t + 1]`; `times[p]`
    says how often the document has it, and `lengths` how many tokens each document has."""

    documents: int
    vocabulary: StringTable
    data: Array
    indices: Array
    indptr: Array
    times: Array
    lengths: Array

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
            "lengths": self.lengths,
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
            times=arrays["times"],
            lengths=arrays["lengths"],
        )


def build_bm25(found: TokenCounts, levels: Array) -> Bm25Index:
    """Score what was counted; `levels` says the number of each document's level."""
    return Bm25Index(
        documents=len(found.lengths),
        vocabulary=StringTable.of(found.vocabulary),
        data=score_all(found.columns, found.rows, found.counts, found.lengths, levels),
        indices=found.rows,
        indptr=np.searchsorted(found.columns, np.arange(len(found.vocabulary) + 1)).astype(np.int64),
        times=in_narrowest(found.counts),
        lengths=found.lengths.astype(np.int32),
    )


def in_narrowest(counts: Array) -> Array:
    """Counts as the narrowest numbers that hold them."""
    found: Array = counts.astype(np.min_scalar_type(int(counts.max(initial=0))), copy=False)
    return found


def parts_of(pairs: Array) -> Iterator[slice]:
    """Some pairs at a time."""
    return (slice(start, start + _AT_ONCE) for start in range(0, len(pairs), _AT_ONCE))


class LevelSizes(Struct, frozen=True):
    """How many documents each level has, and how long they are on average; both count rounded."""

    members: Array
    usual_length: Array

    @classmethod
    def of(cls, lengths: Array, levels: Array, count: int) -> Self:
        members = np.bincount(levels, minlength=count)
        usual_length = np.bincount(levels, weights=lengths, minlength=count) / np.maximum(members, 1)
        # No document of a level without tokens is in any pair.
        return cls(_rounded_up(members), np.where(usual_length > 0, _rounded_up(usual_length), 1))

    def equals(self, other: Self) -> bool:
        return np.array_equal(self.members, other.members) and np.array_equal(self.usual_length, other.usual_length)

    def scores(self, rarity: Array, counts: Array, lengths: Array, levels: Array) -> npt.NDArray[np.float64]:
        """The score of each pair: how rare its token is on its level, how often the document has it, how long the
        document is, and its level."""
        length_norm = K1 * (1 - B + B * (lengths / self.usual_length[levels]))
        found: npt.NDArray[np.float64] = rarity * counts / (counts + length_norm)
        return found


def score_all(columns: Array, rows: Array, counts: Array, lengths: Array, levels: Array) -> npt.NDArray[np.float32]:
    """The scores of all pairs, as `TokenCounts` has them; `levels` says the number of each document's level."""
    level_count = int(levels.max(initial=0)) + 1
    words = int(columns.max(initial=-1)) + 1
    sizes = LevelSizes.of(lengths, levels, level_count)

    def groups_of(some: slice) -> Array:
        """For some pairs a number of the token and the document's level."""
        found: Array = columns[some].astype(np.int64) * level_count + levels[rows[some]]
        return found

    frequency = np.zeros(words * level_count, dtype=np.int64)
    for some in parts_of(counts):
        groups = groups_of(some)
        # The columns of some pairs are few that follow one another.
        first = int(groups[0]) // level_count * level_count
        numbers = np.bincount(groups - first)
        frequency[first : first + len(numbers)] += numbers
    rarity = rarity_of(frequency, np.tile(sizes.members, words))
    scores = np.empty(len(counts), dtype=np.float32)
    for some in parts_of(scores):
        of_some = rows[some]
        scores[some] = sizes.scores(rarity[groups_of(some)], counts[some], lengths[of_some], levels[of_some])
    return scores
