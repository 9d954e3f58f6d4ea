"""`codesum ask`: a question, answered by a model with the index's tools."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from msgspec.structs import asdict
from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.text import Text

from codesum_pipeline.answers.question_answering.session import LATEST, NO_MODEL, AskedQuestion
from codesum_pipeline.answers.question_answering.turn import TurnAnswer
from codesum_pipeline.answers.question_answering.turn_events import (
    BlockWritten,
    Event,
    SynthesisBegan,
    TextAdded,
    TextVoided,
    ToolAnswered,
    ToolCalled,
    call_line,
    synthesis_line,
)
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.printable import clean_text, count_noun, one_line
from codesum_pipeline.ways_in.cli.document_views import catalogue_of
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import FAILED, complain, drawing_on, is_on_terminal, print_json, write_note


def ask(
    invocation: Invocation,
    words: list[str],
    repo: list[str] | None = None,
    goes_on: bool = False,
    conversation: str | None = None,
    as_json: bool = False,
) -> None:
    """Answer a question about repositories, with the places that show it.

    codesum ask "how does a request reach the database?"

    A language model calls the index's tools; `ask.max_cost_usd_per_question` and `ask.max_cost_usd_per_day` limit its
    cost. Without a model (`llm.enabled`), the best hits of the index are shown. In a checkout of an indexed repository,
    the question is about that repository, elsewhere about all.
    """
    if goes_on and conversation:
        raise ConfigurationError("--continue and --conversation: choose one of them")
    question = AskedQuestion(
        text=" ".join(words),
        repos=repo or (),
        catalogue=catalogue_of(invocation),
        folder=Path.cwd(),
        now=utc_now,
        tell=write_note,
        conversation=LATEST if goes_on else conversation,
    )
    model = invocation.settings.llm.model
    written = WrittenAnswer()
    if is_on_terminal() and not as_json:
        with written.drawn():
            answer = asyncio.run(question.answer(written.hear))
        written.show_rest(answer)
    else:
        answer = asyncio.run(question.answer(lambda _event: None))
        if as_json:
            answering_model = None if answer.failed == NO_MODEL else model
            print_json({"question": question.text, "model": answering_model, **asdict(answer)})
        else:
            typer.echo(clean_text(answer.text))
    _tell(answer, model)
    if answer.is_fallback and answer.failed != NO_MODEL:
        raise typer.Exit(FAILED)


def _tell(answer: TurnAnswer, model: str) -> None:
    """What a person should know of an answer, on stderr."""
    for problem in answer.problems:
        complain(problem)
    if answer.is_fallback:
        write_note(f"no answer by a model: {answer.detail}; above is what the index has")
    if answer.dropped:
        write_note(answer.dropped)
    write_note(f"as of {'; '.join(map(str, answer.as_of))}")
    if answer.failed != NO_MODEL:
        tokens = f"{answer.prompt_tokens:,} tokens read, {answer.completion_tokens:,} written"
        write_note(f"{model}: ${answer.usd:.4f}, {count_noun(answer.steps, 'step')}, {tokens}")


_TAIL_LINES = 4
_DRAWN_EVERY_S = 0.125


class WrittenAnswer:
    """An answer on a terminal while it is written.

    Each block is printed for good once it is whole. Of the one that is being written the end is shown below, and goes
    away: nothing that was printed is ever drawn again, at any width.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, markup=False, emoji=False)
        self._tail = ""
        self._next_drawing: asyncio.TimerHandle | None = None
        self._has_blocks = False
        # Without rich's own thread: if it drew while a block is rendered, the block would wipe lines printed before.
        self._live = Live(console=self._console, transient=True, auto_refresh=False, get_renderable=self._below)

    @contextmanager
    def drawn(self) -> Iterator[None]:
        with drawing_on(self._console), self._live:
            self._draw_tail()
            yield

    def hear(self, event: Event) -> None:
        """Show what happens. Called on the event loop."""
        match event:
            case TextAdded(text):
                self._tail += text
                if self._next_drawing is None:
                    self._next_drawing = asyncio.get_running_loop().call_later(_DRAWN_EVERY_S, self._draw_tail)
            case BlockWritten(text):
                self._tail = ""
                self._draw_tail()
                self._has_blocks = True
                self._console.print(Markdown(clean_text(text), hyperlinks=False))
                self._console.print()
            case TextVoided(reason):
                self._remark(f"{reason}{'; what was written so far does not count' if self._has_blocks else ''}")
                self._tail, self._has_blocks = "", False
                self._draw_tail()
            case ToolCalled(name, arguments):
                self._has_blocks = False
                self._remark(call_line(name, arguments))
            case ToolAnswered(name, _, True):
                self._remark(f"{name} gave an error")
            case SynthesisBegan(tool, files):
                self._remark(synthesis_line(tool, files))

    def show_rest(self, answer: TurnAnswer) -> None:
        """After the block: an answer that was not written by the model is shown as it is."""
        if answer.is_fallback:
            self._console.print(Text(clean_text(answer.text)), soft_wrap=True)

    def _draw_tail(self) -> None:
        self._next_drawing = None
        self._live.refresh()

    def _remark(self, text: str) -> None:
        self._console.print(Text(f"· {one_line(text)}", style="dim"))

    def _below(self) -> Text:
        lines = clean_text(self._tail).split("\n")[-_TAIL_LINES:]
        shown = Text("\n".join(lines) or "…", style="dim", no_wrap=False)
        wrapped = shown.wrap(self._console, max(1, self._console.width - 1))
        return Text("\n").join(wrapped[-_TAIL_LINES:])
