"""An index of words is made from the last one, where few texts changed.

Of the others all is taken over; scores, too, as long as they would be computed from the same numbers: how often a text
has a word, how long it is, how many texts of its level have the word, and the rounded size of the level.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.indexes.file_formats.arrow_texts import utf8_and_offsets
from codesum_pipeline.indexes.file_formats.bm25 import (
    Bm25Index,
    LevelSizes,
    TokenCounts,
    in_narrowest,
    parts_of,
    rarity_of,
    score_all,
)
from codesum_pipeline.indexes.file_formats.index_files import StringTable, places_between
from codesum_pipeline.indexes.file_formats.stored_zip import Array

Numbers = npt.NDArray[np.int64]
# Runs between so many places are put one behind the other; of more of them masks are faster.
_FEW = 1 << 16


class MovedTexts(Struct, frozen=True):
    """Text k of the last index, on level `levels[k]`, becomes text `rows[k]`, or is left out where that is -1. Text k
    of those that are counted anew becomes `rows_of_fresh[k]`. No text changes its place with another, or its level."""

    rows: Numbers
    levels: Array
    rows_of_fresh: Numbers


def update_bm25(last: Bm25Index, moved: MovedTexts, fresh: TokenCounts, levels: Array) -> Bm25Index:
    """The index of all texts, whose `levels` ascend, from the last one and those that are counted anew."""
    gone = np.flatnonzero((moved.rows < 0)[last.indices])
    of_gone = np.searchsorted(last.indptr, gone, side="right") - 1
    words = _WordSplice.of(last, np.diff(last.indptr) - np.bincount(of_gone, minlength=len(last.vocabulary)), fresh)
    columns, rows = words.columns[fresh.columns], moved.rows_of_fresh[fresh.rows].astype(np.int32)
    pairs = _Splice(len(last.indices), gone, _places_of(last, moved, words.places[fresh.columns], rows))
    lengths = np.zeros(len(levels), dtype=np.int32)
    lengths[moved.rows[moved.rows >= 0]] = last.lengths[moved.rows >= 0]
    lengths[moved.rows_of_fresh] = fresh.lengths
    having = words.having + np.bincount(columns, minlength=len(words.having))
    counts = fresh.counts.astype(np.promote_types(last.times.dtype, in_narrowest(fresh.counts).dtype))
    found = Bm25Index(
        documents=len(levels),
        vocabulary=words.vocabulary,
        data=pairs.apply(last.data, np.zeros(len(rows), dtype=np.float32)),
        indices=pairs.apply(_rows_now(last.indices, moved.rows), rows),
        indptr=np.concatenate(([0], np.cumsum(having))).astype(np.int64),
        times=in_narrowest(pairs.apply(last.times, counts)),
        lengths=lengths,
    )
    count = int(max(levels.max(initial=0), moved.levels.max(initial=0))) + 1
    sizes, sizes_before = LevelSizes.of(lengths, levels, count), LevelSizes.of(last.lengths, moved.levels, count)
    if not sizes.equals(sizes_before):
        every = np.repeat(np.arange(len(having), dtype=np.int32), having)
        return replace(found, data=score_all(every, found.indices, found.times, lengths, levels))
    groups_of_gone = words.column_now[of_gone] * count + moved.levels[last.indices[gone]]
    changed = _other_counts(groups_of_gone[words.column_now[of_gone] >= 0], columns * count + levels[rows])
    _score_some(found, sizes, levels, changed, pairs.new_places())
    return found


def _rows_now(rows: Array, moved: Numbers) -> Array:
    """Where each of some rows is now, if it is left; mostly, all are where they were."""
    stay = np.flatnonzero(moved >= 0)
    return rows if np.array_equal(moved[stay], stay) else moved.astype(np.int32)[rows]


class _Splice(Struct, frozen=True):
    """An array of `count` numbers without what is at `gone` places, and with something put in before what was at each
    of other places; both ascend."""

    count: int
    gone: Numbers
    before: Numbers

    def new_places(self) -> Numbers:
        """Where what is put in is in the result."""
        return self.before - np.searchsorted(self.gone, self.before) + np.arange(len(self.before))

    def apply(self, old: Array, new: Array) -> Array:
        """The result, of the type that holds both."""
        if len(self.gone) + len(self.before) <= _FEW:
            return np.concatenate([part for own, kept in self._runs() for part in (new[own], old[kept])])
        kept, is_new = self.masks()
        found = np.empty(len(is_new), dtype=np.promote_types(old.dtype, new.dtype))
        found[~is_new] = old[kept]
        found[is_new] = new
        return found

    def masks(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """What of the array is kept, and what of the result is put in."""
        kept = np.ones(self.count, dtype=np.bool_)
        kept[self.gone] = False
        is_new = np.zeros(self.count - len(self.gone) + len(self.before), dtype=np.bool_)
        is_new[self.new_places()] = True
        return kept, is_new

    def _runs(self) -> Iterator[tuple[slice, slice]]:
        """What is put in, and what is kept after that."""
        starts = np.unique(np.concatenate(([0, self.count], self.gone + 1, self.before)))
        next_gone = np.append(self.gone, self.count)[np.searchsorted(self.gone, starts)]
        stops = np.minimum(next_gone, np.append(starts[1:], self.count))
        firsts = np.searchsorted(self.before, starts).tolist()
        new = (slice(*span) for span in pairwise([*firsts, len(self.before)]))
        old = (slice(*span) for span in zip(starts.tolist(), stops.tolist(), strict=True))
        return zip(new, old, strict=True)


class _WordSplice(Struct, frozen=True):
    """The words of all texts, and of each how many of the last index's texts that stay have it. `column_now` is the
    column of each word of the last index, -1 of one that is in no text any more, `columns` of each that was counted. In
    the last index the pairs of these are between `places`, or would be."""

    vocabulary: StringTable
    having: Numbers
    column_now: Numbers
    columns: Numbers
    places: Numbers

    @classmethod
    def of(cls, last: Bm25Index, left: Numbers, fresh: TokenCounts) -> Self:
        """`left` says of each word of the last index how many of its texts that stay have it."""
        table = last.vocabulary
        buffers = [None, pa.py_buffer(table.offsets), pa.py_buffer(table.content)]
        before = pa.LargeStringArray.from_buffers(len(table), *buffers[1:])
        counted = pa.array(fresh.vocabulary, pa.large_string())
        known = pc.fill_null(pc.index_in(counted, value_set=before), -1).to_numpy().astype(np.int64)
        is_added = known < 0
        at = np.array([table.place_of(word) for word in counted.filter(pa.array(is_added)).to_pylist()], dtype=np.int64)
        is_used = left > 0
        is_used[known[~is_added]] = True
        splice = _Splice(len(table), np.flatnonzero(~is_used), at)
        order = splice.apply(np.arange(len(table)), len(table) + np.flatnonzero(is_added))
        words = StringTable(*utf8_and_offsets(pa.concat_arrays([before, counted]).take(pa.array(order))))
        column_now, (kept, is_new) = np.full(len(table), -1, dtype=np.int64), splice.masks()
        column_now[kept] = np.flatnonzero(~is_new)
        columns = np.append(column_now, -1)[known]
        columns[is_added] = splice.new_places()
        places = np.stack([last.indptr[known], last.indptr[known + 1]], axis=1)
        places[is_added] = last.indptr[at][:, np.newaxis]
        return cls(words, splice.apply(left, np.zeros(len(at), dtype=np.int64)), column_now, columns, places)


def _places_of(last: Bm25Index, moved: MovedTexts, between: Numbers, rows: Array) -> Numbers:
    """Before which pair of the last index each of some pairs is to be, between two places, by its row now."""
    stay = np.flatnonzero(moved.rows >= 0)
    first_behind = np.append(stay, len(moved.rows))[np.searchsorted(moved.rows[stay], rows)]
    return _first_not_below(last.indices, between[:, 0], between[:, 1], first_behind)


def _first_not_below(ascending: Array, starts: Numbers, ends: Numbers, wanted: Numbers) -> Numbers:
    """In each of some stretches of an array, which ascend, the first place of a number that is not below the wanted
    one; the end where there is none."""
    low, high = starts.copy(), ends.copy()
    while len(left := np.flatnonzero(low < high)):
        middle = (low[left] + high[left]) // 2
        is_below = ascending[middle] < wanted[left]
        low[left] = np.where(is_below, middle + 1, low[left])
        high[left] = np.where(is_below, high[left], middle)
    return low


def _other_counts(before: Numbers, now: Numbers) -> Numbers:
    """What is not as often in the one as in the other, ascending."""
    found, places = np.unique(np.concatenate((before, now)), return_inverse=True)
    weights = np.repeat((-1, 1), (len(before), len(now)))
    differing: Numbers = found[np.bincount(places, weights=weights, minlength=len(found)) != 0]
    return differing


def _score_some(index: Bm25Index, sizes: LevelSizes, levels: Array, groups: Numbers, places: Numbers) -> None:
    """Score the pairs at some places, and those of some groups: of each a word and a level."""
    firsts = np.searchsorted(levels, np.arange(len(sizes.members) + 1))
    bounds = _bounds_of(index, firsts, groups)
    which = np.union1d(places_between(*bounds.T), places)
    for some in (which[part] for part in parts_of(which)):
        rows = index.indices[some]
        of_pairs = (np.searchsorted(index.indptr, some, side="right") - 1) * len(sizes.members) + levels[rows]
        own, at = np.unique(of_pairs, return_inverse=True)
        having = np.diff(_bounds_of(index, firsts, own), axis=1)[:, 0]
        rarity = rarity_of(having, sizes.members[own % len(sizes.members)])
        index.data[some] = sizes.scores(rarity[at], index.times[some], index.lengths[rows], levels[rows])


def _bounds_of(index: Bm25Index, firsts: Numbers, groups: Numbers) -> Numbers:
    """Where the pairs of each group begin and end; `firsts` are the first rows of the levels."""
    columns, levels = np.divmod(groups, len(firsts) - 1)
    stretch = index.indptr[columns], index.indptr[columns + 1]
    return np.stack([_first_not_below(index.indices, *stretch, firsts[levels + more]) for more in (0, 1)], axis=1)
