"""How results look: tables and styles on a terminal, plain untruncated lines anywhere else; errors and exit codes."""

import errno
import json
import os
import re
import sys
import traceback
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any, Literal

import typer
from msgspec import Struct, to_builtins
from pydantic import BaseModel
from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, ConsoleRenderable, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from codesum_pipeline.foundation.data_model.errors import (
    BrokenStore,
    CodesumError,
    ConfigurationError,
    MissingTable,
    RetryLater,
)
from codesum_pipeline.foundation.data_model.printable import LINE_SEPARATORS, SUSPECT, UNPRINTABLE, clean_text, one_line
from codesum_pipeline.foundation.store.atomic import cannot_write, is_refusal

# Enough of a commit or run id for a person to recognise it.
SHORT_COMMIT = 10

# Wider than any line: what is piped is neither wrapped nor cut.
_UNBOUNDED = 1_000_000
# Parts of one field that a terminal shows.
_LISTED = 12
# Columns up to this width are not folded, and folded ones are no narrower.
_SHORT = 20
# Columns of a terminal between two of a table.
_BETWEEN = 2


# The consoles on which progress is drawn now, the last one on top: all threads of a process write to one stderr.
_drawn: list[Console] = []


@contextmanager
def drawing_on(console: Console) -> Iterator[None]:
    """While a display is drawn on `console`, notes go above it."""
    _drawn.append(console)
    try:
        yield
    finally:
        _drawn.pop()


def error_console() -> Console:
    """The console on what is stderr now, for progress."""
    return Console(file=sys.stderr, highlight=False, markup=False, emoji=False)


def is_on_terminal() -> bool:
    """Whether a person is looking at stdout."""
    return sys.stdout.isatty()


def show_parts(*parts: RenderableType) -> None:
    """Write to stdout. A plain string is taken literally: no markup, and nothing of a repository unescaped."""
    terminal = is_on_terminal()
    console = Console(
        highlight=False,
        markup=False,
        emoji=False,
        width=None if terminal else _UNBOUNDED,
        no_color=None if terminal else True,
    )
    for part in parts:
        renderable = folded(Text(clean_text(part)) if isinstance(part, str) else part)
        if terminal:
            console.print(renderable)
        else:
            with console.capture() as captured:
                console.print(renderable)
            typer.echo("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def write_note(message: str) -> None:
    """A remark to the person who called, on stderr; above the progress bar where there is one. Where nobody reads
    stderr any more, nothing else is stopped by that."""
    if _drawn:
        _drawn[-1].print(Text(clean_text(message)), soft_wrap=True)
        return
    with leave_closed_pipes("stderr"):
        sys.stderr.write(f"{clean_text(message)}\n")
        sys.stderr.flush()


def make_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Iterable[str] = (),
    may_lack: Collection[str] = (),
) -> "TableView":
    """Rows under a head; the columns named in `right` hold numbers, those in `may_lack` are not shown where no row has
    them."""
    cells = [tuple(row) for row in rows]
    shown = [name not in may_lack or any(row[at] not in (None, "") for row in cells) for at, name in enumerate(columns)]
    kept = tuple(tuple(compress(row, shown)) for row in cells)
    return TableView(tuple(compress(columns, shown)), kept, frozenset(right))


