"""`codesum webhooks`: code hosts tell of pushes, and builds start within seconds."""

import logging
import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.options import PortOption, option
from codesum_pipeline.cli.render import note
from codesum_pipeline.homes.folders import open_copy
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.serving.listening import DEFAULT_HOST, Address, listen, serve
from codesum_pipeline.source.poll_state import mark_due
from codesum_pipeline.webhooks.app import PATH, make_app, make_receiver
from codesum_pipeline.webhooks.events import read_secrets
from codesum_pipeline.wiring import Home

DEFAULT_PORT = 7779


def webhooks(
    ctx: typer.Context,
    port: PortOption = DEFAULT_PORT,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where a proxy reaches it; by default on this machine.")
    ] = DEFAULT_HOST,
    secret_file: Annotated[
        Path | None,
        option(
            "FILE", "The secrets that hosts sign with, one a line, all valid; else those of CODESUM_WEBHOOK_SECRET."
        ),
    ] = None,
) -> None:
    """Receive the push events of GitHub, GitLab, Gitea and Forgejo.

    Within seconds of a push, the planner of [bold]codesum dev[/] or of Dagster's daemon looks at the repository, so
    that polling can be rare. Give code hosts the address of a proxy that speaks https. Stop it with Ctrl-C.
    """
    called = invocation(ctx)
    secrets = read_secrets(secret_file, os.environ)
    home, settings = called.home, called.settings.webhooks
    bound, address = listen(Address(host, port, f"--host {host} --port {port}"))
    receiver = make_receiver(
        secrets,
        partial(registered_entries, home),
        partial(mark_due, home.layout),
        max_body_mb=settings.max_body_mb,
        max_per_minute=settings.max_per_minute,
    )
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.INFO)
    note(f"receiving webhooks at {address.url}{PATH}")
    serve(make_app(receiver), bound)


def registered_entries(home: Home) -> list[RepositoryEntry]:
    """The registry's entries, those of a bucket as it has them now."""
    settings = home.settings
    if settings.bucket:
        open_copy(settings.bucket, is_offline=settings.offline)
    return home.registry.entries()
