"""The process of `codesum worker`: takes runs from the queue of the instance in $DAGSTER_HOME."""

import argparse
import socket
import uuid

import dagster as dg
from dagster_celery.tasks import create_execute_job_task

from codesum_pipeline.builds.dagster.celery_runs import CeleryRuns
from codesum_pipeline.foundation.data_model.errors import ConfigurationError

MODULE = "codesum_pipeline.builds.dagster.worker"


def main() -> None:
    """Carry out runs until SIGTERM; those under way are finished first."""
    parser = argparse.ArgumentParser(prog=MODULE)
    parser.add_argument("--processes", type=int, required=True)
    processes = parser.parse_args().processes
    with dg.DagsterInstance.get() as instance:
        launcher = instance.run_launcher
        if not isinstance(launcher, CeleryRuns):
            raise ConfigurationError("a worker needs engine.launcher = celery")
        create_execute_job_task(launcher.celery)
        launcher.celery.worker_main(
            [
                "worker",
                f"--concurrency={processes}",
                # Containers may share names of hosts and numbers of processes; of two workers with one name, one
                # answer to the question who carries out what would be lost.
                f"--hostname=codesum-{uuid.uuid4().hex[:12]}@{socket.gethostname()}",
                f"--queues={launcher.default_queue}",
                "--pool=prefork",
                "--without-gossip",
                "--without-mingle",
                "--loglevel=WARNING",
            ]
        )


if __name__ == "__main__":
    main()
