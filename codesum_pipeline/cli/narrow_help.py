"""Help on a terminal that is too narrow for a table: each option on a line, what it means below."""

import shutil
from collections.abc import Iterator
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

# Below it, the table of options cuts their names.
LEAST_WIDTH = 72


def is_narrow() -> bool:
    """Whether the terminal is too narrow for a table."""
    return shutil.get_terminal_size().columns < LEAST_WIDTH


def show_narrow_help(command: Any, ctx: Any) -> None:
    """Print a command's help. Names are never cut: the terminal breaks one that is longer than a line."""
    console = Console(highlight=False, emoji=False, width=shutil.get_terminal_size().columns)
    for part in _parts(command, ctx):
        console.print(part, overflow="fold")


def _parts(command: Any, ctx: Any) -> Iterator[RenderableType]:
    yield Text(command.get_usage(ctx))
    for paragraph in (command.help or "").split("\n\n"):
        yield Text.from_markup(f"\n{' '.join(paragraph.split())}")
    yield ""
    for parameter in command.get_params(ctx):
        if getattr(parameter, "hidden", False):
            continue
        yield Text(_name(parameter, ctx), style="bold cyan")
        yield _indented(parameter.help or "")
    for name, each in getattr(command, "commands", {}).items():
        yield Text(name, style="bold cyan")
        yield _indented((each.help or "").split("\n\n")[0])
    if command.epilog:
        yield Text.from_markup(f"\n{command.epilog}")


def _name(parameter: Any, ctx: Any) -> str:
    """An option's names and what it takes; of an argument, its name."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    names = ", ".join((*parameter.opts, *parameter.secondary_opts))
    return names if parameter.is_flag else f"{names} {parameter.metavar or parameter.display_type(ctx)}"


def _indented(text: str) -> RenderableType:
    return Padding(Text.from_markup(" ".join(text.split())), (0, 0, 0, 4), expand=False)
