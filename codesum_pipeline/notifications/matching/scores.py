"""How well a change fits an intent: a number between 0 and 1 that means the same in each repository and build.

A subject is what an intent asks about: its vector, and its words, each as heavy as it is rare. Evidence for a change
are the document's names and text, and its lines, or of a changed file the lines that differ.

Ranks say which of some documents is the best one and nothing about whether it is good, so nothing is ranked here: the
evidence for each change is weighed by itself. The weights are such that a score is about how often a match with it
is right, as judged by hand over the histories of public repositories (benchmarks/results/digests.md).
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.errors import RepositoryUnavailable, SkippedFile
from codesum_pipeline.foundation.data_model.standing_question import (
    ChangeKind,
    DocumentChange,
    DocumentState,
    Intent,
    IntentMatch,
)
from codesum_pipeline.foundation.language_facts.file_languages import FileRole, role_of
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.indexes.lanes.lane_texts import BODY_CHARACTERS
from codesum_pipeline.indexes.lanes.tokens import tokenize
from codesum_pipeline.search.retrieval.adjustments import role_factor
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.query import asks_for_tests
from codesum_pipeline.search.retrieval.weights import DEFAULT_WEIGHTS
from codesum_pipeline.source.files.encodings import read_other_version
from codesum_pipeline.source.git.git import BlobReader

# How a standing question is put, not what it is about: "tell me about anything that touches billing".
_FRAME_WORDS = """
    about affect affected affecting affects all any anything anywhere change changed changes changing code
    concern concerned concerning concerns everything file files function functions handle handled handles
    handling has have i if implementation implemented interested involving know like made me modified new notify
    our ours please related relates relating something tell thing things touch touched touches touching update
    updated updates us want way we whatever whenever who why work working works would you
