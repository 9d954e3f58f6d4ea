"""What speaks for a change being what an intent asks about, as numbers that mean the same everywhere."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.indexes.embedders.protocol import Embedder, Vectors
from codesum_pipeline.indexes.lane_texts import BODY_CHARACTERS
from codesum_pipeline.indexes.version_folder import Lane
from codesum_pipeline.matching.subjects import Subject
from codesum_pipeline.matching.wording import ChangeWords
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.intents import ChangeKind, DocumentChange
from codesum_pipeline.retrieval.reader import PublishedIndex

# Documents that tell how near one is to a query by chance.
_SAMPLED = 2000
# What the shipped model gives in the repositories of the calibration, and how many documents that counts as.
_USUAL_COUNT = 50
_USUAL_MEAN = 0.08
_USUAL_DEVIATION = 0.13
_LEAST_VARIANCE = 1e-4

Numbers = npt.NDArray[np.float64]


class ChangeEvidence(Struct, frozen=True):
    """Each has a row for each subject and a column for each change.

    `nearness` says by how many standard deviations a change's cosine is above the mean of the repository's documents,
    which is comparable between embedding models as cosines are not; NaN where a change has no vector. The others are
    the shares of the subject's words that the document's name and the document have.
    """

    nearness: Numbers
    named: Numbers
    said: Numbers


def gather(
    subjects: Sequence[Subject],
    changes: Sequence[DocumentChange],
    words: Sequence[ChangeWords],
    index: PublishedIndex,
    embedder: Embedder | None,
) -> ChangeEvidence:
    tokens = sorted({token for subject in subjects for token in subject.weights})
    weights = np.array([[subject.weights.get(token, 0.0) for token in tokens] for subject in subjects])
    weights = weights.reshape(len(subjects), len(tokens))

    def shares(of: Sequence[frozenset[str]]) -> Numbers:
        there = np.array([[token in said for said in of] for token in tokens], dtype=np.float64)
        found: Numbers = np.minimum(weights @ there.reshape(len(tokens), len(of)), 1.0)
        return found

    return ChangeEvidence(
        nearness=_nearness(subjects, changes, words, index, embedder),
        named=shares([each.named for each in words]),
        said=shares([each.said for each in words]),
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
    queries = np.array(asked)
    cosines = (queries @ _vectors(changes, words, index, embedder).T).astype(np.float64)
    mean, deviation = _background(queries, index)
    nearness: Numbers = (cosines - mean[:, None]) / deviation[:, None]
    return nearness


def _background(queries: Vectors, index: PublishedIndex) -> tuple[Numbers, Numbers]:
    """The mean cosine of each query with the repository's documents, and its standard deviation; of few documents
    drawn towards what is usual."""
    vectors = index.vectors[Lane.FUSED]
    sample = vectors[:: max(1, len(vectors) // _SAMPLED)]
    cosines = (queries @ sample.T).astype(np.float64)
    total = len(sample) + _USUAL_COUNT
    mean = (cosines.sum(axis=1) + _USUAL_COUNT * _USUAL_MEAN) / total
    squares = (cosines**2).sum(axis=1) + _USUAL_COUNT * (_USUAL_MEAN**2 + _USUAL_DEVIATION**2)
    return mean, np.sqrt(np.maximum(squares / total - mean**2, _LEAST_VARIANCE))


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
