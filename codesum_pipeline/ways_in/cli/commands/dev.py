"""`codesum dev` and `worker`: the Dagster UI with its daemon, and the processes that carry out its runs."""

from typing import Literal

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.ways_in.cli.invocation import Invocation, make_home
from codesum_pipeline.ways_in.http_serving.access_tokens import Address
from codesum_pipeline.ways_in.http_serving.http_server import listen_on

# One of the two processes of the UI.
UiProcess = Literal["webserver", "daemon"]


def dev(
    invocation: Invocation,
    host: str = "127.0.0.1",
    allow_host: list[str] | None = None,
    port: int = 3000,
    only: UiProcess | None = None,
) -> None:
    """Open the Dagster UI, with its daemon, on the same data.

    The daemon runs the nightly schedule and the sensor that notices new commits; both can be switched off in the UI.
    Requests from pages of other sites in the same browser are refused. Stop it with Ctrl-C.
    """
    home = invocation.home
    if only != "daemon":
        # A place that is taken is told before anything starts.
        listen_on(Address(host, port, f"--host {host} --port {port}"))[0].close()
    from codesum_pipeline.ways_in.dagster_ui.starting import start_ui

    make_home(home.settings)
    start_ui(home, host=host, port=port, allowed=allow_host or (), part=only or "dev")


def worker(invocation: Invocation, processes: int | None = None) -> None:
    """Carry out runs that `codesum dev` hands over, on this machine or another.

    It needs engine.launcher = "celery", the Redis in CODESUM_BROKER_URL and the Postgres in CODESUM_POSTGRES_URL. On
    SIGTERM it finishes its current runs, and ends.
    """
    home = invocation.home
    if home.settings.engine.launcher != "celery":
        raise ConfigurationError(
            'a worker takes runs from Celery: set engine.launcher = "celery" and engine.storage = "postgres"'
        )
    from codesum_pipeline.ways_in.dagster_ui.starting import start_worker

    make_home(home.settings)
    start_worker(home, processes=processes or home.settings.engine.worker_processes)
