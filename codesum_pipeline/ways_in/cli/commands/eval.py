"""`codesum eval`: how well questions with known answers are answered, and by what."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from rich.console import RenderableType

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.data_model.progress import Progress
from codesum_pipeline.foundation.store.atomic import write_text_atomically
from codesum_pipeline.indexes.embedders.embedder_choice import embedder_of
from codesum_pipeline.indexes.file_formats.version_folder import LANES, Lane
from codesum_pipeline.search.evaluation.evaluate import (
    ALL,
    SYMBOLS,
    EvaluationSetup,
    QuestionResult,
    ask_questions,
    indexes_of,
)
from codesum_pipeline.search.evaluation.lift import Lift, lift_markdown, lift_report
from codesum_pipeline.search.evaluation.own_questions import ask_own_questions
from codesum_pipeline.search.evaluation.questions import Question, read_questions
from codesum_pipeline.search.evaluation.report import (
    Report,
    cells_of_row,
    columns_of_rows,
    short_interval,
    shown_tables,
    summarize_answers,
    write_report,
)
from codesum_pipeline.search.evaluation.report import as_json as report_json
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.ways_in.cli.document_views import open_published
from codesum_pipeline.ways_in.cli.filter_options import LanesOption, LevelsOption
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.progress_bar import show_progress
from codesum_pipeline.ways_in.cli.render import SHORT_COMMIT, make_table, print_json, show_parts, write_note


def eval(
    invocation: Invocation,
    questions: Path | None = None,
    repo: list[str] | None = None,
    lane: LanesOption = None,
    level: LevelsOption = None,
    each_lane: bool = False,
    each_level: bool = False,
    lift: bool = False,
    as_json: bool = False,
    report: Path | None = None,
) -> None:
    """Measure how well the search answers questions with known answers, by lane and level.

    codesum eval questions.jsonl --each-lane --report evaluation.md
    """
    if lift and (lane or level or each_lane or each_level):
        raise ConfigurationError("--lift chooses lanes and levels itself: leave out --lane, --level and --each-…")
    ways = Ways(tuple(lane or LANES), tuple(level or LEVELS), each_lane=each_lane, each_level=each_level)
    file_questions = None if questions is None else read_questions(questions)
    indexes = open_published(invocation, repo or ())
    parts: Iterable[RenderableType]
    with show_progress() as progress:
        if lift:
            lifts = _lifts(invocation, indexes, file_questions, progress=progress)
            page = "\n".join(f"## {repo}\n\n{lift_markdown(each)}\n" for repo, each in lifts.items())
            values, parts = {"lift": {repo: each.rows for repo, each in lifts.items()}}, [page]
        else:
            ask = _ask_own if file_questions is None else partial(_ask_of_file, questions=file_questions)
            found = ask(invocation, indexes, ways, progress=progress)
            page, values, parts = write_report(found), report_json(found), _tables(found)
    if report is not None:
        with invocation.with_modes_of_the_caller():
            write_text_atomically(report, page)
    if as_json:
        print_json(values)
    else:
        show_parts(*parts)


def _tables(report: Report) -> Iterator[RenderableType]:
    for place, (summary, numbers) in enumerate(shown_tables(report, short_interval)):
        head = columns_of_rows(summary.title, summary.headline)
        if place:
            yield ""
        yield make_table(head, [cells_of_row(row, summary.headline, numbers) for row in summary.rows], right=head[1:])


class Ways(Struct, frozen=True):
    """The lanes and levels that a person chose, and which of them are asked alone beside them together."""

    lanes: tuple[Lane, ...]
    levels: tuple[Level, ...]
    each_lane: bool
    each_level: bool

    def setups(self, *, with_symbols: bool) -> list[EvaluationSetup]:
        """The chosen lanes and levels together come first; `with_symbols`, functions and classes are also looked for
        among themselves."""
        name = ALL.name if self.lanes == LANES else " + ".join(self.lanes)
        if self.levels != LEVELS:
            name = f"{name}, {' + '.join(self.levels)}"
        setups = [EvaluationSetup(name, self.lanes, self.levels)]
        if with_symbols and self.levels == LEVELS:
            setups.append(EvaluationSetup(SYMBOLS.name, self.lanes, SYMBOLS.levels))
        if self.each_lane:
            setups += [EvaluationSetup(f"lane {lane}", (lane,), self.levels) for lane in self.lanes]
        if self.each_level:
            setups += [EvaluationSetup(f"level {level}", self.lanes, (level,)) for level in self.levels]
        return setups


def _ask_of_file(
    invocation: Invocation,
    indexes: Sequence[PublishedIndex],
    ways: Ways,
    *,
    questions: Sequence[Question],
    progress: Progress,
) -> Report:
    """Ask all questions about what is indexed; raises `ConfigurationError` if there are none."""
    left_out = Counter(question.repo for question in questions if not indexes_of(indexes, question))
    kept = [question for question in questions if question.repo not in left_out]
    named = ", ".join(f"{repo} ({number})" for repo, number in sorted(left_out.items(), key=str))
    here = ", ".join(sorted(index.repo for index in indexes))
    if not kept:
        raise ConfigurationError(
            f"no question is about a repository that is searched ({here}); the questions are about {named}"
        )
    notes = [f"{count_noun(len(kept), 'question')} for {here}"]
    if left_out:
        notes.append(
            f"{count_noun(left_out.total(), 'question')} left out, about repositories that are not searched: {named}"
        )
    others = Counter(
        (index.repo, index.commit, question.commit)
        for question in kept
        if question.repo and question.commit
        for index in indexes_of(indexes, question)
        if index.commit != question.commit
    )
    notes += [
        f"{repo}: {count_noun(number, 'question')} written for commit {wanted[:SHORT_COMMIT]}, "
        f"the index is of {indexed[:SHORT_COMMIT]}"
        for (repo, indexed, wanted), number in sorted(others.items())
    ]
    for remark in notes:
        write_note(remark)
    setups = ways.setups(with_symbols=any(question.symbols and question.level is None for question in kept))
    answers = ask_questions(indexes, kept, embedder=embedder_of(invocation.settings), setups=setups, progress=progress)
    if not answers:
        raise ConfigurationError(f"no question can be asked at level {', '.join(ways.levels)}: leave out --level")
    return summarize_answers(answers, notes=notes)


def _ask_own(invocation: Invocation, indexes: Sequence[PublishedIndex], ways: Ways, *, progress: Progress) -> Report:
    """Ask of each repository what its docstrings and commit messages say."""
    answers: list[QuestionResult] = []
    notes, options = [], invocation.settings.evaluation
    for index in indexes:
        workspace, setups = invocation.home.workspace(index.repo, run_id="eval"), ways.setups(with_symbols=True)
        own = ask_own_questions(
            workspace, index, setups=setups, sample=options.sample, commits=options.commits, progress=progress
        )
        kinds = Counter(category for category, _ in {(answer.question.category, answer.question.id) for answer in own})
        named = ", ".join(f"{category} ({number})" for category, number in sorted(kinds.items())) or "none"
        notes.append(f"{index.repo}: questions of its own: {named}")
        write_note(notes[-1])
        answers += own
    if not answers:
        searched = ", ".join(index.repo for index in indexes)
        raise ConfigurationError(f"no docstrings or commit messages to ask {searched}: give a file of questions")
    return summarize_answers(answers, notes=notes)


def _lifts(
    invocation: Invocation,
    indexes: Sequence[PublishedIndex],
    questions: Sequence[Question] | None,
    *,
    progress: Progress,
) -> dict[str, Lift]:
    """What written texts add to each repository's index, and what they cost, by key; of those without a question
    there is nothing. Raises `ConfigurationError` if no repository has a question."""
    found, options = {}, invocation.settings.evaluation
    for index in indexes:
        about = [question for question in questions or () if index in indexes_of(indexes, question)]
        if questions is None or about:
            workspace = invocation.home.workspace(index.repo, run_id="eval")
            found[index.repo] = lift_report(
                workspace, index, about or None, sample=options.sample, commits=options.commits, progress=progress
            )
    if not any(lift.rows for lift in found.values()):
        raise ConfigurationError(
            f"no question is about {', '.join(index.repo for index in indexes)}: name other repositories with --repo"
        )
    return found
