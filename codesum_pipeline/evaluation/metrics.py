"""The measures of one answered question.

`ndcg@10` is the list metric that code search benchmarks publish: of the first ten hits, the rank of the first that
covers each target, with binary gain, so that ten different files do better than ten places of one file. `file_*` count
files in the order of their first hits; `function_*` hits that are the wanted function or class; `module_*` folders that
hold a target. `acc` is strict: every target within the first k.
"""

import math
from collections.abc import Iterable, Sequence

from codesum_pipeline.evaluation.questions import AnswerPlace, Question
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.retrieval.hits import Hit

CUTOFFS = (1, 3, 5, 10, 20)
# Ranked measures look at one page of hits.
PAGE = 10
# How many hits the measures look at.
DEPTH = max(CUTOFFS)

# The published figures of this benchmark count a target's lines; elsewhere the lines of a relevant place are a
# quotation, and its file is the target.
_SOURCE_WITH_SPANS = "semble"

Measures = dict[str, float]


def measure(question: Question, hits: Sequence[Hit], *, levels: Sequence[Level] = LEVELS) -> Measures:
    """Every measure, between 0 and 1, that the question's targets and the levels allow, by name.

    Folders are measured only where they are the only level.
    """
    if tuple(levels) == (Level.MODULE,):
        return _module_measures(question.relevant, hits)
    measures = {f"ndcg@{PAGE}": _list_ndcg(question, hits[:PAGE])}
    measures |= _file_measures(question, hits)
    if question.symbols:
        measures |= _function_measures(question.symbols, hits)
    return measures


def _list_ndcg(question: Question, hits: Sequence[Hit]) -> float:
    spans_count = question.source.startswith(_SOURCE_WITH_SPANS)
    ranks = {
        next((rank for rank, hit in enumerate(hits) if _covers(hit, target, spans_count=spans_count)), None)
        for target in question.relevant
    }
    return _dcg(rank for rank in ranks if rank is not None) / _ideal_dcg(len(question.relevant))


def _covers(hit: Hit, target: AnswerPlace, *, spans_count: bool) -> bool:
    """Whether a hit has the target's path, counted from the same root or a deeper one, and shares its lines."""
    return _same_path(hit.file_path, target.file_path) and not (
        spans_count and hit.start_line is not None and target.start_line is not None and not _overlap(hit, target)
    )


def _file_measures(question: Question, hits: Sequence[Hit]) -> Measures:
    wanted = {target.file_path for target in question.relevant}
    ranks = [rank for rank, path in enumerate(dict.fromkeys(hit.file_path for hit in hits)) if path in wanted]
    return {
        f"file_ndcg@{PAGE}": _dcg(rank for rank in ranks if rank < PAGE) / _ideal_dcg(len(wanted)),
        **_ranked("file", ranks, len(wanted)),
    }


def _function_measures(wanted: Sequence[AnswerPlace], hits: Sequence[Hit]) -> Measures:
    first = (next((rank for rank, hit in enumerate(hits) if _is_symbol(hit, target)), None) for target in wanted)
    return _ranked("function", [rank for rank in first if rank is not None], len(wanted))


def _is_symbol(hit: Hit, target: AnswerPlace) -> bool:
    if hit.file_path != target.file_path:
        return False
    if hit.qualified_name and target.symbol:
        return hit.qualified_name == target.symbol
    return _overlap(hit, target)


def _module_measures(relevant: Sequence[AnswerPlace], hits: Sequence[Hit]) -> Measures:
    first = (next((rank for rank, hit in enumerate(hits) if _is_above(hit, target)), None) for target in relevant)
    return _ranked("module", [rank for rank in first if rank is not None], len(relevant))


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


def _same_path(a: str, b: str) -> bool:
    return a == b or a.endswith(f"/{b}") or b.endswith(f"/{a}")


def _overlap(hit: Hit, target: AnswerPlace) -> bool:
    if hit.start_line is None or hit.end_line is None or target.start_line is None or target.end_line is None:
        return False
    return hit.start_line <= target.end_line and target.start_line <= hit.end_line
