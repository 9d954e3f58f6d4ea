"""What helps to judge a document without opening its file: what stands around it, and the lines that answer."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.text import Text

from codesum_pipeline.cli.safe_text import clean, one_line
from codesum_pipeline.retrieval.hits import Excerpt
from codesum_pipeline.tools.surroundings import TRUST_LEGEND, TRUST_MARK, DocumentRelations, RelatedDocument

_TAB = 4
# Fewer characters of a summary say nothing.
_SHORTEST_SUMMARY = 20


def described(around: DocumentRelations) -> dict[str, list[RenderableType]]:
    """What stands around a document, a line each."""
    return {
        "part of": _lines(around.parents),
        "contains": _lines(around.children),
        "called by": _lines(around.called_by),
        "calls": _lines(around.calls),
        "depends on": [Text(one_line(name)) for name in around.dependencies],
    }


def legend(shown: Iterable[DocumentRelations]) -> Iterator[RenderableType]:
    """What the mark behind neighbours means, where one of them has it."""
    if any(each.trusted for around in shown for each in (*around.called_by, *around.calls)):
        yield Text(f"  {TRUST_LEGEND}", style="dim")


def numbered(excerpt: Excerpt) -> Text:
    """Lines behind their numbers, cut at the edge of a terminal."""
    width = len(str(excerpt.start_line + len(excerpt.lines) - 1))
    shown = Text(no_wrap=True, overflow="ellipsis")
    for number, line in enumerate(excerpt.lines, start=excerpt.start_line):
        shown.append(f"{number:>{width}} ", "dim")
        shown.append(_as_it_stands(line))
        shown.append("\n")
    shown.rstrip()
    return shown


def excerpt_json(excerpt: Excerpt | None) -> dict[str, Any] | None:
    """For programs."""
    return None if excerpt is None else {"start_line": excerpt.start_line, "lines": excerpt.lines}


class _Line(Struct, frozen=True):
    """An id, whole, and what it is for as far as its line has room."""

    neighbour: RelatedDocument

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        if cell_len(self._id) + _SHORTEST_SUMMARY <= options.max_width:
            line = self._whole
            line.truncate(options.max_width, overflow="ellipsis")
            yield line
        else:
            yield Text(self._id, overflow="fold")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, min(cell_len(self._whole.plain), options.max_width))

    @property
    def _id(self) -> str:
        return f"{one_line(self.neighbour.id)}{f' {TRUST_MARK}' if self.neighbour.trusted else ''}"

    @property
    def _whole(self) -> Text:
        return Text.assemble(self._id, (f"  {one_line(self.neighbour.summary)}", "dim"))


def _lines(neighbours: Sequence[RelatedDocument]) -> list[RenderableType]:
    return [_Line(neighbour) for neighbour in neighbours]


def _as_it_stands(line: str) -> str:
    """Safe for a terminal, with the indentation that it has, on one line."""
    return clean(line).replace("\n", " ").expandtabs(_TAB)