"""
_FRAME = frozenset(_FRAME_WORDS.split())
# An intent that names many things is about each of them: nothing has to have all of its words.
_HEAVIEST = 2
_WORD = re.compile(r"[^\W_]+")


class Subject(Struct, frozen=True):
    """`weights` are the words' shares in the heaviest few of them; none for an intent without a word.

    `vector` is None where only words are compared.
    """

    weights: Mapping[str, float]
    vector: Vectors | None
    asks_for_tests: bool


def subjects_of(intents: Sequence[Intent], index: PublishedIndex, embedder: Embedder | None) -> list[Subject]:
    """The subjects of some intents in a repository; raises `ConfigurationError` when its index was made with another
    embedding model."""
    if embedder is not None:
        index.check_embedder(embedder)
    texts = [subject_text(intent.text) for intent in intents]
    # BM25's weight of each token, by how many documents and passages have it.
    tokens, words = sorted({token for text in texts for token in tokenize(text)}), index.words[Lane.CODE]
    having = {token: span.stop - span.start for token, span in zip(tokens, words.spans(tokens), strict=True)}
    heaviness = {token: math.log1p((words.documents - count + 0.5) / (count + 0.5)) for token, count in having.items()}
    return [
        Subject(
            weights=_shares({token: heaviness[token] for token in tokenize(text)}),
            vector=None if embedder is None else embedder.embed_query(text),
            asks_for_tests=asks_for_tests(intent.text),
        )
        for intent, text in zip(intents, texts, strict=True)
    ]


def subject_text(text: str) -> str:
    """The text without the words that only ask; all of it where no other says anything."""
    kept = _WORD.sub(lambda found: "" if found[0].lower() in _FRAME else found[0], text)
    return " ".join(kept.split()) if tokenize(kept) else text


def _shares(weights: Mapping[str, float]) -> dict[str, float]:
    total = sum(sorted(weights.values())[-_HEAVIEST:])
    return {token: weight / total for token, weight in weights.items()} if total else {}


# Gives the text of a blob in a language, perhaps in an encoding, or nothing if it cannot be read.
ReadBlob = Callable[[str, str, str | None], str]

# The most lines of a document and of its change: more lines add no information.
_MOST_LINES = 400
_BLOBS_KEPT = 64


class ChangeWords(Struct, frozen=True):
    """The tokens of a change: of its name and path, and of the whole document, or of a file the lines that came or
    went.

    `text` is what the change is about, for a document without a vector, or with only a part changed.
    """

    named: frozenset[str]
    anywhere: frozenset[str]
    text: str


def words_of(change: DocumentChange, read: ReadBlob) -> ChangeWords:
    """The words of a change; above the file level, and where no blob can be read, only its names and text."""
    state = change.state
    before, after = _lines(change.before, change, read), _lines(change.after, change, read)
    # For a file that existed before, the change counts, not what the whole file is about.
    is_partial = change.level is Level.FILE and change.kind is ChangeKind.CHANGED
    lines = [*_only_in(after, before), *_only_in(before, after)] if is_partial else after or before
    lines = lines[:_MOST_LINES]
    head = [] if is_partial and lines else [*filter(None, (state.signature, state.summary))]
    named = frozenset(tokenize(f"{state.name} {state.file_path}"))
    text = "\n".join((*head, *lines))
    return ChangeWords(named=named, anywhere=named | frozenset(tokenize(text)), text=f"{state.name}\n{text}")


def _lines(state: DocumentState | None, change: DocumentChange, read: ReadBlob) -> list[str]:
    if state is None or state.blob is None:
        return []
    lines = read(state.blob, change.language, state.encoding).split("\n")
    if change.level is Level.FILE or state.start_line is None:
        return lines
    return lines[state.start_line - 1 : state.end_line]


def _only_in(lines: list[str], others: list[str]) -> list[str]:
    """The lines that are more often in one text than in the other, in order; blanks around them aside."""
    left = Counter(line.strip() for line in lines)
    left.subtract(Counter(line.strip() for line in others))
    found = []
    for line in lines:
        if left[line.strip()] > 0 and line.strip():
            left[line.strip()] -= 1
            found.append(line)
    return found


def make_blob_reader(blobs: BlobReader) -> ReadBlob:
    """A reader of blobs through one git process. It keeps the last texts: documents of one file follow each other."""

    @lru_cache(maxsize=_BLOBS_KEPT)
    def read(blob: str, language: str, encoding: str | None) -> str:
        try:
            return read_other_version(blobs.read(blob), language, encoding)
        except (SkippedFile, RepositoryUnavailable):
            return ""

    return read


# Documents that show how near one is to a query by chance.
_SAMPLED = 2000
# The shipped model's values in the calibration's repositories, and the number of documents they count as.
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
    anywhere: Numbers


def gather_evidence(
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
        is_present = np.array([[token in one for one in of] for token in tokens], dtype=np.float64)
        found: Numbers = np.minimum(weights @ is_present.reshape(len(tokens), len(of)), 1.0)
        return found

    return ChangeEvidence(
        nearness=_nearness(subjects, changes, words, index, embedder),
        named=shares([each.named for each in words]),
        anywhere=shares([each.anywhere for each in words]),
    )


def _nearness(
    subjects: Sequence[Subject],
    changes: Sequence[DocumentChange],
    words: Sequence[ChangeWords],
    index: PublishedIndex,
    embedder: Embedder | None,
) -> Numbers:
    vectors = [subject.vector for subject in subjects if subject.vector is not None]
    if embedder is None or len(vectors) < len(subjects) or not changes:
        return np.full((len(subjects), len(changes)), np.nan)
    queries = np.array(vectors)
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
    """The vectors of the published version; those of documents not in it, or changed in part, are made here by a
    model that runs here, and are NaN else."""
    found = np.full((len(changes), len(index.vectors[Lane.FUSED].T)), np.nan, dtype=np.float32)
    rows = [_vector_row(change, index) for change in changes]
    present = [place for place, row in enumerate(rows) if row is not None]
    if present:
        found[present] = index.vectors[Lane.FUSED][[row for row in rows if row is not None]]
    lacking = [place for place, row in enumerate(rows) if row is None]
    if lacking and embedder.usd_per_token == 0:
        found[lacking] = embedder.embed([words[place].text[:BODY_CHARACTERS] for place in lacking])
    return found


def _vector_row(change: DocumentChange, index: PublishedIndex) -> int | None:
    """The row of the document's vector; None if the document as a whole does not count, or has none."""
    if change.kind is ChangeKind.REMOVED or (change.level is Level.FILE and change.kind is ChangeKind.CHANGED):
        return None
    row = index.row(change.document_id)
    if row is None:
        return None
    place = int(index.dense_rows.searchsorted(row))
    return place if place < len(index.dense_rows) and index.dense_rows[place] == row else None


# Changes weighed at one time: bounds the memory.
_AT_ONCE = 2048
_DIGITS = 4


class ScoreWeights(Struct, frozen=True):
    """The weights of a logistic sum; `base` is the sum without any evidence."""

    base: float
    nearness: float
    anywhere: float
    named: float

    def of(self, evidence: ChangeEvidence) -> Numbers:
        total = self.base + self.anywhere * evidence.anywhere + self.named * evidence.named
        if self.nearness:
            total = total + self.nearness * evidence.nearness
        scores: Numbers = 1 / (1 + np.exp(-total))
        return scores


