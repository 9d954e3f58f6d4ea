"""`codesum token`: tokens that open some repositories over HTTP."""

import json
import os
import secrets
import stat
from datetime import datetime
from pathlib import Path

import typer

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.store.atomic import replace_durably
from codesum_pipeline.foundation.store.locks import lock_exclusively
from codesum_pipeline.ways_in.cli.cli_app import CommandGroup
from codesum_pipeline.ways_in.cli.render import write_note
from codesum_pipeline.ways_in.http_serving.access_tokens import hashed_token, parse_tokens, read_tokens

_BYTES = 32
token = CommandGroup("token")


@token.callback()
def _group() -> None:
    """A group, also while it has one command."""


@token.command()
def new(name: str, repo: list[str], expires: datetime | None = None, file: Path | None = None) -> None:
    """Make a token and show it once: the file holds only its hash."""
    secret = secrets.token_urlsafe(_BYTES)
    values = {"token": hashed_token(secret), "repos": repo}
    lines = [f"[{json.dumps(name)}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    entry = "\n".join([*lines, f"expires = {expires.date()}"] if expires else lines)
    if file is None:
        write_note("for the file of tokens:")
        typer.echo(entry)
        write_note("for its holder:")
    else:
        _add(file, entry)
        write_note(f"added to {file}; give this token to its holder, since it is shown only now:")
    typer.echo(secret)


def _add(file: Path, entry: str) -> None:
    """Raises `ConfigurationError` if what comes of it would be no file of tokens; then it stays as it was."""
    with lock_exclusively(file.with_name(f".{file.name}.lock")):
        before = ""
        if file.exists():
            if not read_tokens(file, {}, variable="")[0].name:
                raise ConfigurationError(
                    f"{file} holds a single token without a name, so none can be added: give another --file"
                )
            before = f"{file.read_text(encoding='utf-8').rstrip()}\n\n"
        content = f"{before}{entry}\n"
        parse_tokens(content, f"--token-file {file}")
        with replace_durably(file) as opened:
            os.fchmod(opened.fileno(), stat.S_IRUSR | stat.S_IWUSR)
            opened.write(content.encode())
