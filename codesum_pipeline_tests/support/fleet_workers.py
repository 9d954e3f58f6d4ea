"""A home whose runs are carried out by workers: its daemon, its workers, and what becomes of its runs."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import psutil

from codesum_pipeline.builds.codesum_home.home_folders import layout_of
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.builds.dagster.instance_file import apply_engine
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG, holder_of
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline_tests.support.commands import COMMAND, environment
from codesum_pipeline_tests.support.dagster_dev import wait_for
from codesum_pipeline_tests.support.services import Postgres, Redis

# Everything that waits in production for minutes waits for seconds here.
QUICK = {
    "start_timeout_seconds: 180": "start_timeout_seconds: 60",
    "cancel_timeout_seconds: 180": "cancel_timeout_seconds: 20",
    "poll_interval_seconds: 30": "poll_interval_seconds: 3",
    "free_slots_after_run_end_seconds: 60": "free_slots_after_run_end_seconds: 5",
}
LOST_AFTER_S = 10
OVER = ("SUCCESS", "FAILURE", "CANCELED")


@dataclass
class Worker:
    """One `codesum worker` in a process group of its own."""

    process: "subprocess.Popen[bytes]"
    log: Path

    def pids(self) -> set[int]:
        """The worker's processes."""
        with suppress(psutil.NoSuchProcess):
            tree = psutil.Process(self.process.pid)
            return {tree.pid, *(child.pid for child in tree.children(recursive=True))}
        return set()

    def halt(self) -> None:
        """All of it stands still, as a machine does that lost its network for a while."""
        for pid in self.pids():
            os.kill(pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """It takes up what it was doing, and knows nothing of the time between."""
        for pid in self.pids():
            # A process that goes on may end another one at once.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def kill(self) -> None:
        """All of it at once, as the end of a machine does."""
        pids = self.pids()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


@dataclass
class Fleet:
    """A home, what serves it, and the processes that work for it."""

    home: str
    folder: Path
    postgres: Postgres
    redis: Redis
    extra: Mapping[str, str] = field(default_factory=dict)
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return environment(
            {
                "CODESUM_HOME": self.home,
                "CODESUM_ENGINE__LAUNCHER": "celery",
                "CODESUM_ENGINE__STORAGE": "postgres",
                "CODESUM_ENGINE__WORKER_LOST_AFTER_S": str(LOST_AFTER_S),
                "CODESUM_ENGINE__MAX_CONCURRENT_RUNS": "3",
                "CODESUM_PLANNER__SENSOR_INTERVAL_S": "5",
                "CODESUM_PLANNER__MAX_ATTEMPTS": "10",
                "CODESUM_POSTGRES_URL": self.postgres.url,
                "CODESUM_BROKER_URL": self.redis.url,
                **self.extra,
            }
        )

    @property
    def settings(self) -> Settings:
        return load_settings({}, environ=self.environment)

    @property
    def layout(self) -> HomeLayout:
        """The local folder of the home."""
        return layout_of(self.settings)

    def call(self, *arguments: str) -> str:
        """A command, to its end; its output."""
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self, name: str, *arguments: str, extra: Mapping[str, str] | None = None) -> Worker:
        """A command that goes on, with its output in a file."""
        log = self.folder / f"{name}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                [*COMMAND, *arguments],
                cwd=self.folder,
                env={**self.environment, **(extra or {})},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.processes.append(process)
        return Worker(process, log)

    def make_quick(self) -> None:
        """Write the home's `dagster.yaml`, with what waits for minutes waiting for seconds."""
        apply_engine(self.layout, self.settings.engine, self.environment)
        file = self.layout.dagster_home / "dagster.yaml"
        text = file.read_text()
        for slow, quick in QUICK.items():
            assert slow in text, slow
            text = text.replace(slow, quick)
        file.write_text(text)

    @contextmanager
    def instance(self) -> Iterator[dg.DagsterInstance]:
        """Dagster's records, as every process of the fleet sees them."""
        before = {name: os.environ.get(name) for name in ("CODESUM_POSTGRES_URL", "CODESUM_BROKER_URL")}
        os.environ.update({name: self.environment[name] for name in before})
        try:
            with open_instance(self.layout) as instance:
                yield instance
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)

    def runs(self) -> list[dg.DagsterRun]:
        """All runs, newest first."""
        with self.instance() as instance:
            return list(instance.get_runs())

    def wait_for_end_of(self, run: dg.DagsterRun, *, timeout_s: float) -> None:
        """Until Dagster believes that a run is over."""

        def over() -> bool:
            return any(each.run_id == run.run_id and each.status.value in OVER for each in self.runs())

        self._wait_for(over, timeout_s=timeout_s, what=f"the end of run {run.run_id}")

    def _wait_for(self, look: Callable[[], bool], *, timeout_s: float, what: str) -> None:
        try:
            wait_for(look, timeout_s=timeout_s, what=what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.summary()}") from None

    def wait_until_built(self, keys: Sequence[str], *, timeout_s: float, idle: bool = True) -> None:
        """Until the last run of each repository succeeded and, if so wanted, no run is under way."""

        def done() -> bool:
            last: dict[str, dg.DagsterRun] = {}
            runs = self.runs()
            for run in runs:
                last.setdefault(run.tags.get(PARTITION_TAG, ""), run)
            states = [last[key].status.value if key in last else "" for key in keys]
            return set(states) == {"SUCCESS"} and all(run.status.value in OVER for run in runs if idle)

        self._wait_for(done, timeout_s=timeout_s, what=f"{len(keys)} repositories to be built")

    def wait_for_run_of(self, worker: Worker, *, timeout_s: float) -> dg.DagsterRun:
        """A run that this worker has begun and not ended."""

        def under_way() -> dg.DagsterRun | None:
            pids = worker.pids()
            started = [run for run in self.runs() if run.status is dg.DagsterRunStatus.STARTED]
            return next((run for run in started if (held := holder_of(run)) and held.pid in pids), None)

        return wait_for(under_way, timeout_s=timeout_s, what=f"a run of this worker; {worker.log.read_text()[-2000:]}")

    def summary(self) -> str:
        """The runs and the ends of the logs, for a failure."""
        found = [f"{run.tags.get(PARTITION_TAG)} {run.status.value} {holder_of(run)}" for run in self.runs()]
        logs = [f"{log.name}:\n{log.read_text(errors='replace')[-3000:]}" for log in sorted(self.folder.glob("*.log"))]
        return "\n".join([*found, *logs])

    def events(self, run_id: str, kind: dg.DagsterEventType) -> list[Any]:
        """What was told of one run."""
        with self.instance() as instance:
            return list(instance.all_logs(run_id, of_type=kind))

    def end(self) -> None:
        """Nothing goes on."""
        for process in self.processes:
            Worker(process, self.folder).kill()
