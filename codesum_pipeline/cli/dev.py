"""`codesum dev`: the Dagster UI with its daemon."""

from enum import StrEnum
from typing import Annotated

import typer

from codesum_pipeline.cli.home_folder import make_home
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.ports import check_free
from codesum_pipeline.wiring import Home


class UiProcess(StrEnum):
    """One of the two processes of the UI."""

    WEBSERVER = "webserver"
    DAEMON = "daemon"


def dev(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="The address to listen on. The UI has no log-in.")] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="A name or address of this machine, besides localhost and HOST, that browsers may ask for the UI. "
            "May be repeated. Needed with --host 0.0.0.0, and behind a proxy.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=1, max=65_535, help="The port to listen on.")] = 3000,
    only: Annotated[
        UiProcess | None,
        typer.Option(
            show_default=False,
            help="Run one of the two parts alone, where several machines or a service manager run them; default: both.",
        ),
    ] = None,
) -> None:
    """Open the Dagster UI, with its daemon, on the same data.

    The daemon runs the nightly schedule and the sensor that notices new commits; both can be switched off
    in the UI. Pages of others in the same browser are not answered. Stop with Ctrl-C.
    """
    home = Home(invocation(ctx).settings)
    if only is not UiProcess.DAEMON:
        check_free(host, port)
    from codesum_pipeline.defs.control import UiPart, start_ui

    make_home(home.settings)
    part = UiPart(only.value) if only else UiPart.BOTH
    start_ui(home, host=host, port=port, allowed=allow_host or (), part=part)
