"""Questions asked in several ways, the measures of each answer, and how far a mean over questions can be trusted.

`ndcg@10` is the list metric that code search benchmarks publish: of the first ten hits, the rank of the first that
covers each target, with binary gain, so that ten different files do better than ten places of one file. `file_*` count
files in the order of their first hits; `function_*` hits that are the wanted function or class; `module_*` folders that
hold a target. `acc` is strict: every target within the first k.

Intervals are percentiles of resampled questions. Two ways of asking are compared in pairs, question by question: the
difficulty of each question then cancels out, and a difference shows that the two means alone would hide. (Efron and
Tibshirani 1993, chapter 13; for search, Sakai 2006.)
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.guard import FailureGuard, guard_item
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.file_formats.version_folder import LANES, Lane
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question
from codesum_pipeline.search.retrieval.hits import Hit
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline.search.retrieval.weights import DEFAULT_WEIGHTS, Weights

CUTOFFS = (1, 3, 5, 10, 20)
# Ranked measures look at one page of hits.
PAGE = 10
# How many hits the measures look at.
DEPTH = max(CUTOFFS)
NDCG = "ndcg@10"
FUNCTION_MRR = "function_mrr@10"
# The published figures of this benchmark count a target's lines; elsewhere the lines of a relevant place are a
# quotation, and its file is the target.
_SOURCE_WITH_SPANS = "semble"
# The same questions give the same interval.
_SEED = 20_260_101
# The most numbers in memory at once, of 8 bytes each.
_HELD = 5_000_000
# On each side of a 95 % interval.
_TAIL = (1 - 0.95) / 2

Numbers = npt.NDArray[np.float64]
Measures = dict[str, float]


class Interval(Struct, frozen=True):
    """A mean, and the bounds within which it would mostly lie for other questions like these."""

    mean: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether a difference is distinguishable from none."""
        return self.low > 0 or self.high < 0


def interval_of(values: Sequence[float], *, samples: int = 10_000) -> Interval:
    """The 95 % interval of the mean; raises `ValueError` if there is no value."""
    if not len(values):
        raise ValueError("the mean of no values")
    array = np.asarray(values, dtype=np.float64)
    mean = float(array.mean())
    if np.all(array == array[0]):
        return Interval(mean, mean, mean)
    # The mean of each of `samples` draws, with replacement, of as many values as there are.
    rows = max(1, _HELD // len(array))
    means = [
        _times_drawn(len(array), min(rows, samples - start), start) @ array / len(array)
        for start in range(0, samples, rows)
    ]
    # Further digits of a sum depend on the machine.
    low, high = np.quantile(np.concatenate(means).round(12), [_TAIL, 1 - _TAIL])
    return Interval(mean, float(low), float(high))


def paired_interval(a: Sequence[float], b: Sequence[float]) -> Interval:
    """The interval of mean(b - a), where a[k] and b[k] are of the same question."""
    if len(a) != len(b):
        raise ValueError(f"{len(a)} values against {len(b)}: a pair needs both")
    return interval_of((np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64)).tolist())


@lru_cache(maxsize=1)
def _times_drawn(count: int, draws: int, seed: int) -> Numbers:
    """For each draw and each of `count` values, how often it was drawn: the measures of the same questions share it."""
    places = np.random.default_rng((_SEED, seed)).integers(0, count, size=(draws, count))
    places += np.arange(0, draws * count, count)[:, None]
    return np.bincount(places.ravel(), minlength=draws * count).reshape(draws, count).astype(np.float64)


def measure_hits(question: Question, hits: Sequence[Hit], *, levels: Sequence[Level] = LEVELS) -> Measures:
    """Every measure, between 0 and 1, that the question's targets and the levels allow, by name.

    Folders are measured only where they are the only level.
    """
    relevant = question.relevant
    if tuple(levels) == (Level.MODULE,):
        return _ranked("module", _first_ranks(hits, relevant, _is_above), len(relevant))
    spans_count = question.source.startswith(_SOURCE_WITH_SPANS)

    def covers(hit: Hit, target: AnswerPlace) -> bool:
        """Whether a hit has the target's path, counted from the same root or a deeper one, and shares its lines."""
        ours, theirs = f"/{hit.file_path}", f"/{target.file_path}"
        have_lines = hit.start_line is not None and target.start_line is not None
        is_there = ours.endswith(theirs) or theirs.endswith(ours)
        return is_there and (not (spans_count and have_lines) or _overlap(hit, target))

    covering = _first_ranks(hits[:PAGE], relevant, covers)
    wanted = {target.file_path for target in relevant}
    files = [rank for rank, path in enumerate(dict.fromkeys(hit.file_path for hit in hits)) if path in wanted]
    measures = {
        f"ndcg@{PAGE}": _dcg(set(covering)) / _ideal_dcg(len(relevant)),
        f"file_ndcg@{PAGE}": _dcg(rank for rank in files if rank < PAGE) / _ideal_dcg(len(wanted)),
        **_ranked("file", files, len(wanted)),
    }
    if symbols := question.symbols:
        measures |= _ranked("function", _first_ranks(hits, symbols, _is_symbol), len(symbols))
    return measures


