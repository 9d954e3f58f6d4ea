"""What speaks for a change being what an intent asks about, as numbers that mean the same everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from codesum_pipeline.indexes.embedders import Embedder, Vectors
from codesum_pipeline.indexes.lane_texts import BODY_CHARACTERS
from codesum_pipeline.indexes.lanes import Lane
from codesum_pipeline.matching.subjects import Subject
from codesum_pipeline.matching.wording import ChangeWords
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.intents import ChangeKind, DocumentChange
from codesum_pipeline.retrieval.reader import PublishedIndex

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Each has a row for each subject and a column for each change.

    `nearness` is the cosine, NaN where a change has no vector; the others are the shares of the subject's words that
    the document's name, the document and its changed lines have.
    """

    nearness: Numbers
    named: Numbers
    said: Numbers
    changed: Numbers


def gather(
    subjects: Sequence[Subject],
    changes: Sequence[DocumentChange],
    words: Sequence[ChangeWords],
    index: PublishedIndex,
    embedder: Embedder | None,
) -> Evidence:
    tokens = sorted({token for subject in subjects for token in subject.weights})
    weights = np.array([[subject.weights.get(token, 0.0) for token in tokens] for subject in subjects])
    weights = weights.reshape(len(subjects), len(tokens))

    def shares(of: Sequence[frozenset[str]]) -> Numbers:
        there = np.array([[token in said for said in of] for token in tokens], dtype=np.float64)
        found: Numbers = weights @ there.reshape(len(tokens), len(of))
        return found

    return Evidence(
        nearness=_nearness(subjects, changes, words, index, embedder),
        named=shares([each.named for each in words]),
        said=shares([each.said for each in words]),
        changed=shares([each.changed for each in words]),
    )


def _nearness(
    subjects: Sequence[Subject],
    changes: Sequence[DocumentChange],
    words: Sequence[ChangeWords],
    index: PublishedIndex,
    embedder: Embedder | None,
) -> Numbers:
    asked = [subject.vector for subject in subjects if subject.vector is not None]
    if embedder is None or len(asked) < len(subjects) or not changes:
        return np.full((len(subjects), len(changes)), np.nan)
    vectors = _vectors(changes, words, index, embedder)
    return (np.array(asked) @ vectors.T).astype(np.float64)


def _vectors(
    changes: Sequence[DocumentChange], words: Sequence[ChangeWords], index: PublishedIndex, embedder: Embedder
) -> Vectors:
    """The vectors of the published version; those of what is not in it, or of which a part changed, are made here by a
    model that runs here, and are NaN else."""
    found = np.full((len(changes), len(index.vectors[Lane.FUSED].T)), np.nan, dtype=np.float32)
    rows = [_vector_row(change, index) for change in changes]
    there = [place for place, row in enumerate(rows) if row is not None]
    if there:
        found[there] = index.vectors[Lane.FUSED][[row for row in rows if row is not None]]
    lacking = [place for place, row in enumerate(rows) if row is None]
    if lacking and embedder.usd_per_token == 0:
        found[lacking] = embedder.embed([words[place].text[:BODY_CHARACTERS] for place in lacking])
    return found


def _vector_row(change: DocumentChange, index: PublishedIndex) -> int | None:
    """Where the vector of the whole document is, if that is what counts."""
    if change.kind is ChangeKind.REMOVED or (change.level is Level.FILE and change.kind is ChangeKind.CHANGED):
        return None
    row = index.row(change.document_id)
    if row is None:
        return None
    place = int(index.dense_rows.searchsorted(row))
    return place if place < len(index.dense_rows) and index.dense_rows[place] == row else None
