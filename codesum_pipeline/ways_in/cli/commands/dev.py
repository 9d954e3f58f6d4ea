"""`codesum dev` and `worker`: the Dagster UI with its daemon, and the processes that carry out its runs."""

import errno
import socket
from enum import StrEnum
from typing import Annotated

import typer

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.ways_in.cli.invocation import invocation_of, make_home
from codesum_pipeline.ways_in.cli.options import option


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
    home = invocation_of(ctx).home
    if only is not UiProcess.DAEMON:
        check_free(host, port)
    from codesum_pipeline.ways_in.dagster_ui.starting import start_ui

    make_home(home.settings)
    start_ui(home, host=host, port=port, allowed=allow_host or (), part=only.value if only else "dev")


def worker(
    ctx: typer.Context,
    processes: Annotated[
        int | None,
        option(
            None,
            "How many runs it carries out at a time; default: engine.worker_processes, which is 1.",
            min=1,
            max=1024,
        ),
    ] = None,
) -> None:
    """Carry out runs that `codesum dev` hands over, on this machine or another.

    It needs engine.launcher = "celery", the Redis in CODESUM_BROKER_URL and the Postgres in CODESUM_POSTGRES_URL. On
    SIGTERM it finishes its current runs, and ends.
    """
    home = invocation_of(ctx).home
    if home.settings.engine.launcher != "celery":
        raise ConfigurationError(
            'a worker takes runs from Celery: set engine.launcher = "celery" and engine.storage = "postgres"'
        )
    from codesum_pipeline.ways_in.dagster_ui.starting import start_worker

    make_home(home.settings)
    start_worker(home, processes=processes or home.settings.engine.worker_processes)


def check_free(host: str, port: int) -> None:
    """Raise `ConfigurationError` where nobody can listen there."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as server:
            # As the web server does: a port whose last connections are still closing can be had.
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(address)
            server.listen()
    except socket.gaierror as error:
        raise ConfigurationError(f"host {host!r} is not an address: {error.strerror}: leave out --host") from error
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL:
            raise ConfigurationError(f"host {host!r} is not an address of this machine: leave out --host") from error
        reason = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used: {error.strerror}"
        raise ConfigurationError(f"port {port} {reason}: choose another with --port") from error
