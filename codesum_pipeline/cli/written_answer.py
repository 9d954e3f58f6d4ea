"""An answer on a terminal while it is written.

Each block is printed for good once it is whole. Of the one that is being written the end is shown below, and goes
away: nothing that was printed is ever drawn again, at any width.
"""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.text import Text

from codesum_pipeline.asking.events import (
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
from codesum_pipeline.asking.turn import TurnAnswer
from codesum_pipeline.cli.render import drawing_on
from codesum_pipeline.cli.safe_text import clean, one_line

_TAIL_LINES = 4
_REFRESHES_A_SECOND = 8


class WrittenAnswer:
    """What is shown of a turn, for the time of a `with` block."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, markup=False, emoji=False)
        self._tail = ""
        self._has_blocks = False
        self._live = Live(
            console=self._console,
            transient=True,
            refresh_per_second=_REFRESHES_A_SECOND,
            get_renderable=self._below,
        )
        self._drawing = drawing_on(self._console)

    def __enter__(self) -> Self:
        self._drawing.__enter__()
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, traceback)
        self._drawing.__exit__(kind, error, traceback)

    def hear(self, event: Event) -> None:
        """Show what happens."""
        match event:
            case TextAdded(text):
                self._tail += text
            case BlockWritten(text):
                self._tail = ""
                self._has_blocks = True
                self._print(text)
            case TextVoided(reason):
                self._remark(f"{reason}{'; what was written so far does not count' if self._has_blocks else ''}")
                self._tail, self._has_blocks = "", False
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
            self._console.print(Text(clean(answer.text)), soft_wrap=True)

    def _print(self, text: str) -> None:
        self._console.print(Markdown(clean(text), hyperlinks=False))
        self._console.print()

    def _remark(self, said: str) -> None:
        self._console.print(Text(f"· {one_line(said)}", style="dim"))

    def _below(self) -> Text:
        lines = clean(self._tail).split("\n")[-_TAIL_LINES:]
        shown = Text("\n".join(lines) or "…", style="dim", no_wrap=False)
        wrapped = shown.wrap(self._console, max(1, self._console.width - 1))
        return Text("\n").join(wrapped[-_TAIL_LINES:])
