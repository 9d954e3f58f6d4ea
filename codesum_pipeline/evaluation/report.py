"""Tables of answers: by way of asking, against the first way, and by what the questions are about.

Every mean stands beside its interval, and every difference is taken in pairs: over few questions the second digit is
chance more often than not.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from codesum_pipeline.evaluation.bootstrap import Interval, interval, paired_interval
from codesum_pipeline.evaluation.evaluate import SYMBOLS, QuestionResult

# The measures for people; the report for programs has all.
HEADLINE = ("ndcg@10", "file_mrr@10", "file_recall@10", "function_recall@10", "function_mrr@10", "module_recall@10")

_GROUPINGS: Mapping[str, Callable[[QuestionResult], str]] = {
    "category": lambda answer: answer.question.category,
    "language": lambda answer: answer.question.language,
    "repository": lambda answer: answer.question.repo or "",
    "level": lambda answer: answer.question.level or "",
}

QuestionKey = tuple[str | None, str]
# Writes one number.
Show = Callable[[Interval], str]

_FOOTNOTE = (
    "In brackets the 95 % interval, by 10,000 draws from the questions; differences are taken question by question. "
    "`ndcg@10` is of the hits in their order; `file_…` counts each file once; `function_…` counts the wanted function "
    "or class itself; `module_…` a folder above the answer."
)


class MeasureRow(Struct, frozen=True):
    """Some answers in numbers: each measure over the questions that have it, and the median and 95th percentile of
    latencies."""

    label: str
    questions: int
    measures: Mapping[str, Interval]
    p50_ms: float
    p95_ms: float


class Summary(Struct, frozen=True):
    """Rows of one kind under a title."""

    title: str
    rows: tuple[MeasureRow, ...]

    @property
    def headline(self) -> tuple[str, ...]:
        """The measures for people that any row has."""
        return tuple(name for name in HEADLINE if any(name in row.measures for row in self.rows))


class Report(Struct, frozen=True):
    """`setups` has one row per way of asking, `differences` each way against the first, `groups` the same by group."""

    setups: Summary
    differences: Summary
    groups: tuple[Summary, ...]
    notes: tuple[str, ...] = ()


def summarize(answers: Sequence[QuestionResult], *, notes: Sequence[str] = ()) -> Report:
    """Put answers into tables; all setups are compared with the first."""
    by_setup = _grouped(answers, lambda answer: answer.setup)
    reference = next(iter(by_setup), "")
    return Report(
        setups=Summary("ways of asking", tuple(_row(name, found) for name, found in by_setup.items())),
        differences=Summary(
            f"differences from {reference}",
            tuple(
                _difference(name, by_setup[reference], found) for name, found in by_setup.items() if name != reference
            ),
        ),
        groups=tuple(
            summary
            for name, found in by_setup.items()
            if name in (reference, SYMBOLS.name)
            for summary in _by_groups(name, found)
        ),
        notes=tuple(notes),
    )


def _by_groups(setup: str, answers: Sequence[QuestionResult]) -> Iterable[Summary]:
    """One setup's answers by each property in which its questions differ."""
    for what, value_of in _GROUPINGS.items():
        groups = _grouped(answers, value_of)
        if len(groups) > 1:
            rows = tuple(_row(value or "(none)", groups[value]) for value in sorted(groups))
            yield Summary(f"{setup}, by {what}", rows)


def _grouped(
    answers: Sequence[QuestionResult], key: Callable[[QuestionResult], str]
) -> dict[str, list[QuestionResult]]:
    """In the order of first appearance."""
    groups: dict[str, list[QuestionResult]] = {}
    for answer in answers:
        groups.setdefault(key(answer), []).append(answer)
    return groups


def _row(label: str, answers: Sequence[QuestionResult]) -> MeasureRow:
    measures = {name: interval(list(_values(answers, name).values())) for name in _names(answers)}
    return MeasureRow(label, len(answers), measures, *_latencies(answers))


