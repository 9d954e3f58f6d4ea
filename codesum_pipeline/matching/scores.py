"""How well a change fits an intent: a number between 0 and 1 that means the same in each repository and build.

Ranks say which of some documents is the best one and nothing about whether it is good, so nothing is ranked here: the
evidence for each change is weighed by itself. The weights are such that a score is about how often a match with it
is right, as judged by hand over the histories of public repositories (benchmarks/results/digests.md).
"""

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct

from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.matching.evidence import ChangeEvidence, Numbers, ReadBlob, Subject, gather, subjects_of, words_of
from codesum_pipeline.model.cancellation import checkpoint
from codesum_pipeline.model.intents import DocumentChange, Intent, IntentMatch
from codesum_pipeline.retrieval.adjustments import role_factor
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.weights import DEFAULT_WEIGHTS
from codesum_pipeline.source.languages import FileRole, role_of

# Changes weighed at one time: bounds the memory.
_AT_ONCE = 2048
_DIGITS = 4


class ScoreWeights(Struct, frozen=True):
    """The weights of a logistic sum; `base` is the sum without any evidence."""

    base: float
    nearness: float
    said: float
    named: float

    def of(self, evidence: ChangeEvidence) -> Numbers:
        total = self.base + self.said * evidence.said + self.named * evidence.named
        if self.nearness:
            total = total + self.nearness * evidence.nearness
        scores: Numbers = 1 / (1 + np.exp(-total))
        return scores


# Logistic regressions on 472 judged matches of 59 intents in six repositories; checked on 318 of six others.
WITH_VECTORS = ScoreWeights(base=-3.33, nearness=0.51, said=1.4, named=5.47)
WORDS_ALONE = ScoreWeights(base=-1.92, nearness=0.0, said=1.16, named=5.69)


def match(
    changes: Sequence[DocumentChange],
    intents: Sequence[Intent],
    index: PublishedIndex,
    embedder: Embedder | None,
    read: ReadBlob = lambda blob, language: "",
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
        for found in choose(intent, _matches(intent, changes, row, np.flatnonzero(row >= _least(intent)).tolist()))
    ]


def score_changes(
    changes: Sequence[DocumentChange],
    intents: Sequence[Intent],
    index: PublishedIndex,
    embedder: Embedder | None,
    read: ReadBlob = lambda blob, language: "",
) -> list[list[IntentMatch]]:
    """Each intent's match with every change, in the order of the changes."""
    scores = _scores(changes, intents, index, embedder, read)
    every = range(len(changes))
    return [_matches(intent, changes, row, every) for intent, row in zip(intents, scores, strict=True)]


def choose(intent: Intent, matches: Sequence[IntentMatch]) -> list[IntentMatch]:
    """The matches that an intent asks for, best first; ties break by repository and document."""
    ordered = sorted(matches, key=lambda found: (-score_of(found), found.change.repository, found.change.document_id))
    told = [found for found in ordered if score_of(found) >= _least(intent)]
    return told if intent.top_k is None else told[: intent.top_k]


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
        checkpoint()
        some = changes[start : start + _AT_ONCE]
        words = [words_of(change, read) for change in some]
        evidence = gather(subjects, some, words, index, embedder)
        chances = np.where(np.isnan(evidence.nearness), WORDS_ALONE.of(evidence), WITH_VECTORS.of(evidence))
        found.append(np.round(chances * _factors(some, subjects), _DIGITS))
    return np.concatenate(found, axis=1)


# What fits worse is no answer, however few fit better.
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
