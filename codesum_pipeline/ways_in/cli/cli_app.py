"""The `codesum` command: its global options, which commands there are, and how their help looks.

Only the module of the command that runs is imported: `codesum search` does not wait for what `codesum index` needs.
"""

import gc
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import Struct
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandFunctionType

from codesum_pipeline.foundation.data_model.installed_version import installed_version
from codesum_pipeline.ways_in.cli.invocation import Invocation, read_umask
from codesum_pipeline.ways_in.cli.render import EPILOG, report_failures

# Below it, the table of options would cut their names.
_NARROW = 72


class Command(Struct, frozen=True):
    """A command's name, its panel in `codesum --help`, and the first line of its own help."""

    name: str
    panel: str
    help: str


_PANELS = {
    "Repositories": {
        "add": "Register repositories, or one folder of each.",
        "remove": "Stop indexing a repository; with --purge, delete all that is kept of it.",
        "org": "Register organisations of code hosts, whose repositories come and go by themselves.",
        "repos": "List the registered repositories.",
    },
    "Building the index": {
        "index": "Bring repositories' indexes up to date, registering what is not known yet.",
        "plan": "Show what `codesum index` would rewrite and why, changing nothing.",
        "retry": "Build repositories again that failed too often, or that a person stopped.",
        "status": "Show how fresh each repository's index is.",
        "export": "Write a repository's index as a file, for other machines to build on.",
        "import": "Take over an index that another machine exported; the next build makes only what differs.",
    },
    "Asking it": {
        "search": "Find functions, classes, files and modules by what they do.",
        "grep": "Find lines that match a pattern, below the function or class that holds them.",
        "impact": "Show what a change reaches: who uses what changed, and which tests, routes and commands run it.",
        "ask": "Answer a question about repositories, with the places that show it.",
        "show": "Show one document with all its fields.",
        "overview": "Show a repository to a newcomer: its parts, entry points, frameworks, where to start.",
        "explain": "Show why a document was last rewritten, as the chain of causes.",
        "eval": "Measure how well questions with known answers are answered, by lane and level.",
        "sql": "Query every table with SQL; nothing can be changed.",
        "web": "Search and read the indexes in a browser.",
        "mcp": "Serve the indexes to coding agents (MCP).",
    },
    "Running it": {
        "doctor": "Check published indexes, leases, runs, digests and Dagster's records, and say how to repair them.",
        "maintain": "Prune old runs, rows, mirrors and caches, and say what that freed.",
        "prompts": "Show, check and change the templates of the prompts for language models.",
        "cache": "Show the kept answers of language models, or delete those that are no longer used.",
        "attest": "Make, sign and verify an attestation: the file that says which old rows to compact.",
        "compact": "Replace old rows by one text, as a signed attestation says; list earlier ones.",
        "cost": "Show what calls of models cost, by day, run, model, level or repository.",
        "intent": "Add, list, test and remove standing questions; digests tell what changed about them.",
        "digest": "Show and send digests; show waiting messages, and test channels.",
        "webhooks": "Receive the push events of GitHub, GitLab, Gitea and Forgejo.",
        "token": "Make a token that gives access to some repositories over `codesum web` and `codesum mcp --http`.",
        "audit": "Show who asked what over HTTP with a token, or having signed in, newest last.",
        "dev": "Open the Dagster UI, with its daemon, on the same data.",
        "worker": "Carry out runs that `codesum dev` hands over, on this machine or another.",
    },
}
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
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    paragraphs = (" ".join(paragraph.split()) for paragraph in (found.__doc__ or "").split("\n\n"))
    single.command(name, cls=PlainCommand, help="\n\n".join(paragraphs))(found)
    return typer.main.get_command(single)


