"""The `codesum` command: its global options, which commands there are, and how their help looks.

Only the module of the command that runs is imported: `codesum search` does not wait for what `codesum index` needs.
"""

import gc
import re
import shutil
import sys
import tomllib
from collections.abc import Callable
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import Struct
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandFunctionType

from codesum_pipeline.foundation.data_model.installed_version import installed_version
from codesum_pipeline.foundation.data_model.printable import plain_reason
from codesum_pipeline.ways_in.cli.invocation import Invocation, read_umask
from codesum_pipeline.ways_in.cli.options import with_words
from codesum_pipeline.ways_in.cli.render import EPILOG, report_failures

# Below it, rich's table of options would cut their names, and the help has no tables and no styles.
_NARROW = 72
_LOOK: dict[str, Any] = {"pretty_exceptions_enable": False, "rich_markup_mode": "rich"}
_STYLE = re.compile(r"\[(?:bold|/)\]")


class Command(Struct, frozen=True):
    """A command's name, its panel in `codesum --help`, and the first line of its own help."""

    name: str
    panel: str
    help: str


_PANELS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
COMMANDS = tuple(Command(name, panel, help) for panel, commands in _PANELS.items() for name, help in commands.items())
# A command lives in the module of its name, but for these, which live beside another one.
_MODULES = {"overview": "show", "worker": "dev", "export": "bundles", "import": "bundles"}
# They import a second or more of code before they can do anything, and say so.
_LOADING_LONG = {"index", "plan", "ask", "eval", "maintain", "export", "import"}


def load_command(name: str) -> Any:
    """The real command, or the group of them, from its module."""
    module = import_module(f"{__package__}.commands.{_MODULES.get(name, name)}")
    # A name that is a word of Python has an underscore behind it.
    found = getattr(module, f"{name}_" if iskeyword(name) else name)
    if isinstance(found, typer.Typer):
        return typer.main.get_command(found)
    single = typer.Typer(add_completion=False, **_LOOK)
    paragraphs = (" ".join(paragraph.split()) for paragraph in (found.__doc__ or "").split("\n\n"))
    single.command(name, cls=PlainCommand, help="\n\n".join(paragraphs))(with_words(found, name))
    return typer.main.get_command(single)


class _PlainHelp:
    """Does not say of a switch that its type is bool, cuts no name on a narrow terminal, and says of a wrong value
    nothing but what is wrong with it."""

    rich_markup_mode: Any

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_bool_flag", False):
                parameter.metavar = ""
        return parameters

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            found: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        except typer.BadParameter as error:
            error.message = plain_reason(error.message)
            raise
        return found

    def format_help(self, ctx: Any, formatter: Any) -> None:
        columns = shutil.get_terminal_size().columns
        if columns < _NARROW:
            self.rich_markup_mode, formatter.width = None, columns
        super().format_help(ctx, formatter)  # type: ignore[misc]
        formatter.buffer = [_STYLE.sub("", part) for part in formatter.buffer]


class PlainCommand(_PlainHelp, TyperCommand):
    """A command of `codesum`."""


class PlainGroup(_PlainHelp, TyperGroup):
    """Commands that belong together."""


class CommandGroup(typer.Typer):
    """The commands below one of `COMMANDS`."""

    def __init__(self, name: str) -> None:
        self._name = name
        super().__init__(
            cls=PlainGroup,
            add_completion=False,
            no_args_is_help=True,
            help=next(command.help for command in COMMANDS if command.name == name),
            **_LOOK,
        )

    def command(self, name: str | None = None, **options: Any) -> Callable[[CommandFunctionType], CommandFunctionType]:
        make = super().command(name, cls=PlainCommand, **options)

        def register(function: CommandFunctionType) -> CommandFunctionType:
            make(with_words(function, self._name, name or function.__name__))
            return function

        return register


class LazyGroup(PlainGroup):
    """Lists commands from `COMMANDS` and imports only the one that is run or completed."""

    def __init__(self, **attributes: Any) -> None:
        attributes["commands"] = {
            command.name: TyperCommand(
                command.name, short_help=command.help, rich_help_panel=command.panel, rich_markup_mode="rich"
            )
            for command in COMMANDS
        }
        super().__init__(**attributes)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, known, rest = super().resolve_command(ctx, args)
        if name is None or known is None:
            return name, None, rest
        if ctx.resilient_parsing or {"-h", "--help"} & {*rest} or name not in _LOADING_LONG:
            return name, load_command(name), rest
        # Quick commands do without what draws progress.
        from codesum_pipeline.ways_in.cli.progress_bar import show_start

        with show_start():
            return name, load_command(name), rest

    def invoke(self, ctx: Any) -> Any:
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        with report_failures(debug=bool(ctx.params.get("debug"))):
            return super().invoke(ctx)


app = typer.Typer(
    name="codesum",
    cls=LazyGroup,
    no_args_is_help=True,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
    **_LOOK,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"codesum {installed_version() or '(run from its sources, not installed)'}")
        raise typer.Exit


def codesum(
    ctx: typer.Context,
    home: str | None = None,
    settings_file: Path | None = None,
    offline: bool = False,
    debug: bool = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """A searchable summary of every function, class, file and module of your repositories.

    Start with [bold]codesum index .[/] in a repository, then [bold]codesum search "what it does"[/].
    """
    flags = {"home": home, "settings_file": settings_file, "offline": offline or None}
    ctx.obj = Invocation(flags, command=ctx.invoked_subcommand or "", umask=read_umask(), debug=debug)


app.callback()(with_words(codesum, "codesum"))


def main() -> None:
    """The entry point."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its code instead of a crash.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app(prog_name="codesum")
