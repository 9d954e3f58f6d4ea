"""`codesum web`: search, documents and repositories in a browser."""

import os
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.render import note
from codesum_pipeline.cli.serving_options import HostNames, ServedRepos, served_catalogue
from codesum_pipeline.serving.listening import DEFAULT_HOST, Address, listen, serve
from codesum_pipeline.serving.tokens import check_reachable, read_token
from codesum_pipeline.web.app import TOKEN_VARIABLE, make_app

DEFAULT_PORT = 7777


def web(
    ctx: typer.Context,
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65_535, help="Where to listen; 0 is any free port.")
    ] = DEFAULT_PORT,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Any other than this machine's own needs a token.")
    ] = DEFAULT_HOST,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Whoever asks must give this file's token, in a browser as the password; else CODESUM_WEB_TOKEN. "
            "Without a token only this machine is served.",
        ),
    ] = None,
    host_name: HostNames = None,
    repo: ServedRepos = None,
) -> None:
    """Search and read the indexes in a browser.

    The page loads nothing from other servers. For its `ask` it asks the model that `codesum ask` does, within the same
    caps. It ends with Ctrl-C.
    """
    called = invocation(ctx)
    token = read_token(token_file, os.environ, variable=TOKEN_VARIABLE)
    asked = Address(host, port, f"--host {host} --port {port}")
    check_reachable(asked, token, variable=TOKEN_VARIABLE)
    bound, address = listen(asked)
    app = make_app(served_catalogue(called, repo or ()), address, token=token, host_names=host_name or ())
    note(f"serving the search page at {address.url}")
    if open_browser:
        webbrowser.open(address.url)
    serve(app, bound)
