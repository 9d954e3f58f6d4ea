"""Tables of answers: by way of asking, against the first way, and by what the questions are about.

Every mean is shown with its interval, and every difference is taken in pairs: over few questions the second digit is
chance more often than not.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, to_builtins

from codesum_pipeline.search.evaluation.evaluate import SYMBOLS, Interval, QuestionResult, interval_of, paired_interval

# The measures for people; the report for programs has all.
HEADLINE = ("ndcg@10", "file_mrr@10", "file_recall@10", "function_recall@10", "function_mrr@10", "module_recall@10")
_GROUPINGS: Mapping[str, Callable[[QuestionResult], str]] = {
    "category": lambda answer: answer.question.category,
    "language": lambda answer: answer.question.language,
    "repository": lambda answer: answer.question.repo or "",
    "level": lambda answer: answer.question.level or "",
}
_FOOTNOTE = (
    "In brackets the 95 % interval, by 10,000 draws from the questions; differences are taken question by question. "
    "`ndcg@10` is of the hits in their order; `file_…` counts each file once; `function_…` counts the wanted function "
    "or class itself; `module_…` a folder above the answer."
)

# Writes one number.
Show = Callable[[Interval], str]
# By the question's repository and id: ids are unique within a repository, and two copies of one have the same.
Answers = Mapping[tuple[str | None, str], QuestionResult]


class Latency(Struct, frozen=True):
    """The median and the 95th percentile."""

    p50: float
    p95: float


class MeasureRow(Struct, frozen=True):
    """Some answers in numbers, each measure over the questions that have it."""

    label: str
    questions: int
    measures: Mapping[str, Interval]
    latency_ms: Latency


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


def summarize_answers(answers: Sequence[QuestionResult], *, notes: Sequence[str] = ()) -> Report:
    """Put answers into tables; all setups are compared with the first."""
    by_setup = _grouped(answers, lambda answer: answer.setup)
    reference = next(iter(by_setup), "")
    others = [name for name in by_setup if name != reference]
    parted = [name for name in by_setup if name in (reference, SYMBOLS.name)]
    return Report(
        setups=Summary("ways of asking", tuple(_row(name, found) for name, found in by_setup.items())),
        differences=Summary(
            f"differences from {reference}",
            tuple(_difference(name, by_setup[reference], by_setup[name]) for name in others),
        ),
        groups=tuple(summary for name in parted for summary in _by_groups(name, by_setup[name])),
        notes=tuple(notes),
    )


def _by_groups(setup: str, answers: Sequence[QuestionResult]) -> Iterator[Summary]:
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
    names = dict.fromkeys(name for answer in answers for name in answer.measures)
    measures = {
        name: interval_of([answer.measures[name] for answer in answers if name in answer.measures]) for name in names
    }
    return MeasureRow(label, len(answers), measures, _latency(answers))


def _difference(label: str, before: Sequence[QuestionResult], after: Sequence[QuestionResult]) -> MeasureRow:
    """The changes for the questions that both ways answered."""
    old, new = _by_question(before), _by_question(after)
    both = [key for key in new if key in old]
    measures = {}
    for name in dict.fromkeys(name for key in both for name in new[key].measures):
        pairs = [(old[key].measures, new[key].measures) for key in both]
        pairs = [pair for pair in pairs if name in pair[0] and name in pair[1]]
        if pairs:
            measures[name] = paired_interval([a[name] for a, _ in pairs], [b[name] for _, b in pairs])
    was, now = _latency([old[key] for key in both]), _latency([new[key] for key in both])
    return MeasureRow(label, len(both), measures, Latency(now.p50 - was.p50, now.p95 - was.p95))


def _by_question(answers: Sequence[QuestionResult]) -> Answers:
    return {(answer.question.repo, answer.question.id): answer for answer in answers}


def _latency(answers: Sequence[QuestionResult]) -> Latency:
    if not answers:
        return Latency(0.0, 0.0)
    p50, p95 = np.quantile([answer.latency_ms for answer in answers], [0.5, 0.95])
    return Latency(float(p50), float(p95))


def cells_of_row(row: MeasureRow, measures: Sequence[str], show: Show) -> list[str]:
    """A row as text: label, questions, the measures, latency."""
    shown = [show(row.measures[name]) if name in row.measures else "-" for name in measures]
    latency = f"{row.latency_ms.p50:+.1f}" if show is signed_interval else f"{row.latency_ms.p50:.1f}"
    return [row.label, f"{row.questions:,}", *shown, latency]


def columns_of_rows(first: str, measures: Sequence[str]) -> list[str]:
    """The head over `cells`."""
    return [first, "questions", *measures, "ms"]


def plain_interval(found: Interval) -> str:
    """`0.861 [0.838, 0.884]`."""
    return f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"


def short_interval(found: Interval) -> str:
    """`0.861 ±0.023`: the mean and half the width of its interval."""
    return f"{found.mean:.3f} ±{(found.high - found.low) / 2:.3f}"


def signed_interval(found: Interval) -> str:
    """`+0.012 [+0.001, +0.023] *`: a star where the interval leaves out zero."""
    return f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]{' *' if found.is_clear else ''}"


def write_report(report: Report) -> str:
    """The report as a page."""
    parts = ["# Retrieval evaluation\n", *(f"- {note}\n" for note in report.notes)]
    for summary, numbers in shown_tables(report, plain_interval):
        parts.append(f"\n## {summary.title[:1].upper()}{summary.title[1:]}\n\n")
        head = columns_of_rows("", summary.headline)
        lines = [head, ["---", *["---:"] * (len(head) - 1)]]
        lines += [cells_of_row(row, summary.headline, numbers) for row in summary.rows]
        parts += [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |\n" for line in lines]
    return "".join([*parts, f"\n{_FOOTNOTE}\n"])


def shown_tables(report: Report, show_mean: Show) -> list[tuple[Summary, Show]]:
    """The tables with rows, in order, each with how its numbers are shown."""
    shown = [
        (report.setups, show_mean),
        (report.differences, signed_interval),
        *((group, show_mean) for group in report.groups),
    ]
    return [(summary, show) for summary, show in shown if summary.rows]


def as_json(report: Report) -> dict[str, Any]:
    """The report for programs: every measure, unrounded."""
    found = to_builtins(report)
    return {**found, "setups": found["setups"]["rows"], "differences": found["differences"]["rows"]}
