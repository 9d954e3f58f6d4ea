"""`codesum webhooks`: the push events of code hosts."""

import logging
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from codesum_pipeline.builds.codesum_home.home_folders import open_copy
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.repositories.poll_state import mark_due
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import write_note
from codesum_pipeline.ways_in.http_serving.access_tokens import DEFAULT_HOST, Address
from codesum_pipeline.ways_in.http_serving.http_server import listen_on, serve_app
from codesum_pipeline.ways_in.webhooks.push_events import RecentEntries, read_secrets
from codesum_pipeline.ways_in.webhooks.webhook_app import PATH, Receiver, make_app

if TYPE_CHECKING:
    from codesum_pipeline.builds.codesum_home.wiring import Home


_PORT = 7779


def webhooks(
    invocation: Invocation, port: int = _PORT, host: str = DEFAULT_HOST, secret_file: Path | None = None
) -> None:
    """Receive the push events of GitHub, GitLab, Gitea and Forgejo.

    Within seconds of a push, the planner of [bold]codesum dev[/] or of Dagster's daemon looks at the repository, so
    that polling can be rare. Give code hosts the address of a proxy that speaks https. Stop it with Ctrl-C.
    """
    secrets = read_secrets(secret_file, os.environ)
    home = invocation.home
    bound, address = listen_on(Address(host, port, f"--host {host} --port {port}"))
    receiver = Receiver(secrets, RecentEntries(partial(registered_entries, home)), partial(mark_due, home.layout))
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.INFO)
    write_note(f"receiving webhooks at {address.url}{PATH}")
    serve_app(make_app(receiver), bound, invocation.settings.serving)


def registered_entries(home: "Home") -> list[RepositoryEntry]:
    """The registry's entries, those of a bucket as it has them now."""
    settings = home.settings
    if settings.bucket:
        open_copy(settings.bucket, is_offline=settings.offline)
    return home.registry.entries()