def _first_ranks(
    hits: Sequence[Hit], targets: Sequence[AnswerPlace], is_answer: Callable[[Hit, AnswerPlace], bool]
) -> list[int]:
    """The rank, from 0, of the first hit that answers each of those targets that have one."""
    first = (next((rank for rank, hit in enumerate(hits) if is_answer(hit, target)), None) for target in targets)
    return [rank for rank in first if rank is not None]


def _is_symbol(hit: Hit, target: AnswerPlace) -> bool:
    if hit.file_path != target.file_path:
        return False
    if hit.qualified_name and target.symbol:
        return hit.qualified_name == target.symbol
    return _overlap(hit, target)


def _is_above(hit: Hit, target: AnswerPlace) -> bool:
    """Whether a folder is the target or holds it; the root does not count."""
    return hit.type == Level.MODULE and f"{target.file_path}/".startswith(f"{hit.file_path}/")


def _ranked(name: str, ranks: Sequence[int], wanted: int) -> Measures:
    """The measures of the ranks, from 0, of those of the `wanted` targets that were found."""
    best = min(ranks, default=PAGE)
    measures = {f"{name}_mrr@{PAGE}": 1 / (best + 1) if best < PAGE else 0.0}
    for k in CUTOFFS:
        found = sum(rank < k for rank in ranks)
        measures[f"{name}_recall@{k}"] = found / wanted
        measures[f"{name}_hit@{k}"] = float(found > 0)
        measures[f"{name}_acc@{k}"] = float(found == wanted)
    return measures


def _dcg(ranks: Iterable[int]) -> float:
    return sum(1 / math.log2(rank + 2) for rank in sorted(ranks))


def _ideal_dcg(wanted: int) -> float:
    return _dcg(range(min(PAGE, wanted)))


def _overlap(hit: Hit, target: AnswerPlace) -> bool:
    if hit.start_line is None or hit.end_line is None or target.start_line is None or target.end_line is None:
        return False
    return hit.start_line <= target.end_line and target.start_line <= hit.end_line


class EvaluationSetup(Struct, frozen=True):
    """One way of asking. A question with a level is asked at that level, or not at all if the setup lacks it."""

    name: str
    lanes: tuple[Lane, ...] = LANES
    levels: tuple[Level, ...] = LEVELS
    weights: Weights = DEFAULT_WEIGHTS


ALL = EvaluationSetup("all lanes")
# The baseline: the lanes without written texts.
CODE_ONLY = EvaluationSetup("code only", lanes=(Lane.CODE, Lane.SYMBOL))
# A question about one function: files and folders would only take its place.
SYMBOLS = EvaluationSetup("functions and classes", levels=(Level.FUNCTION, Level.CLASS))
EACH_LANE = tuple(EvaluationSetup(f"lane {lane}", lanes=(lane,)) for lane in LANES)
EACH_LEVEL = tuple(EvaluationSetup(f"level {level}", levels=(level,)) for level in LEVELS)
SETUPS = (ALL, CODE_ONLY, *EACH_LANE, *EACH_LEVEL)


class QuestionResult(Struct, frozen=True):
    """The answer of one setup to one question; `top` are the ids of the hits, best first."""

    question: Question
    setup: str
    measures: Measures
    latency_ms: float
    top: tuple[str, ...]


def ask_questions(
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
            wanted = question.level
            levels = setup.levels if wanted is None else tuple(level for level in setup.levels if level == wanted)
            if levels:
                with guard_item(guard, question.id):
                    answers.append(_ask(question, among, setup, levels, embedder))
            progress("questions", number, total)
    return [answer for answer in answers if guard is None or answer.question.id not in guard.failed]


def indexes_of(indexes: Sequence[PublishedIndex], question: Question) -> list[PublishedIndex]:
    """The index with the question's key, else those of its owner/name; all if it names none."""
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
    hits = search_indexes(
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
        question, setup.name, measure_hits(question, hits, levels=levels), latency_ms, tuple(hit.id for hit in hits)
    )


def score_of_answer(answer: QuestionResult) -> float:
    """One number for comparing evaluations: the MRR of the wanted function or class, else nDCG@10 of the files."""
    if answer.question.level in (Level.FUNCTION, Level.CLASS) and FUNCTION_MRR in answer.measures:
        return answer.measures[FUNCTION_MRR]
    return answer.measures[NDCG]