# Logistic regressions on 472 judged matches of 59 intents in six repositories; checked on 318 of six others.
WITH_VECTORS = ScoreWeights(base=-3.33, nearness=0.51, anywhere=1.4, named=5.47)
WORDS_ALONE = ScoreWeights(base=-1.92, nearness=0.0, anywhere=1.16, named=5.69)


def match_changes(
    changes: Sequence[DocumentChange],
    intents: Sequence[Intent],
    index: PublishedIndex,
    embedder: Embedder | None,
    read: ReadBlob = lambda blob, language, encoding: "",
) -> list[IntentMatch]:
    """The changes that concern each intent, best first, intent after intent: those that reach its threshold, or its
    `top_k` best of these changes.

    All intents are asked that are given: whose repository it is, and whether they are enabled, is for the caller.
    Without an embedder words alone are compared. Raises `ConfigurationError` as `subjects_of` does.
    """
    scores = _scores(changes, intents, index, embedder, read)
    return [
        found
        for intent, row in zip(intents, scores, strict=True)
        for found in choose_matches(
            intent, _matches(intent, changes, row, np.flatnonzero(row >= _least(intent)).tolist())
        )
    ]


def score_changes(
    changes: Sequence[DocumentChange],
    intents: Sequence[Intent],
    index: PublishedIndex,
    embedder: Embedder | None,
    read: ReadBlob = lambda blob, language, encoding: "",
) -> list[list[IntentMatch]]:
    """Each intent's match with every change, in the order of the changes."""
    scores = _scores(changes, intents, index, embedder, read)
    every = range(len(changes))
    return [_matches(intent, changes, row, every) for intent, row in zip(intents, scores, strict=True)]


def choose_matches(intent: Intent, matches: Sequence[IntentMatch]) -> list[IntentMatch]:
    """The matches that an intent asks for, best first; ties break by repository and document."""
    ordered = sorted(matches, key=lambda found: (-score_of(found), found.change.repository, found.change.document_id))
    reaching = [found for found in ordered if score_of(found) >= _least(intent)]
    return reaching if intent.top_k is None else reaching[: intent.top_k]


def score_of(found: IntentMatch) -> float:
    return found.score or 0.0


def _least(intent: Intent) -> float:
    return intent.threshold if intent.threshold is not None else _SOMETHING


def _matches(
    intent: Intent, changes: Sequence[DocumentChange], scores: Numbers, places: Iterable[int]
) -> list[IntentMatch]:
    return [IntentMatch(intent.name, changes[place], float(scores[place])) for place in places]


def _scores(
    changes: Sequence[DocumentChange],
    intents: Sequence[Intent],
    index: PublishedIndex,
    embedder: Embedder | None,
    read: ReadBlob,
) -> Numbers:
    """The scores: a row for each intent and a column for each change."""
    subjects = subjects_of(intents, index, embedder)
    found = [np.zeros((len(intents), 0))]
    for start in range(0, len(changes), _AT_ONCE):
        stop_if_cancelled()
        some = changes[start : start + _AT_ONCE]
        words = [words_of(change, read) for change in some]
        evidence = gather_evidence(subjects, some, words, index, embedder)
        chances = np.where(np.isnan(evidence.nearness), WORDS_ALONE.of(evidence), WITH_VECTORS.of(evidence))
        found.append(np.round(chances * _factors(some, subjects), _DIGITS))
    return np.concatenate(found, axis=1)


# A worse match is no answer, even if few are better.
_SOMETHING = 0.1


def _factors(changes: Sequence[DocumentChange], subjects: Sequence[Subject]) -> Numbers:
    """The factors for tests, vendored code and change logs, as in search; others have 1."""
    weights = DEFAULT_WEIGHTS
    are_tests = np.array([change.is_test for change in changes])
    are_vendored = np.array([change.is_vendored for change in changes])
    # A list of changes says again what the changes themselves say. Other texts, data and settings are changes as any.
    are_lists = np.array([role_of(change.state.file_path) is FileRole.HISTORY for change in changes])
    of_tests = np.array([1.0 if subject.asks_for_tests else weights.test_factor for subject in subjects])
    of_lists = np.array([role_factor(FileRole.HISTORY, subject.weights, weights) for subject in subjects])
    found: Numbers = (
        np.where(are_tests, of_tests[:, None], 1.0)
        * np.where(are_lists, of_lists[:, None], 1.0)
        * np.where(are_vendored, weights.vendored_factor, 1.0)
    )
    return found
