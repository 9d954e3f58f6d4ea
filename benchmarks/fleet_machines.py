"""The machines of a fleet that is measured: a daemon and workers, each with a copy of the home of its own."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import dagster as dg

from codesum_pipeline.builds.dagster.asset_steps import JOB
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG
from codesum_pipeline.foundation.store.object_storage.heads import read_head
from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES
from codesum_pipeline_tests.support.dagster_dev import wait_for
from codesum_pipeline_tests.support.fleet_workers import Fleet, Worker
from codesum_pipeline_tests.support.services import Bucket

DAEMON = "daemon"
START_S = 240.0


@dataclass
class Machines:
    """`restarts` counts the processes that ended by themselves and were started again, as Compose and systemd do."""

    fleet: Fleet
    bucket: Bucket
    workers: int
    running: dict[str, Worker] = field(default_factory=dict)
    restarts: int = 0

    @property
    def names(self) -> list[str]:
        """Of the workers."""
        return [f"worker{number}" for number in range(self.workers)]

    def start(self) -> None:
        """The daemon and all workers."""
        for name in self.names:
            self.start_worker(name)
        self.running[DAEMON] = self.fleet.start(DAEMON, "dev", "--only", "daemon")

    def start_worker(self, name: str, *, log: str | None = None, extra: Mapping[str, str] | None = None) -> Worker:
        """One worker, on its machine."""
        environment = {"XDG_CACHE_HOME": str(self.fleet.folder / name), **(extra or {})}
        self.running[name] = self.fleet.start(log or name, "worker", extra=environment)
        return self.running[name]

    def kill(self) -> None:
        """The daemon and all workers at once, with SIGKILL."""
        for each in self.running.values():
            each.kill()

    def revive(self) -> None:
        """Start again what has ended."""
        ended = [name for name, each in self.running.items() if each.process.poll() is not None]
        self.restarts += len(ended)
        for name in ended:
            if name == DAEMON:
                self.running[DAEMON] = self.fleet.start(DAEMON, "dev", "--only", "daemon")
            else:
                self.start_worker(name)

    def new_runs(self, before: set[str]) -> list[dg.DagsterRun]:
        """The builds that there were not before, newest first."""
        return [run for run in self.fleet.runs() if run.run_id not in before and run.job_name == JOB]

    def run_under_way(self, before: set[str]) -> dg.DagsterRun:
        """Wait for a new build that has begun."""

        def begun() -> dg.DagsterRun | None:
            return next((run for run in self.new_runs(before) if run.status is dg.DagsterRunStatus.STARTED), None)

        return wait_for(begun, timeout_s=START_S, what=f"a run; {self.fleet.summary()}")

    def published_commit(self, key: str) -> str | None:
        """The commit that the bucket has an index of."""
        assert self.fleet.layout.bucket
        found = read_head(OPENED_HOMES.objects(self.fleet.layout.bucket), key)
        return found.head.published.commit if found and found.head.published else None

    def wait_until_current(self, heads: Mapping[str, str], *, timeout_s: float) -> list[str]:
        """Until the index of each of these commits is published; the repositories that are still behind after that."""
        deadline = time.monotonic() + timeout_s
        behind: Sequence[str] = list(heads)
        while behind and time.monotonic() < deadline:
            self.revive()
            time.sleep(1.0)
            behind = [key for key in behind if self.published_commit(key) != heads[key]]
        return list(behind)


def partition_of(run: dg.DagsterRun) -> str:
    """The repository that a run builds."""
    return run.tags.get(PARTITION_TAG, "")
