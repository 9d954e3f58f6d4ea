"""Which commands there are, without importing any of them.

A command lives in the module of its name, in a function of its name. Only the
one that runs is imported, so that `codesum search` does not wait for what
`codesum index` needs.
"""

import gc
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

import typer
from msgspec import Struct
from typer.core import TyperCommand, TyperGroup

from codesum_pipeline.cli.failures import report_failures
from codesum_pipeline.cli.narrow_help import is_narrow, show_narrow_help


class Command(Struct, frozen=True):
    """A command's name, its panel in `codesum --help`, and the first line of its own help.

    One that `loads_long` imports a second or more of code before it can do anything, and says so.
    """

    name: str
    panel: str
    help: str
    loads_long: bool = False


_REGISTRY = "Repositories"
_BUILD = "Building the index"
_ASK = "Asking it"
_OPERATE = "Running it"

COMMANDS = (
    Command("add", _REGISTRY, "Register a repository, or one folder of it."),
    Command("remove", _REGISTRY, "Stop indexing a repository; with --purge, delete all that is kept of it."),
    Command("org", _REGISTRY, "Register organisations of code hosts, whose repositories come and go by themselves."),
    Command("repos", _REGISTRY, "List the registered repositories."),
    Command(
        "index", _BUILD, "Bring repositories' indexes up to date, registering what is not known yet.", loads_long=True
    ),
    Command("plan", _BUILD, "Show what `codesum index` would rewrite and why, changing nothing.", loads_long=True),
    Command("status", _BUILD, "Show how fresh each repository's index is."),
    Command("search", _ASK, "Find functions, classes, files and modules by what they do."),
    Command("ask", _ASK, "Answer a question about repositories, with the places that show it.", loads_long=True),
    Command("show", _ASK, "Show one document with all its fields."),
    Command("overview", _ASK, "Show a repository to a newcomer: its parts, entry points, frameworks, where to start."),
    Command("explain", _ASK, "Show why a document was last rewritten, as the chain of causes."),
    Command(
        "eval", _ASK, "Measure how well questions with known answers are answered, by lane and level.", loads_long=True
    ),
    Command("sql", _ASK, "Query every table with SQL; nothing can be changed."),
    Command("web", _ASK, "Search and read the indexes in a browser."),
    Command("mcp", _ASK, "Serve the indexes to coding agents (MCP)."),
    Command(
        "doctor",
        _OPERATE,
        "Check published indexes, leases, runs, digests and Dagster's records, and say how to repair them.",
    ),
    Command(
        "maintain", _OPERATE, "Prune old runs, rows, mirrors and caches, and say what that freed.", loads_long=True
    ),
    Command("prompts", _OPERATE, "Show, check and change the templates of what a language model is told."),
    Command("cache", _OPERATE, "Show what is kept of models' texts, or delete what is not used any more."),
    Command("attest", _OPERATE, "Attest which old rows are to be compressed into one: make, sign, verify the file."),
    Command("compact", _OPERATE, "Compress old rows into one text, as an attestation says; list what was."),
    Command("cost", _OPERATE, "Show what calls of models cost, by day, run, model, level or repository."),
    Command("intent", _OPERATE, "Add, list, try and remove standing questions: digests tell what changed about them."),
    Command("digest", _OPERATE, "Show digests and send them; show what waits, and try channels."),
    Command("webhooks", _OPERATE, "Receive the push events of GitHub, GitLab, Gitea and Forgejo."),
    Command(
        "token",
        _OPERATE,
        "Make a token that opens some repositories to its holder, for `codesum web` and `codesum mcp --http`.",
    ),
    Command("audit", _OPERATE, "Show who asked what of servers that ask for a token, newest last."),
    Command("dev", _OPERATE, "Open the Dagster UI, with its daemon, on the same data."),
    Command("worker", _OPERATE, "Carry out runs that `codesum dev` hands over, on this machine or another."),
)


def load_command(name: str) -> Any:
    """The real command, or the group of them, from its module."""
    found = getattr(import_module(f"{__package__}.{name}"), name)
    if isinstance(found, typer.Typer):
        return typer.main.get_command(found)
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    single.command(name, cls=PlainCommand, help=_paragraphs(found.__doc__ or ""))(found)
    return typer.main.get_command(single)


def _paragraphs(docstring: str) -> str:
    """Each on one line, for the terminal to break."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in docstring.split("\n\n"))


class PlainCommand(TyperCommand):
    """Its help does not say of a switch that its type is bool, and cuts no name on a narrow terminal."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_switch_types(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        if is_narrow():
            show_narrow_help(self, ctx)
        else:
            super().format_help(ctx, formatter)


class PlainGroup(TyperGroup):
    """As `PlainCommand`, of commands that belong together."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_switch_types(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        if is_narrow():
            show_narrow_help(self, ctx)
        else:
            super().format_help(ctx, formatter)


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
        with _news(name, is_asked_for_help=ctx.resilient_parsing or not {"-h", "--help"}.isdisjoint(rest)):
            return name, load_command(name) if name and known else None, rest

    def invoke(self, ctx: Any) -> Any:
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        with report_failures(debug=bool(ctx.params.get("debug"))):
            return super().invoke(ctx)


def _news(name: str | None, *, is_asked_for_help: bool) -> AbstractContextManager[None]:
    """What a person sees while a command is imported; nothing where that is quick or only its help is wanted."""
    if is_asked_for_help or name not in {command.name for command in COMMANDS if command.loads_long}:
        return nullcontext()
    from codesum_pipeline.cli.progress_bar import starting

    return starting()


def _without_switch_types(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_bool_flag", False):
            parameter.metavar = ""
    return parameters