class TableView(Struct, frozen=True):
    """A table; on a terminal that is too narrow for it one block per row, so that no name is cut into pieces."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    numbers: frozenset[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if is_on_terminal() and self._least_width() > options.max_width:
            yield from self._blocks()
        else:
            yield self._table()

    def _table(self) -> Table:
        drawn = Table(
            box=box.SIMPLE_HEAD if is_on_terminal() else None,
            collapse_padding=is_on_terminal(),
            pad_edge=False,
            header_style="bold",
            show_edge=False,
        )
        for column, width in zip(self.columns, self._widths(), strict=True):
            if column in self.numbers:
                drawn.add_column(Text(one_line(column)), justify="right", no_wrap=True)
            elif width <= _SHORT:
                drawn.add_column(Text(one_line(column)), no_wrap=True)
            else:
                drawn.add_column(Text(one_line(column)), overflow="fold", min_width=_SHORT)
        for row in self.rows:
            drawn.add_row(*(folded(make_cell(value)) for value in row))
        return drawn

    def _widths(self) -> Iterator[int]:
        """The width of the widest cell of each column."""
        for place, column in enumerate(self.columns):
            yield max(cell_len(one_line(column)), *(make_cell(row[place]).cell_len for row in self.rows), 0)

    def _least_width(self) -> int:
        """The width of the table where numbers and short texts are whole, and longer texts are folded."""
        widths = zip(self.columns, self._widths(), strict=True)
        least = [width if column in self.numbers else min(width, _SHORT) for column, width in widths]
        return sum(least) + _BETWEEN * (len(least) - 1)

    def _blocks(self) -> Iterator[RenderableType]:
        for row in self.rows:
            first = make_cell(row[0])
            first.stylize("bold")
            yield folded(first)
            named = zip(self.columns[1:], row[1:], strict=True)
            there = [(name, make_cell(value)) for name, value in named if value is not None and value != ""]
            parts = [Text.assemble((f"{one_line(name)} ", "dim"), value) for name, value in there]
            yield indent_part(Text(" · ").join(parts), 2)


class TextByWidth(Struct, frozen=True):
    """A text whose lines depend on how many columns there are for it."""

    of_width: Callable[[int], Text]

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """As wide as its text: else rich fills each line with spaces."""
        return Measurement.get(console, options, self.of_width(options.max_width))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.of_width(options.max_width)


_WORD = re.compile(r"\S++")
_ALL = re.compile(r".++")
_PIECE = re.compile(r"[^/:]++[/:]*+|[/:]++")


def fold_words(text: Text, width: int, *, is_one: bool = False) -> Text:
    """The text with words that are longer than a line, such as paths and ids, folded behind slashes and colons. A text
    that `is_one` word may have spaces."""
    breaks = []
    for word in (_ALL if is_one else _WORD).finditer(text.plain):
        room = width
        for piece in _PIECE.finditer(word.group()) if cell_len(word.group()) > width else ():
            if room < cell_len(piece.group()) and piece.start():
                breaks.append(word.start() + piece.start())
                room = width
            room -= cell_len(piece.group())
    return Text("\n").join(text.divide(breaks)) if breaks else text


def folded(part: RenderableType) -> RenderableType:
    """The part; where it is a text, its paths and ids are folded where there is no room for them."""
    return TextByWidth(partial(fold_words, part)) if isinstance(part, Text) and not part.no_wrap else part


def make_fields(values: Mapping[str, Any]) -> Table:
    """One named field a row, empty ones left out; on a terminal long lists are cut."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, value in values.items():
        if value is None or value == "" or value == []:
            continue
        parts = [
            part if isinstance(part, ConsoleRenderable) else folded(Text(one_line(str(part))))
            for part in (value if isinstance(value, list) else [value])
        ]
        if is_on_terminal() and len(parts) > _LISTED:
            parts = [*parts[:_LISTED], Text(f"… {len(parts) - _LISTED:,} more (--json lists all)")]
        grid.add_row(Text(f"  {label}"), Group(*parts))
    return grid


def make_cell(value: object) -> Text:
    """One value as a table shows it."""
    if isinstance(value, Text):
        return value
    if value is None:
        return Text("-", style="dim")
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, int):
        return Text(f"{value:,}")
    return Text(one_line(str(value)))


def style_text(text: str, style: str) -> Text:
    """Text of any origin in one style."""
    return Text(clean_text(text), style=style)


def indent_part(part: RenderableType, left: int, *, above: int = 0, below: int = 0) -> Padding:
    """The part, moved right by `left` columns. It is as wide as its text, so that piped lines end without spaces."""
    return Padding(folded(part), (above, 0, below, left), expand=False)


def lines_of(start: int | None, end: int | None) -> str:
    """`lines 3-14`, or nothing where a document has none."""
    if start is None:
        return ""
    return f"line {start}" if start == end else f"lines {start}-{end}"


def print_json(*values: Any) -> None:
    """Each value as one line of JSON."""
    for value in values:
        typer.echo(safe_json_of(value))


