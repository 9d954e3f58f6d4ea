"""`codesum web`: search and reading in a browser."""

import os
import webbrowser
from pathlib import Path

from codesum_pipeline.foundation.settings.identity_settings import CLIENT_SECRET_VARIABLE
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import write_note
from codesum_pipeline.ways_in.cli.served_homes import auditor_of, note_token_problems, served_catalogue
from codesum_pipeline.ways_in.http_serving.access_tokens import DEFAULT_HOST, Address, TokenSource, check_reachable
from codesum_pipeline.ways_in.http_serving.http_server import listen_on, serve_app
from codesum_pipeline.ways_in.metrics.server_metrics import ServerMetrics
from codesum_pipeline.ways_in.web.web_app import TOKEN_VARIABLE, make_app, people_of

_PORT = 7777


def web(
    invocation: Invocation,
    port: int = _PORT,
    host: str = DEFAULT_HOST,
    open_browser: bool = False,
    token_file: Path | None = None,
    host_name: list[str] | None = None,
    repo: list[str] | None = None,
) -> None:
    """Search and read the indexes in a browser.

    The page loads nothing from other servers. Its `ask` uses the model of `codesum ask`, within the same caps. Stop it
    with Ctrl-C.
    """
    tokens = TokenSource.of(token_file, os.environ, variable=TOKEN_VARIABLE)
    requested = Address(host, port, f"--host {host} --port {port}")
    metrics = ServerMetrics.start(invocation.settings.metrics, "web")
    audit, secret = auditor_of(invocation, "web", metrics), os.environ.get(CLIENT_SECRET_VARIABLE, "").strip()
    people = people_of(invocation.settings.identity, secret, audit, has_tokens=tokens.requires_token)
    check_reachable(requested, tokens.tokens, variable=TOKEN_VARIABLE, has_people=people is not None)
    bound, address = listen_on(requested)
    with served_catalogue(invocation, repo or ()) as catalogue:
        if metrics:
            metrics.measure_fleet(catalogue)
        app = make_app(
            catalogue,
            address,
            tokens=tokens,
            audit=audit,
            people=people,
            host_names=host_name or (),
            folder=Path.cwd(),
            metrics=metrics,
        )
        write_note(f"serving the search page at {address.url}")
        note_token_problems(tokens, catalogue, people)
        if open_browser:
            webbrowser.open(address.url)
        serve_app(app, bound, invocation.settings.serving)
