"""`codesum ask`: a question, answered by a model with the index's tools."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import to_builtins

from codesum_pipeline.asking.events import Event
from codesum_pipeline.asking.session import LATEST, NO_MODEL, AskedQuestion
from codesum_pipeline.asking.turn import TurnAnswer
from codesum_pipeline.cli.asking_options import ReposOption
from codesum_pipeline.cli.failures import FAILED, complain
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.lookup import catalogue_of
from codesum_pipeline.cli.render import count, note, on_terminal
from codesum_pipeline.cli.safe_text import clean, safe_json
from codesum_pipeline.cli.written_answer import WrittenAnswer
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.moments import utc_now


def ask(
    ctx: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="QUESTION", show_default=False, help="What you want to know.")],
    repo: ReposOption = None,
    goes_on: Annotated[
        bool,
        typer.Option(
            "--continue", "-c", help="Go on with the last conversation about the same repositories: it is read first."
        ),
    ] = False,
    conversation: Annotated[
        str | None,
        typer.Option(metavar="ID", show_default=False, help="Go on with this one; --json prints the id of each."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the answer and what it took as one JSON object.")
    ] = False,
) -> None:
    """Answer a question about repositories, with the places that show it.

    codesum ask "how does a request reach the database?"

    A language model looks around with the index's tools; what that may cost say `ask.max_cost_usd_per_question` and
    `ask.max_cost_usd_per_day`. Without one (`llm.enabled`) the best that the index has is shown. In a checkout of an
    indexed repository the question is about that one, else about all.
    """
    if goes_on and conversation:
        raise ConfigurationError("--continue and --conversation: choose one of them")
    called = invocation(ctx)
    asked = AskedQuestion(
        text=" ".join(words),
        repos=repo or (),
        catalogue=catalogue_of(called),
        folder=Path.cwd(),
        now=utc_now,
        tell=note,
        conversation=LATEST if goes_on else conversation,
    )
    if as_json:
        answer = asyncio.run(asked.answer(_nobody_listens))
        typer.echo(safe_json(_as_json(asked, answer, called.settings.llm.model)))
    elif on_terminal():
        with WrittenAnswer() as written:
            answer = asyncio.run(asked.answer(written.hear))
        written.show_rest(answer)
    else:
        answer = asyncio.run(asked.answer(_nobody_listens))
        typer.echo(clean(answer.text))
    _tell(answer, called.settings.llm.model)
    if answer.is_fallback and answer.failed != NO_MODEL:
        raise typer.Exit(FAILED)


def _nobody_listens(_event: Event) -> None:
    """Only the whole answer is printed."""


def _tell(answer: TurnAnswer, model: str) -> None:
    """What a person should know of an answer, on stderr."""
    for problem in answer.problems:
        complain(problem)
    if answer.is_fallback:
        note(f"no answer by a model: {answer.detail}; above is what the index has")
    if answer.citations_dropped:
        one = answer.citations_dropped == 1
        dropped = count(answer.citations_dropped, "citation")
        note(f"{dropped} taken out: {'it names' if one else 'they name'} lines that the sources do not have")
    note(f"as of {'; '.join(map(str, answer.as_of))}")
    if answer.failed != NO_MODEL:
        tokens = f"{answer.prompt_tokens:,} tokens read, {answer.completion_tokens:,} written"
        note(f"{model}: ${answer.usd:.4f}, {count(answer.steps, 'step')}, {tokens}")


def _as_json(asked: AskedQuestion, answer: TurnAnswer, model: str) -> dict[str, Any]:
    said = to_builtins(answer) | {"as_of": [each.model_dump() for each in answer.as_of]}
    return {"question": asked.text, "model": None if answer.failed == NO_MODEL else model, **said}
