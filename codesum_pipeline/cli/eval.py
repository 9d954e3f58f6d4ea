"""`codesum eval`: how well questions with known answers are answered, and by what."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from codesum_pipeline.cli.asking_options import LanesOption, LevelsOption, ReposOption
from codesum_pipeline.cli.eval_asking import Ways, ask_given, ask_own
from codesum_pipeline.cli.eval_lift import lifts, lifts_json, lifts_markdown
from codesum_pipeline.cli.invocation import invocation, with_modes_of_the_caller
from codesum_pipeline.cli.lookup import open_published
from codesum_pipeline.cli.progress_bar import progress_bar
from codesum_pipeline.cli.render import show, table
from codesum_pipeline.cli.safe_text import safe_json
from codesum_pipeline.evaluation.questions import read_questions
from codesum_pipeline.evaluation.report import Report, cells, columns, markdown, short, shown_tables, summarize
from codesum_pipeline.evaluation.report import as_json as report_json
from codesum_pipeline.indexes.version_folder import LANES
from codesum_pipeline.model.documents import LEVELS
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.store.atomic import write_text_atomically


def eval(
    ctx: typer.Context,
    questions: Annotated[
        Path | None,
        typer.Argument(
            metavar="QUESTIONS.jsonl",
            show_default=False,
            help='One question a line: {"id", "query", "relevant": [{"file_path", "start_line"?, "end_line"?, '
            '"symbol"?}], "repo"?, "level"?, "category"?, "language"?, …}. Without a file, what each repository\'s '
            "docstrings and commit messages say is asked.",
        ),
    ] = None,
    repo: ReposOption = None,
    lane: LanesOption = None,
    level: LevelsOption = None,
    each_lane: Annotated[bool, typer.Option("--each-lane", help="Ask each lane alone as well.")] = False,
    each_level: Annotated[bool, typer.Option("--each-level", help="Ask each level alone as well.")] = False,
    lift: Annotated[
        bool,
        typer.Option(
            "--lift", help="Show instead what the written texts add to code alone, level by level, and their price."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every measure with its interval for programs.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE.md", show_default=False, help="Write the tables as a page of Markdown, too."),
    ] = None,
) -> None:
    """Measure how well questions with known answers are answered, by lane and level.

    codesum eval questions.jsonl --each-lane --report evaluation.md
    """
    if lift and (lane or level or each_lane or each_level):
        raise ConfigurationError("--lift has ways of asking of its own: leave out --lane, --level and --each-…")
    called = invocation(ctx)
    ways = Ways(tuple(lane or LANES), tuple(level or LEVELS), each_lane=each_lane, each_level=each_level)
    given = None if questions is None else read_questions(questions)
    indexes = open_published(called, repo or ())
    if lift:
        with progress_bar() as progress:
            ledgers = lifts(called, indexes, given, progress=progress)
        _give(lifts_markdown(ledgers), lifts_json(ledgers) if as_json else [lifts_markdown(ledgers)], report)
        return
    with progress_bar() as progress:
        if given is None:
            asked = ask_own(called, indexes, ways, progress=progress)
        else:
            asked = ask_given(called, indexes, given, ways, progress=progress)
    found = summarize(asked.answers, notes=asked.notes)
    _give(markdown(found), report_json(found) if as_json else _tables(found), report)


def _give(page: str, shown: dict[str, Any] | list[RenderableType], file: Path | None) -> None:
    """Write the page where it is wanted, and print an object for programs or parts for people."""
    if file is not None:
        with with_modes_of_the_caller():
            write_text_atomically(file, page)
    if isinstance(shown, dict):
        typer.echo(safe_json(shown))
    else:
        show(*shown)


def _tables(report: Report) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for summary, numbers in shown_tables(report, short):
        head = columns(summary.title, summary.headline)
        rows = [cells(row, summary.headline, numbers) for row in summary.rows]
        parts += [*([""] if parts else []), table(head, rows, right=head[1:])]
    return parts
