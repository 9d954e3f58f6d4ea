"""`codesum token` and `audit`: access tokens for the HTTP servers, and the log of their requests."""

import json
import os
import secrets
import stat
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from codesum_pipeline.cli.commands import CommandGroup
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.options import argument, option, switch
from codesum_pipeline.cli.render import note, present, table
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.printable import clean
from codesum_pipeline.serving.audit import read_audit
from codesum_pipeline.serving.tokens import hashed_token, read_tokens
from codesum_pipeline.store.locks import exclusive

_BYTES = 32

token = CommandGroup("token")


@token.callback()
def _group() -> None:
    """A group, also while it has one command."""


@token.command()
def new(
    name: Annotated[str, argument("NAME", "Whose it is: the audit log has this name.")],
    repo: Annotated[
        list[str],
        typer.Option(
            metavar="PATTERN",
            help='A key, or a pattern as "payments-*"; "!payments-secrets" closes; "*" is all. Can be repeated.',
        ),
    ],
    expires: Annotated[
        datetime | None, option(None, "The day (UTC) from which on it opens nothing.", formats=["%Y-%m-%d"])
    ] = None,
    file: Annotated[
        Path | None,
        option(
            "FILE",
            "Add it to this file, which is made if need be; servers with it as their --token-file take it at "
            "once. Default: print what belongs into one.",
        ),
    ] = None,
) -> None:
    """Make a token and show it once: the file holds only its hash."""
    secret = secrets.token_urlsafe(_BYTES)
    values = {"token": hashed_token(secret), "repos": repo}
    lines = [f"[{json.dumps(name)}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    entry = "\n".join([*lines, f"expires = {expires.date()}"] if expires else lines)
    if file is None:
        note("for the file of tokens:")
        typer.echo(entry)
        note("for its holder:")
    else:
        _add(file, entry)
        note(f"added to {file}; for its holder, who is shown it this once:")
    typer.echo(secret)


def _add(file: Path, entry: str) -> None:
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
            draft.write_text(f"{before}{entry}\n", encoding="utf-8")
            read_tokens(draft, {}, variable="")
            draft.replace(file)
        except ConfigurationError as error:
            raise ConfigurationError(str(error).replace(str(draft), str(file))) from None
        finally:
            draft.unlink(missing_ok=True)


_FIELDS = ("time", "token", "entrance", "asked", "repos", "outcome", "duration_ms", "hits")


def audit(
    ctx: typer.Context,
    token: Annotated[str | None, option("NAME", "Requests with the token of this name.")] = None,
    repo: Annotated[str | None, option("KEY", "Requests that this repository answered.")] = None,
    outcome: Annotated[
        str | None, option(None, "Requests that ended so: answered, refused, failed or cancelled.")
    ] = None,
    since: Annotated[str | None, option("TIME", "From then on, in UTC: 2027-01-31, or 2027-01-31T12:00.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="The newest so many.")] = 100,
    as_json: Annotated[bool, switch("--json", "Print one JSON object per request, all fields.")] = False,
) -> None:
    """Show who asked what over HTTP with a token, newest last."""
    folder = invocation(ctx).layout.audit

    def is_wanted(line: dict[str, Any]) -> bool:
        return (
            (token is None or line.get("token") == token)
            and (repo is None or repo in (line.get("repos") or ()))
            and (outcome is None or line.get("outcome") == outcome)
            and (since is None or str(line.get("time", "")) >= since)
        )

    lines = list(filter(is_wanted, read_audit(folder)))[-limit:]
    rows = [[_shown(line.get(name)) for name in _FIELDS] for line in lines]
    none = f"no such request is written down in {folder}"
    present(lines, lambda: table(_FIELDS, rows), as_json=as_json, otherwise=none)


def _shown(value: Any) -> str:
    return clean(", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value))
