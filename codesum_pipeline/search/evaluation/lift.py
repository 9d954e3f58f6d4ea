"""The lift ledger: what do written texts add to an index of code, and what did they cost?

The same questions are asked of an index of code alone, of one with extractive texts, and, where there are any, of one
with texts that a model wrote. Each is compared with the one before, question by question, also by whether an author
documented the code that answers.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import pyarrow.compute as pc
from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.document import WrittenBy
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.indexes.lanes.lane_texts import author_words
from codesum_pipeline.search.evaluation.evaluate import (
    ALL,
    CODE_ONLY,
    Interval,
    QuestionResult,
    ask_questions,
    interval_of,
    paired_interval,
    score_of_answer,
)
from codesum_pipeline.search.evaluation.own_questions import (
    DEFAULT_COMMITS,
    DEFAULT_SAMPLE,
    ask_own_questions,
    is_held_out,
)
from codesum_pipeline.search.evaluation.questions import AnswerPlace, Question
from codesum_pipeline.search.evaluation.scratch import extractive_copy
from codesum_pipeline.search.retrieval.published_index import PublishedIndex

DOCUMENTED = "documented"
UNDOCUMENTED = "undocumented"


class DocumentedCode(Struct, frozen=True):
    """The ids of documents whose code has an author's documentation, and the symbols of each file: id, qualified name,
    lines."""

    ids: frozenset[str]
    symbols: Mapping[str, Sequence[tuple[str, str, int, int]]]

    @classmethod
    def of(cls, ws: Workspace) -> "DocumentedCode":
        columns = ["id", "type", "file_path", "qualified_name", "start_line", "end_line"]
        documents = ws.tables.read("documents", ws.key, columns=columns)
        symbols: defaultdict[str, list[tuple[str, str, int, int]]] = defaultdict(list)
        rows = zip(*(documents.column(name).to_pylist() for name in columns if name != "type"), strict=True)
        for id_, path, name, start, end in rows:
            if name is not None:
                symbols[path].append((id_, name, start, end))
        return cls(frozenset(author_words(ws, documents)), dict(symbols))

    def group(self, id_: str) -> str:
        return DOCUMENTED if id_ in self.ids else UNDOCUMENTED

    def group_of(self, question: Question) -> str:
        """The group of most documents that answer."""
        targets = question.symbols or question.relevant
        documented = sum(self.group(self._id_of(target)) == DOCUMENTED for target in targets)
        return DOCUMENTED if 2 * documented >= len(targets) else UNDOCUMENTED

    def _id_of(self, target: AnswerPlace) -> str:
        """The smallest symbol of a place's name or around its lines, else its file."""
        found = [
            (end - start, id_)
            for id_, name, start, end in self.symbols.get(target.file_path, ())
            if (
                name == target.symbol
                if target.symbol
                else target.start_line is not None and start <= target.start_line <= end
            )
        ]
        return min(found)[1] if found else target.file_path


EXTRACTIVE = "extractive texts"
BY_MODEL = "texts by a model"
EVERY_LEVEL = "all"
ANY_LEVEL = "any"

Dollars = Mapping[str, float]
N = TypeVar("N")


class Arm(Struct, frozen=True):
    """One kind of texts: the answers of an index with them, and their price by level and by group."""

    texts: str
    answers: Sequence[QuestionResult]
    cost_usd: Dollars = field(default_factory=dict)
    cost_by_group: Dollars = field(default_factory=dict)


class LiftRow(Struct, frozen=True):
    """One kind of texts at one level, or of one `Group`; `gain` is over the kind before it, None for the first."""

    level: str
    questions: int
    texts: str
    score: Interval
    gain: Interval | None
    cost_usd: float


class Lift(Struct, frozen=True):
    """All kinds of texts side by side: level by level, each in the order in which they build on one another."""

    rows: tuple[LiftRow, ...]


def lift_report(
    ws: Workspace,
    index: PublishedIndex,
    questions: Sequence[Question] | None,
    *,
    sample: int = DEFAULT_SAMPLE,
    commits: int = DEFAULT_COMMITS,
    progress: Progress = no_progress,
) -> Lift:
    """Compare the kinds of texts that a repository has; `index` is made from the tables of `ws`.

    Without `questions` its own are asked.
    """
    setups = (CODE_ONLY, ALL)
    if questions is not None:
        answers = ask_questions([index], questions, embedder=embedder_of(ws.settings), setups=setups, progress=progress)
    else:
        sample = 0 if _paid(ws) else sample
        answers = ask_own_questions(ws, index, setups=setups, sample=sample, commits=commits, progress=progress)
    return lift_of_answers(ws, answers, progress=progress)


