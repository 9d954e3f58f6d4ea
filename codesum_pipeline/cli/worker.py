"""`codesum worker`: carries out runs that the daemon hands over."""

from typing import Annotated

import typer

from codesum_pipeline.cli.home_folder import make_home
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.wiring import Home


def worker(
    ctx: typer.Context,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1, max=1024, show_default=False, help="Runs at a time; default: engine.worker_processes, which is 1."
        ),
    ] = None,
) -> None:
    """Carry out runs that `codesum dev` hands over, on this machine or another.

    It needs engine.launcher = "celery", the Redis in CODESUM_BROKER_URL and the Postgres in CODESUM_POSTGRES_URL. At
    SIGTERM it finishes what it has begun, and ends.
    """
    home = Home(invocation(ctx).settings)
    if home.settings.engine.launcher != "celery":
        raise ConfigurationError(
            'a worker takes runs from Celery: set engine.launcher = "celery" and engine.storage = "postgres"'
        )
    from codesum_pipeline.defs.control import start_worker

    make_home(home.settings)
    start_worker(home, processes=processes or home.settings.engine.worker_processes)