def _difference(label: str, before: Sequence[QuestionResult], after: Sequence[QuestionResult]) -> MeasureRow:
    """The changes for the questions that both ways answered."""
    shared = {_key(answer) for answer in before} & {_key(answer) for answer in after}
    before, after = ([answer for answer in each if _key(answer) in shared] for each in (before, after))
    measures = {}
    for name in _names(after):
        old, new = _values(before, name), _values(after, name)
        if both := [key for key in new if key in old]:
            measures[name] = paired_interval([old[key] for key in both], [new[key] for key in both])
    (p50_before, p95_before), (p50_after, p95_after) = _latencies(before), _latencies(after)
    return MeasureRow(label, len(shared), measures, p50_after - p50_before, p95_after - p95_before)


def _latencies(answers: Sequence[QuestionResult]) -> tuple[float, float]:
    if not answers:
        return 0.0, 0.0
    p50, p95 = np.quantile([answer.latency_ms for answer in answers], [0.5, 0.95])
    return float(p50), float(p95)


def _names(answers: Sequence[QuestionResult]) -> list[str]:
    return list(dict.fromkeys(name for answer in answers for name in answer.measures))


def _values(answers: Sequence[QuestionResult], name: str) -> dict[QuestionKey, float]:
    return {_key(answer): answer.measures[name] for answer in answers if name in answer.measures}


def _key(answer: QuestionResult) -> QuestionKey:
    """Ids of questions are unique within a repository: two copies of a repository have the same."""
    return answer.question.repo, answer.question.id


def cells(row: MeasureRow, measures: Sequence[str], show: Show) -> list[str]:
    """A row as text: label, questions, the measures, latency."""
    shown = [show(row.measures[name]) if name in row.measures else "-" for name in measures]
    return [row.label, f"{row.questions:,}", *shown, f"{row.p50_ms:+.1f}" if show is signed else f"{row.p50_ms:.1f}"]


def columns(first: str, measures: Sequence[str]) -> list[str]:
    """The head over `cells`."""
    return [first, "questions", *measures, "ms"]


def plain(found: Interval) -> str:
    """`0.861 [0.838, 0.884]`."""
    return f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"


def short(found: Interval) -> str:
    """`0.861 ±0.023`: the mean and half the width of its interval."""
    return f"{found.mean:.3f} ±{(found.high - found.low) / 2:.3f}"


def signed(found: Interval) -> str:
    """`+0.012 [+0.001, +0.023] *`: a star where the interval leaves out zero."""
    return f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]{' *' if found.is_clear else ''}"


def markdown(report: Report) -> str:
    """The report as a page."""
    parts = ["# Retrieval evaluation\n", *(f"- {note}\n" for note in report.notes)]
    for summary, show in shown_tables(report, plain):
        parts.append(f"\n## {summary.title[:1].upper()}{summary.title[1:]}\n\n{_markdown_table(summary, show)}")
    return "".join([*parts, f"\n{_FOOTNOTE}\n"])


def shown_tables(report: Report, show_mean: Show) -> list[tuple[Summary, Show]]:
    """The tables with rows, in order, each with how its numbers are shown."""
    shown = [(report.setups, show_mean), (report.differences, signed), *((group, show_mean) for group in report.groups)]
    return [(summary, show) for summary, show in shown if summary.rows]


def _markdown_table(summary: Summary, show: Show) -> str:
    head = columns("", summary.headline)
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *(cells(row, summary.headline, show) for row in summary.rows)]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |\n" for line in lines)


def as_json(report: Report) -> dict[str, Any]:
    """The report for programs: every measure, unrounded."""
    return {
        "notes": list(report.notes),
        "setups": _json_rows(report.setups),
        "differences": _json_rows(report.differences),
        "groups": [{"title": group.title, "rows": _json_rows(group)} for group in report.groups],
    }


def _json_rows(summary: Summary) -> list[dict[str, Any]]:
    return [
        {
            "label": row.label,
            "questions": row.questions,
            "measures": {
                name: {"mean": found.mean, "low": found.low, "high": found.high} for name, found in row.measures.items()
            },
            "latency_ms": {"p50": row.p50_ms, "p95": row.p95_ms},
        }
        for row in summary.rows
    ]
