"""The process of `codesum worker`: takes runs from the queue of the instance in $DAGSTER_HOME."""

import argparse
import socket
import tempfile
import uuid
from pathlib import Path

import dagster as dg
from dagster_celery.tasks import create_execute_job_task

from codesum_pipeline.builds.dagster.celery_runs import CeleryRuns
from codesum_pipeline.builds.dagster.machine_watch import MachineWatch, fault_of_machine
from codesum_pipeline.foundation.data_model.errors import ConfigurationError

MODULE = "codesum_pipeline.builds.dagster.worker"


def main() -> None:
    """Carry out runs until SIGTERM; those under way are finished first."""
    parser = argparse.ArgumentParser(prog=MODULE)
    parser.add_argument("--processes", type=int, required=True)
    # The home or its copy. It is given, since who reads the settings of a home in a bucket opens the bucket, whose
    # threads would be missing in the processes of runs: these are forks of this one.
    parser.add_argument("--builds-in", type=Path, required=True)
    arguments = parser.parse_args()
    # Where builds write on this machine.
    folders = [arguments.builds_in, Path(tempfile.gettempdir())]
    with dg.DagsterInstance.get() as instance:
        launcher = instance.run_launcher
        if not isinstance(launcher, CeleryRuns):
            raise ConfigurationError('a worker needs engine.launcher = "celery": set it')
        create_execute_job_task(launcher.celery)
        # Containers may share names of hosts and numbers of processes; of two workers with one name, one answer to the
        # question who carries out what would be lost.
        name = f"codesum-{uuid.uuid4().hex[:12]}@{socket.gethostname()}"
        MachineWatch(
            app=launcher.celery, name=name, queue=launcher.default_queue, look=lambda: fault_of_machine(folders)
        ).start()
        launcher.celery.worker_main(
            [
                "worker",
                f"--concurrency={arguments.processes}",
                f"--hostname={name}",
                f"--queues={launcher.default_queue}",
                "--pool=prefork",
                "--without-gossip",
                "--without-mingle",
                "--loglevel=WARNING",
            ]
        )


if __name__ == "__main__":
    main()
