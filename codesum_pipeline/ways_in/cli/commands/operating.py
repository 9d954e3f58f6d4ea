"""`codesum dev`, `worker`, `maintain`, `token` and `audit`: running a home and its servers."""

import errno
import json
import os
import secrets
import socket
import stat
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.filesize import decimal

from codesum_pipeline.build.upkeep.freed import FreedSpace, SkippedUpkeep
from codesum_pipeline.ground.model.errors import ConfigurationError
from codesum_pipeline.ground.model.printable import clean
from codesum_pipeline.ground.store.atomic import replacing
from codesum_pipeline.ground.store.locks import exclusive
from codesum_pipeline.ways_in.cli.cli_app import CommandGroup
from codesum_pipeline.ways_in.cli.invocation import invocation, make_home
from codesum_pipeline.ways_in.cli.options import argument, option, switch
from codesum_pipeline.ways_in.cli.render import note, present, table
from codesum_pipeline.ways_in.serving.access_tokens import hashed_token, parse_tokens, read_tokens
from codesum_pipeline.ways_in.serving.audit import read_audit

# Ports after the wanted one that are tried before the system names any.
_NEAR = 20
_LARGEST = 65_535


class UiProcess(StrEnum):
    """One of the two processes of the UI."""

    WEBSERVER = "webserver"
    DAEMON = "daemon"


def dev(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="The address to listen on. The UI has no log-in.")] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        option(
            "NAME",
            "A name or address of this machine, besides localhost and HOST, that browsers may ask for the UI. "
            "May be repeated. Needed with --host 0.0.0.0, and behind a proxy.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=1, max=65_535, help="The port to listen on.")] = 3000,
    only: Annotated[
        UiProcess | None,
        option(
            None, "Run one of the two parts alone, where several machines or a service manager run them; default: both."
        ),
    ] = None,
) -> None:
    """Open the Dagster UI, with its daemon, on the same data.

    The daemon runs the nightly schedule and the sensor that notices new commits; both can be switched off in the UI.
    Requests from pages of other sites in the same browser are refused. Stop it with Ctrl-C.
    """
    home = invocation(ctx).home
    if only is not UiProcess.DAEMON:
        check_free(host, port)
    from codesum_pipeline.ways_in.dagster_ui.starting import start_ui

    make_home(home.settings)
    start_ui(home, host=host, port=port, allowed=allow_host or (), part=only.value if only else "dev")


def worker(
    ctx: typer.Context,
    processes: Annotated[
        int | None, option(None, "Runs at a time; default: engine.worker_processes, which is 1.", min=1, max=1024)
    ] = None,
) -> None:
    """Carry out runs that `codesum dev` hands over, on this machine or another.

    It needs engine.launcher = "celery", the Redis in CODESUM_BROKER_URL and the Postgres in CODESUM_POSTGRES_URL. On
    SIGTERM it finishes its current runs, and ends.
    """
    home = invocation(ctx).home
    if home.settings.engine.launcher != "celery":
        raise ConfigurationError(
            'a worker takes runs from Celery: set engine.launcher = "celery" and engine.storage = "postgres"'
        )
    from codesum_pipeline.ways_in.dagster_ui.starting import start_worker

    make_home(home.settings)
    start_worker(home, processes=processes or home.settings.engine.worker_processes)


def check_free(host: str, port: int) -> None:
    """Raise `ConfigurationError`, with a command that works, where nobody can listen there."""
    try:
        _listen(host, port)
    except socket.gaierror as error:
        raise ConfigurationError(f"host {host!r} is not an address: {error.strerror}: leave out --host") from error
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL:
            raise ConfigurationError(f"host {host!r} is not an address of this machine: leave out --host") from error
        reason = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used: {error.strerror}"
        named = "" if host == "127.0.0.1" else f" --host {host}"
        raise ConfigurationError(
            f"port {port} {reason}; `codesum dev{named} --port {_free_port(host, port)}`"
        ) from error


def _free_port(host: str, port: int) -> int:
    start = port if port > 1024 else 3000
    for near in range(start, min(start + _NEAR, _LARGEST + 1)):
        with suppress(OSError):
            return _listen(host, near)
    return _listen(host, 0)


def _listen(host: str, port: int) -> int:
    """Listen for a moment; the port."""
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind) as server:
        # As the web server does: a port whose last connections are still closing can be had.
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(address)
        server.listen()
        return int(server.getsockname()[1])


def maintain(
    ctx: typer.Context,
    dry_run: Annotated[bool, switch("--dry-run", "Only say what would go; nothing is changed.")] = False,
    secrets: Annotated[
        bool,
        switch(
            "--secrets",
            "Also remove secrets that earlier versions stored: old versions of indexes are deleted, and in the records "
            "of Dagster and of models secrets are masked. `codesum doctor` names what there is.",
        ),
    ] = False,
    as_json: Annotated[bool, switch("--json", "Print one JSON object per kind and repository.")] = False,
) -> None:
    """Prune old runs, rows, mirrors and caches, and say what that freed.

    The settings below [bold]maintenance[/] in codesum.toml say what is kept, and for how long. The schedule of the same
    name in the Dagster UI does this every night. Builds and searches continue meanwhile; a repository that is being
    built is pruned the next time.
    """
    if dry_run and secrets:
        raise ConfigurationError("--dry-run and --secrets: choose one of them; `codesum doctor` names what would go")
    called = invocation(ctx)
    called.settings.apply_mode()
    from codesum_pipeline.build.dagster.control import maintain_home

    def tell(found: FreedSpace | SkippedUpkeep) -> None:
        if isinstance(found, SkippedUpkeep):
            note(f"left as it is: {f'{found.repository}: ' if found.repository else ''}{found.because}")

    done = maintain_home(called.home, is_dry_run=dry_run, has_secrets=secrets, tell=tell)
    # One line per kind and repository.
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for each in done.freed:
        count, size = sums.get((each.kind.value, each.repository), (0, 0))
        sums[each.kind.value, each.repository] = count + each.count, size + each.size
    rows = [(*place, count, decimal(size)) for place, (count, size) in sums.items()]
    verb = "would go" if done.is_dry_run else "went"
    columns = ("what", "repository", verb, "size")
    none = "nothing is old enough to go"
    present(done.freed, lambda: table(columns, rows, right=columns[2:]), as_json=as_json, otherwise=none)
    if done.freed and not as_json:
        note(f"{decimal(done.size)} {'would be ' if done.is_dry_run else ''}freed in {done.seconds:.1f} s")


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
    """Raises `ConfigurationError` if what comes of it would be no file of tokens; then it stays as it was."""
    with exclusive(file.with_name(f".{file.name}.lock")):
        before = ""
        if file.exists():
            if not read_tokens(file, {}, variable="")[0].name:
                raise ConfigurationError(f"{file} holds one token alone: give another --file")
            before = f"{file.read_text(encoding='utf-8').rstrip()}\n\n"
        content = f"{before}{entry}\n"
        parse_tokens(content, f"--token-file {file}")
        with replacing(file) as opened:
            os.fchmod(opened.fileno(), stat.S_IRUSR | stat.S_IWUSR)
            opened.write(content.encode())


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
