"""Questions asked in several ways, and the measures of each answer."""

import time
from collections.abc import Sequence

from msgspec import Struct

from codesum_pipeline.evaluation.metrics import DEPTH, Measures, measure
from codesum_pipeline.evaluation.questions import Question
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.version_folder import LANES, Lane
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.guard import FailureGuard, guarded
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.retrieval.weights import DEFAULT_WEIGHTS, Weights, has_lane


class EvaluationSetup(Struct, frozen=True):
    """One way of asking. A question with a level is asked at that level, or not at all where the setup lacks it."""

    name: str
    lanes: tuple[Lane, ...] = LANES
    levels: tuple[Level, ...] = LEVELS
    weights: Weights = DEFAULT_WEIGHTS

    def levels_for(self, question: Question) -> tuple[Level, ...]:
        """The levels at which a question is asked."""
        if question.level is None:
            return self.levels
        return (question.level,) if question.level in self.levels else ()


ALL = EvaluationSetup("all lanes")
# The baseline: the lanes without written texts.
CODE_ONLY = EvaluationSetup("code only", lanes=(Lane.CODE, Lane.SYMBOL))
# A question about one function: files and folders would only take its place.
SYMBOLS = EvaluationSetup("functions and classes", levels=(Level.FUNCTION, Level.CLASS))
EACH_LANE = tuple(EvaluationSetup(f"lane {lane}", lanes=(lane,)) for lane in LANES)
EACH_LEVEL = tuple(EvaluationSetup(f"level {level}", levels=(level,)) for level in LEVELS)
SETUPS = (ALL, CODE_ONLY, *EACH_LANE, *EACH_LEVEL)


def setups_for(index: PublishedIndex) -> tuple[EvaluationSetup, ...]:
    """The setups whose lanes an index has."""
    return tuple(
        setup for setup in SETUPS if all(has_lane(index, lane) for lane in setup.lanes) or setup.lanes == LANES
    )


class QuestionResult(Struct, frozen=True):
    """The answer of one setup to one question; `top` are the ids of the hits, best first."""

    question: Question
    setup: str
    measures: Measures
    latency_ms: float
    top: tuple[str, ...]


def evaluate(
    indexes: Sequence[PublishedIndex],
    questions: Sequence[Question],
    *,
    embedder: Embedder,
    setups: Sequence[EvaluationSetup],
    guard: FailureGuard | None = None,
    progress: Progress = no_progress,
) -> list[QuestionResult]:
    """Ask every question in every way: setup by setup, in the order of the questions.

    With a guard, a question that fails in one way counts in none: ways are compared question by question. Raises
    `ConfigurationError` for a question about a repository that is not among the indexes.
    """
    routed = [(question, indexes_of(indexes, question)) for question in questions]
    for question, among in routed:
        if not among:
            raise ConfigurationError(f"question {question.id!r}: repository {question.repo!r} is not indexed")
    total = len(setups) * len(routed)
    answers: list[QuestionResult] = []
    for position, setup in enumerate(setups):
        for number, (question, among) in enumerate(routed, start=position * len(routed) + 1):
            if levels := setup.levels_for(question):
                with guarded(guard, question.id):
                    answers.append(_ask(question, among, setup, levels, embedder))
            progress("questions", number, total)
    return [answer for answer in answers if guard is None or answer.question.id not in guard.failed]


def indexes_of(indexes: Sequence[PublishedIndex], question: Question) -> list[PublishedIndex]:
    """The index with the question's key, else those of its owner/name; all where it names none."""
    if question.repo is None:
        return list(indexes)
    return [index for index in indexes if index.repo == question.repo] or [
        index for index in indexes if index.slug == question.repo
    ]


def _ask(
    question: Question,
    indexes: list[PublishedIndex],
    setup: EvaluationSetup,
    levels: tuple[Level, ...],
    embedder: Embedder,
) -> QuestionResult:
    start = time.perf_counter()
    # A build whose evaluation is off imports no search.
    from codesum_pipeline.retrieval.search import search

    hits = search(
        indexes,
        question.query,
        embedder=embedder,
        top=DEPTH,
        levels=levels,
        lanes=setup.lanes,
        weights=setup.weights,
    )
    latency_ms = 1000 * (time.perf_counter() - start)
    return QuestionResult(
        question, setup.name, measure(question, hits, levels=levels), latency_ms, tuple(hit.id for hit in hits)
    )


NDCG = "ndcg@10"
FUNCTION_MRR = "function_mrr@10"
_OF_SYMBOLS = (Level.FUNCTION, Level.CLASS)


def score(answer: QuestionResult) -> float:
    """One number for comparing evaluations: the MRR of the wanted function or class, else nDCG@10 of the files."""
    if answer.question.level in _OF_SYMBOLS and FUNCTION_MRR in answer.measures:
        return answer.measures[FUNCTION_MRR]
    return answer.measures[NDCG]
