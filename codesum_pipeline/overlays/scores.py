"""BM25 of a few files, counted as if they were part of a large repository.

How rare a word is among twenty documents says nothing: without this, an edited function would come behind all others.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.bm25 import NOWHERE, Bm25Index
from codesum_pipeline.indexes.lanes import Lane
from codesum_pipeline.indexes.stored_zip import Array
from codesum_pipeline.model.documents import LEVELS
from codesum_pipeline.retrieval.reader import PublishedIndex

# Those of documents, and passages.
_KINDS = len(LEVELS) + 1


def as_rare_as_in(base: PublishedIndex, small: PublishedIndex) -> PublishedIndex:
    """The small index, its words as rare as they are in the base."""
    words = {lane: _rescaled(base, small, lane) for lane in small.words}
    return replace(small, words=words)


def _rescaled(base: PublishedIndex, small: PublishedIndex, lane: Lane) -> Bm25Index:
    """A score is how rare a word is among texts of its kind, times how often the text has it: the first is replaced."""
    ours, theirs = small.words[lane], base.words[lane]
    if not ours.documents or not theirs.documents:
        return ours
    kinds, base_kinds = _kinds(small, ours), _kinds(base, theirs)
    spans = theirs.spans([*ours.vocabulary])
    having = np.array(
        [
            np.zeros(_KINDS, dtype=np.int64)
            if span is NOWHERE
            else np.bincount(base_kinds[theirs.indices[span]], minlength=_KINDS)
            for span in spans
        ]
    )
    tokens = np.repeat(np.arange(len(ours.vocabulary)), np.diff(ours.indptr))
    of_pairs = kinds[ours.indices]
    here = np.bincount(tokens * _KINDS + of_pairs, minlength=len(ours.vocabulary) * _KINDS).reshape(-1, _KINDS)
    there = _rarity(np.maximum(having, here), np.bincount(base_kinds, minlength=_KINDS))
    factors = there / _rarity(here, np.bincount(kinds, minlength=_KINDS))
    return replace(ours, data=(ours.data * factors[tokens, of_pairs]).astype(np.float32))


def _rarity(having: Array, members: Array) -> npt.NDArray[np.float64]:
    """Lucene's idf of each word in each kind, as in `indexes/bm25.py`."""
    members = np.maximum(members, having)
    found: npt.NDArray[np.float64] = np.log1p((members - having + 0.5) / (having + 0.5))
    return found


def _kinds(index: PublishedIndex, words: Bm25Index) -> Array:
    """The level of each text, and a number of its own for passages."""
    passages = np.full(words.documents - len(index), len(LEVELS), dtype=np.int8)
    return np.concatenate((index.arrays["level"].astype(np.int8), passages))
