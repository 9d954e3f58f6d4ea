"""How rare a word is, in an index of a few edited files: as rare as in the large index beside it.

How rare a word is among twenty documents says nothing: by that, an edited function would come behind all others.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from codesum_pipeline.answers.worktree_indexes.recently_used import RecentlyUsed
from codesum_pipeline.foundation.data_model.document import LEVELS
from codesum_pipeline.indexes.file_formats.bm25 import Bm25Index, rarity_of
from codesum_pipeline.indexes.file_formats.stored_zip import Array
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.search.retrieval.published_index import PublishedIndex

# The levels of documents, and passages.
_KINDS = len(LEVELS) + 1
# Words counted at one time: bounds the memory.
_AT_ONCE = 1 << 9


def with_rarity_of(base: PublishedIndex, small: PublishedIndex) -> PublishedIndex:
    """The small index with the base's rarity of words."""
    return replace(small, words={lane: _lane_rescaled(base, small, lane) for lane in small.words})


def _lane_rescaled(base: PublishedIndex, small: PublishedIndex, lane: Lane) -> Bm25Index:
    """Replace the rarity factor of BM25 scores, which is that of a word among texts of its kind."""
    ours, theirs = small.words[lane], base.words[lane]
    if not ours.documents or not theirs.documents:
        return ours
    kinds, base_kinds = _kinds(small, ours), _kinds(base, theirs)
    spans = theirs.spans([*ours.vocabulary])
    counted = [_count_kinds(theirs, spans[at : at + _AT_ONCE], base_kinds) for at in range(0, len(spans), _AT_ONCE)]
    having = np.concatenate([np.zeros((0, _KINDS), dtype=np.int64), *counted])
    tokens = np.repeat(np.arange(len(ours.vocabulary)), np.diff(ours.indptr))
    of_pairs = kinds[ours.indices]
    here = np.bincount(tokens * _KINDS + of_pairs, minlength=len(ours.vocabulary) * _KINDS).reshape(-1, _KINDS)
    there = rarity_of(np.maximum(having, here), np.bincount(base_kinds, minlength=_KINDS))
    factors = there / rarity_of(here, np.bincount(kinds, minlength=_KINDS))
    return replace(ours, data=(ours.data * factors[tokens, of_pairs]).astype(np.float32))


def _count_kinds(words: Bm25Index, spans: Sequence[slice], kinds: Array) -> npt.NDArray[np.int64]:
    """In how many texts of each kind the words of these spans are."""
    rows = np.concatenate([words.indices[span] for span in spans])
    owners = np.repeat(np.arange(len(spans)), [span.stop - span.start for span in spans])
    return np.bincount(owners * _KINDS + kinds[rows], minlength=len(spans) * _KINDS).reshape(-1, _KINDS)


def _kinds(index: PublishedIndex, words: Bm25Index) -> Array:
    """The level of each text, and a number of its own for passages."""
    passages = np.full(words.documents - len(index), len(LEVELS), dtype=np.int8)
    return np.concatenate((index.arrays["level"].astype(np.int8), passages))


_MOST_KEPT = 16


class RescaledIndexes:
    """Remembers the last few small indexes with their base's rarity of words, for several threads, as long as it lives.

    Counting that rarity takes longer than all other parts of opening such an index. Each is known by its folder, whose
    name identifies base and tree.
    """

    def __init__(self) -> None:
        self._known: RecentlyUsed[PublishedIndex] = RecentlyUsed()

    def rescale(self, folder: Path, base: PublishedIndex, small: PublishedIndex) -> PublishedIndex:
        """The small index of a folder with the base's rarity of words: the remembered one, if there is one."""
        found = self._known.find(folder) or with_rarity_of(base, small)
        self._known.keep(folder, found, most=_MOST_KEPT)
        return found
