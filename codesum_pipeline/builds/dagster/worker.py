"""The process of `codesum worker`: takes runs from the queue of the instance in $DAGSTER_HOME."""

import argparse
import socket
import tempfile
import uuid
from pathlib import Path

import dagster as dg
from dagster_celery.tasks import create_execute_job_task

from codesum_pipeline.builds.codesum_home.home_folders import layout_of, layout_of_builds
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.builds.dagster.celery_runs import CeleryRuns
from codesum_pipeline.builds.dagster.machine_watch import MachineWatch, fault_of_machine
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
        # Containers may share names of hosts and numbers of processes; of two workers with one name, one answer to the
        # question who carries out what would be lost.
        name = f"codesum-{uuid.uuid4().hex[:12]}@{socket.gethostname()}"
        folders = _folders()
        MachineWatch(
            launcher.celery, name=name, queue=launcher.default_queue, look=lambda: fault_of_machine(folders)
        ).start()
        launcher.celery.worker_main(
            [
                "worker",
                f"--concurrency={processes}",
                f"--hostname={name}",
                f"--queues={launcher.default_queue}",
                "--pool=prefork",
                "--without-gossip",
                "--without-mingle",
                "--loglevel=WARNING",
            ]
        )


def _folders() -> list[Path]:
    """Where builds write on this machine: the home or its copy, and the folder for temporary files."""
    home = layout_of_builds(layout_of(load_settings({}))).home
    home.mkdir(parents=True, exist_ok=True)
    return [home, Path(tempfile.gettempdir())]


if __name__ == "__main__":
    main()