def lift_of_answers(ws: Workspace, answers: Sequence[QuestionResult], *, progress: Progress = no_progress) -> Lift:
    """Compare the kinds of texts that a repository has by answers that were given by code alone and by all lanes.

    Questions from held-out docstrings count only where no model wrote texts, since a model saw the docstrings. Where a
    model wrote, an index with extractive texts is built and asked, too, unless embedding has a price.
    """
    paid = _paid(ws)
    if paid:
        answers = [answer for answer in answers if not is_held_out(answer.question)]
    code, texts = ([answer for answer in answers if answer.setup == setup.name] for setup in (CODE_ONLY, ALL))
    arms = [Arm(CODE_ONLY.name, code)]
    if not paid:
        return lift_of([*arms, Arm(EXTRACTIVE, texts)])
    embedder = embedder_of(ws.settings)
    if texts and embedder.usd_per_token == 0:
        questions = [answer.question for answer in texts]
        with extractive_copy(ws, progress=progress) as copy:
            extractive = ask_questions([copy], questions, embedder=embedder, setups=[ALL], progress=progress)
        arms.append(Arm(EXTRACTIVE, extractive))
    documentation = DocumentedCode.of(ws)
    groups = {answer.question.id: documentation.group_of(answer.question) for answer in answers}
    by_level = _sums((level, usd) for level, _, usd in paid)
    by_group = _sums((documentation.group(id_), usd) for _, id_, usd in paid)
    return lift_of([*arms, Arm(BY_MODEL, texts, by_level, by_group)], groups)


def lift_of(arms: Sequence[Arm], groups: Mapping[str, str] | None = None) -> Lift:
    """Compare answers to the same questions, each kind of texts with the one before it; also by questions' `groups`."""
    scores = [_by_level(arm.answers, groups or {}) for arm in arms]
    rows = []
    for level in sorted(scores[0], key=lambda name: name in _STOPS):
        for number, arm in enumerate(arms):
            ours = scores[number][level]
            before = scores[number - 1][level] if number else None
            costs = {**arm.cost_usd, **arm.cost_by_group, EVERY_LEVEL: sum(arm.cost_usd.values())}
            rows.append(
                LiftRow(
                    level=level,
                    questions=len(ours),
                    texts=arm.texts,
                    score=interval_of(list(ours.values())),
                    gain=paired_interval([before[id_] for id_ in ours], list(ours.values())) if before else None,
                    cost_usd=costs.get(level, 0.0),
                )
            )
    return Lift(tuple(rows))


def lift_markdown(lift: Lift) -> str:
    """The ledger as a table of Markdown."""
    lines = [
        "| level | questions | texts | score | from – to | gain | from – to | cost, $ | $ per +0.01 |",
        "|---|---:|---|---:|---|---:|---|---:|---:|",
    ]
    lines.extend(f"| {' | '.join(_cells(row))} |" for row in lift.rows)
    lines.append("")
    lines.append(
        "Score: MRR@10 where a function or class is asked for, else nDCG@10. Gain: over the line above, with its 95 % "
        "interval; in bold where it leaves out 0."
    )
    lines.extend(find_savings(lift))
    return "\n".join(lines)


def find_savings(lift: Lift) -> list[str]:
    """For each group in which a model's texts gained nothing: their price, and the setting that avoids it."""
    return [
        f"What {_WHO[row.level]} documented gained nothing by the model's texts ({row.gain.mean:+.3f}, "
        f"{row.questions} questions): they cost ${row.cost_usd:.2f}, which `{_STOPS[row.level]}` would save."
        for row in lift.rows
        if row.texts == BY_MODEL and row.level in _STOPS and row.gain and row.gain.mean <= 0 and row.cost_usd
    ]


_WHO = {DOCUMENTED: "its author", UNDOCUMENTED: "nobody"}
_STOPS = {DOCUMENTED: "llm.documented = false", UNDOCUMENTED: "llm.enabled = false"}


def _cells(row: LiftRow) -> list[str]:
    gain, gained = "", ""
    if row.gain is not None:
        mark = "**" if row.gain.is_clear else ""
        gain, gained = f"{mark}{row.gain.mean:+.3f}{mark}", f"{row.gain.low:+.3f} – {row.gain.high:+.3f}"
    is_paid_gain = row.cost_usd > 0 and row.gain is not None and row.gain.mean > 0
    return [
        row.level,
        str(row.questions),
        row.texts,
        f"{row.score.mean:.3f}",
        f"{row.score.low:.3f} – {row.score.high:.3f}",
        gain,
        gained,
        f"{row.cost_usd:.2f}" if row.cost_usd else "",
        f"{row.cost_usd / (100 * row.gain.mean):.2f}" if is_paid_gain and row.gain else "",
    ]


def _by_level(answers: Sequence[QuestionResult], groups: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Scores by question, over all, by the level that is asked for, and by group."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for answer in answers:
        for level in (EVERY_LEVEL, answer.question.level or ANY_LEVEL):
            found[level][answer.question.id] = score_of_answer(answer)
        if group := groups.get(answer.question.id):
            found[group][answer.question.id] = score_of_answer(answer)
    return dict(found)


def _paid(ws: Workspace) -> list[tuple[str, str, float]]:
    """Level, id and price of each text that a model wrote; none if no model wrote any."""
    documents = ws.tables.read("documents", ws.key, columns=["id", "type", "text_hash", "written_by"])
    by_model = documents.filter(pc.equal(documents["written_by"], WrittenBy.LLM.value))
    # A text from the cache was paid for when it was first written.
    history = ws.tables.read("document_history", ws.key, columns=["id", "text_hash", "cost_usd"]).to_pylist()
    paid = _sums(((row["id"], row["text_hash"]), row["cost_usd"]) for row in history)
    return [(row["type"], row["id"], paid.get((row["id"], row["text_hash"]), 0.0)) for row in by_model.to_pylist()]


def _sums(prices: Iterable[tuple[N, float]]) -> dict[N, float]:
    costs: defaultdict[N, float] = defaultdict(float)
    for name, usd in prices:
        costs[name] += usd
    return costs
