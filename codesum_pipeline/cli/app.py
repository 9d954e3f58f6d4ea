"""The `codesum` command: its global options, and how every call is carried out."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from codesum_pipeline.cli.commands import LazyGroup
from codesum_pipeline.cli.failures import EPILOG
from codesum_pipeline.cli.invocation import Invocation

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
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"codesum {version('codesum-pipeline')}")
        except PackageNotFoundError:
            typer.echo("codesum (run from its sources, not installed)")
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
            "codesum in your data folder (~/.local/share) for what search, mcp or web indexed on first use, "
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
    ctx.obj = Invocation(flags, command=ctx.invoked_subcommand or "")


def main() -> None:
    """The entry point."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its code instead of a crash.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app(prog_name="codesum")
