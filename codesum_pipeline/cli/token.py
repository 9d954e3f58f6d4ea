"""`codesum token`: tokens for servers that others reach."""

import json
import os
import secrets
import stat
from datetime import date, datetime
from pathlib import Path
from typing import Annotated

import typer

from codesum_pipeline.cli.commands import PlainCommand, PlainGroup
from codesum_pipeline.cli.render import note
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.serving.tokens import hashed_token, read_tokens
from codesum_pipeline.store.locks import exclusive

_BYTES = 32

token = typer.Typer(
    cls=PlainGroup,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    no_args_is_help=True,
    help="Make a token that opens some repositories to its holder, for `codesum web` and `codesum mcp --http`.",
)


@token.callback()
def _group() -> None:
    """A group, also while it has one command."""


@token.command(cls=PlainCommand)
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is: the audit log has this name.")],
    repo: Annotated[
        list[str],
        typer.Option(
            metavar="PATTERN",
            help='A key, or a pattern as "payments-*"; "!payments-secrets" closes; "*" is all. Can be repeated.',
        ),
    ],
    expires: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], show_default=False, help="The day (UTC) from which on it opens nothing."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Add it to this file, which is made if need be; servers with it as their --token-file take it at "
            "once. Default: print what belongs into one.",
        ),
    ] = None,
) -> None:
    """Make a token, and show it this once: the file holds its hash alone."""
    secret = secrets.token_urlsafe(_BYTES)
    table = _table(name, secret, repo, expires.date() if expires else None)
    if file is None:
        note("for the file of tokens:")
        typer.echo(table)
        note("for its holder:")
    else:
        _add(file, table)
        note(f"added to {file}; for its holder, who is shown it this once:")
    typer.echo(secret)


def _table(name: str, secret: str, repos: list[str], expires: date | None) -> str:
    lines = [f"[{json.dumps(name)}]", f"token = {json.dumps(hashed_token(secret))}", f"repos = {json.dumps(repos)}"]
    return "\n".join([*lines, f"expires = {expires}"] if expires else lines)


def _add(file: Path, table: str) -> None:
    """Raises `ConfigurationError` where what comes of it would be no file of tokens; then it stays as it was."""
    with exclusive(file.with_name(f".{file.name}.lock")):
        before = ""
        if file.exists():
            if not read_tokens(file, {}, variable="")[0].name:
                raise ConfigurationError(f"{file} holds one token alone: give another --file")
            before = f"{file.read_text(encoding='utf-8').rstrip()}\n\n"
        draft = file.with_name(f".{file.name}.new")
        draft.unlink(missing_ok=True)
        try:
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR)
            os.close(handle)
            draft.write_text(f"{before}{table}\n", encoding="utf-8")
            read_tokens(draft, {}, variable="")
            draft.replace(file)
        except ConfigurationError as error:
            raise ConfigurationError(str(error).replace(str(draft), str(file))) from None
        finally:
            draft.unlink(missing_ok=True)