class _PlainHelp:
    """Does not say of a switch that its type is bool, and cuts no name on a narrow terminal."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_bool_flag", False):
                parameter.metavar = ""
        return parameters

    def format_help(self, ctx: Any, formatter: Any) -> None:
        columns = shutil.get_terminal_size().columns
        if columns >= _NARROW:
            super().format_help(ctx, formatter)  # type: ignore[misc]
            return
        console = Console(highlight=False, emoji=False, width=columns)
        for part in _narrow_help(self, ctx):
            console.print(part, overflow="fold")


class PlainCommand(_PlainHelp, TyperCommand):
    """A command of `codesum`."""


class PlainGroup(_PlainHelp, TyperGroup):
    """Commands that belong together."""


class CommandGroup(typer.Typer):
    """The commands below one of `COMMANDS`."""

    def __init__(self, name: str) -> None:
        super().__init__(
            cls=PlainGroup,
            add_completion=False,
            pretty_exceptions_enable=False,
            rich_markup_mode="rich",
            no_args_is_help=True,
            help=next(command.help for command in COMMANDS if command.name == name),
        )

    def command(self, name: str | None = None, **options: Any) -> Callable[[CommandFunctionType], CommandFunctionType]:
        return super().command(name, cls=PlainCommand, **options)


class LazyGroup(PlainGroup):
    """Lists commands from `COMMANDS` and imports only the one that is run or completed."""

    def __init__(self, **attributes: Any) -> None:
        attributes["commands"] = {
            command.name: TyperCommand(
                command.name, help=command.help, rich_help_panel=command.panel, rich_markup_mode="rich"
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


def _narrow_help(command: Any, ctx: Any) -> Iterator[RenderableType]:
    """Each option on a line, what it means below. The terminal breaks a name that is longer than a line."""
    yield Text(command.get_usage(ctx))
    for paragraph in (command.help or "").split("\n\n"):
        yield Text.from_markup(f"\n{' '.join(paragraph.split())}")
    yield ""
    named = [
        (_parameter_name(parameter, ctx), parameter.help or "")
        for parameter in command.get_params(ctx)
        if not getattr(parameter, "hidden", False)
    ]
    named += [(name, (each.help or "").split("\n\n")[0]) for name, each in getattr(command, "commands", {}).items()]
    for name, text in named:
        yield Text(name, style="bold cyan")
        yield Padding(Text.from_markup(" ".join(text.split())), (0, 0, 0, 4), expand=False)
    if command.epilog:
        yield Text.from_markup(f"\n{command.epilog}")


def _parameter_name(parameter: Any, ctx: Any) -> str:
    """An option's names and what it takes; of an argument, its name."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    names = ", ".join((*parameter.opts, *parameter.secondary_opts))
    return names if parameter.is_flag else f"{names} {parameter.metavar or parameter.display_type(ctx)}"


app = typer.Typer(
    name="codesum",
    cls=LazyGroup,
    no_args_is_help=True,
    epilog=EPILOG,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"codesum {installed_version() or '(run from its sources, not installed)'}")
        raise typer.Exit


@app.callback()
def codesum(
    ctx: typer.Context,
    home: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER|URL",
            show_default=False,
            help="Where everything is kept: a folder, or a bucket as in s3://bucket/prefix. "
            "Default: CODESUM_HOME, else the nearest .codesum folder upward, else "
            "codesum in your data folder (~/.local/share) for what was indexed on first use, "
            "else .codesum in the current folder.",
        ),
    ] = None,
    settings_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="The settings. Default: CODESUM_SETTINGS_FILE, else codesum.toml in the home. "
            "Any setting can also be given in the environment, as in CODESUM_FILTER__MIN_LINES=5.",
        ),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Use no network: index what was fetched before, and local folders.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error instead of one line.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """A searchable summary of every function, class, file and module of your repositories.

    Start with [bold]codesum index .[/] in a repository, then [bold]codesum search "what it does"[/].
    """
    flags = {"home": home, "settings_file": settings_file, "offline": offline or None}
    ctx.obj = Invocation(flags, command=ctx.invoked_subcommand or "", umask=read_umask())


def main() -> None:
    """The entry point."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its code instead of a crash.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app(prog_name="codesum")