def present_rows(values: Sequence[Any], view: Callable[[], RenderableType], *, as_json: bool, otherwise: str) -> None:
    """Print values as lines of JSON, or show a person's view of them; without values it notes `otherwise`."""
    if as_json:
        print_json(*values)
    elif values:
        show_parts(view())
    else:
        write_note(otherwise)


def safe_json_of(value: Any) -> str:
    """JSON on one line, also of values that hold structs or models; what a terminal could act on is escaped."""
    return escape_text(json.dumps(value, ensure_ascii=False, default=_plain))


def _plain(value: Any) -> Any:
    return value.model_dump() if isinstance(value, BaseModel) else to_builtins(value)


def escape_text(text: str) -> str:
    """The text with every character that a terminal could act on written as JSON's escape; line feeds and tabs stay."""
    return SUSPECT.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character = match.group()
    is_harmless = character not in LINE_SEPARATORS and unicodedata.category(character) not in UNPRINTABLE
    return character if is_harmless else json.dumps(character)[1:-1]


FAILED = 1
MISCONFIGURED = 2
TRY_LATER = 3
BROKEN = 4

# The first that fits counts. An index that was not built yet is not broken: the person asked too early.
_EXIT_CODES = {
    ConfigurationError: MISCONFIGURED,
    MissingTable: MISCONFIGURED,
    RetryLater: TRY_LATER,
    BrokenStore: BROKEN,
}

EPILOG = (
    "Exit codes: 0 done · 1 something failed, as said · 2 wrong usage or configuration · "
    "3 try again later (a repository cannot be reached, or another build holds it) · "
    "4 what is stored is broken or of another version: the message names the command that rebuilds it."
)


@contextmanager
def report_failures(*, debug: bool) -> Iterator[None]:
    """Turn the package's errors, and the system's, into a line on stderr; with `debug`, let them through."""
    try:
        yield
        sys.stdout.flush()
    except CodesumError as error:
        if debug:
            raise
        complain(str(error))
        raise typer.Exit(exit_code_of(type(error))) from error
    except OSError as error:
        if debug or error.errno == errno.EPIPE:
            raise
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        if error.errno is not None and is_refusal(error.errno):
            message = str(cannot_write(str(error.filename or "a file"), error.errno))
        complain(message)
        raise typer.Exit(FAILED) from error


@contextmanager
def exit_errors_with(code: int, *, debug: bool) -> Iterator[None]:
    """For a command whose exit code 1 is an answer: errors that would end with it, unforeseen ones too, end with
    `code`."""
    try:
        with report_failures(debug=debug):
            yield
    except typer.Exit as ended:
        raise typer.Exit(code if ended.exit_code == FAILED else ended.exit_code) from ended
    except typer.Abort:
        raise typer.Exit(code) from None
    except Exception as error:
        if not (isinstance(error, OSError) and error.errno == errno.EPIPE):
            traceback.print_exc()
        raise typer.Exit(code) from error


@contextmanager
def leave_closed_pipes(*names: Literal["stdout", "stderr"]) -> Iterator[None]:
    """Writing to these streams may end early: whoever reads had enough, as `head` has. Nothing more is written to a
    closed pipe, and the exit code stays that of the answer."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EPIPE:
            raise
        for stream in (getattr(sys, name) for name in names):
            try:
                stream.flush()
            except BrokenPipeError:
                # What is kept for the pipe would fail again when the process ends.
                with Path(os.devnull).open("w") as nowhere:
                    os.dup2(nowhere.fileno(), stream.fileno())


def exit_code_of(error: type[CodesumError]) -> int:
    """The exit code for an error."""
    return next((code for kind, code in _EXIT_CODES.items() if issubclass(error, kind)), FAILED)


def exit_code_of_all(errors: Iterable[type[CodesumError] | None]) -> int:
    """The exit code where all of several things failed: the one that their errors share, else 1."""
    codes = {exit_code_of(error) if error else FAILED for error in errors}
    return codes.pop() if len(codes) == 1 else FAILED


def complain(message: str) -> None:
    """Write a problem as one line to stderr."""
    typer.echo(f"codesum: {one_line(message)}", err=True)
