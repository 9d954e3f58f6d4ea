"""`codesum mcp`: the tools for coding agents, over the Model Context Protocol."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.lookup import catalogue_of
from codesum_pipeline.cli.render import note
from codesum_pipeline.model.errors import ConfigurationError


class WhichTools(StrEnum):
    """How many tools an agent gets: each costs it the characters of its description."""

    DEFAULT = "default"
    ALL = "all"


def mcp(
    ctx: typer.Context,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="[HOST:]PORT",
            show_default=False,
            help="Serve streamable HTTP at /mcp instead of stdio; on 127.0.0.1 where no host is named, port 0 is any.",
        ),
    ] = None,
    tools: Annotated[
        WhichTools,
        typer.Option(help="default: search, read, graph, overview and status; all: those and the targeted ones."),
    ] = WhichTools.DEFAULT,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Whoever asks over HTTP must give this file's token; else CODESUM_MCP_TOKEN. "
            "Without a token only this machine is served.",
        ),
    ] = None,
    host_name: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", show_default=False, help="Another name that clients call the HTTP server by."),
    ] = None,
) -> None:
    """Serve the indexes to coding agents (MCP).

    An agent starts it itself: give it the command [bold]codesum mcp[/]. In a checkout of an indexed repository that
    one is asked where a call names none.
    """
    called = invocation(ctx)
    # Half a second, which no other command waits for.
    from codesum_pipeline.mcp_server.server import make_server

    server = make_server(catalogue_of(called), folder=Path.cwd(), every_tool=tools is WhichTools.ALL)
    if http is None:
        if token_file or host_name:
            raise ConfigurationError("--token-file and --host-name go with --http: over stdio only its parent can ask")
        server.run("stdio")
        return
    from codesum_pipeline.mcp_server.http import (
        PATH,
        check_reachable,
        listen,
        make_app,
        parse_address,
        read_token,
        serve,
    )

    token = read_token(token_file, os.environ)
    asked = parse_address(http)
    check_reachable(asked, token)
    bound, address = listen(asked)
    shown = f"[{address.host}]" if ":" in address.host else address.host
    note(f"serving MCP at http://{shown}:{address.port}{PATH}")
    serve(make_app(server, address, token=token, host_names=host_name or ()), bound)
