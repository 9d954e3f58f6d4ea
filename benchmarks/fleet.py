"""A fleet over one bucket: repositories built cold, looked at unchanged, and built again after some changed.

    python -m benchmarks.fleet [CLONE ...] [--packages N] [--made 20] [--changed 5] [--workers 1 2] [--out FILE]

Postgres, Redis and the bucket (moto) are started here; the daemon and each worker are processes with a copy of the home
of their own, as on machines of their own. Each `CLONE` is a git repository, which is copied; `--packages` makes one
repository of each of so many packages of this environment; with neither, `--made` small ones are made. Runs are
asked for by the sensor alone. Needs the packages of the group `distributed`.
"""

import argparse
import json
import os
import platform
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from dagster._core.scheduler.instigation import TickStatus
from msgspec import to_builtins

from benchmarks.fleet_repositories import copy_clones, copy_packages, make_small_repositories
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import JOB
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.fleet_workers import Fleet, Worker
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.services import Bucket, Postgres, Redis, short_folder

# The sensor looks every five seconds here: after so long without a run it has looked, and wants nothing.
QUIET_S = 20.0
TIMEOUT_S = 3600.0
SENSOR = "repository_changes"


@dataclass(frozen=True)
class Phase:
    """What one phase took. Runs are builds, and not those of upkeep. A look is one tick of the sensor; memory is
    the most that one worker's processes held at once, in MB."""

    workers: int
    phase: str
    repositories: int
    wall_s: float
    runs_started: int
    runs_failed: int
    longest_look_s: float
    worker_memory_mb: int
    requests: dict[str, int]


@dataclass
class Memory:
    """The most that one of several workers held, while the block runs."""

    workers: Sequence[Worker]
    most: int = 0
    ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def watched(self) -> Iterator["Memory"]:
        """Look once a second: a look at processes costs a hundredth of one."""
        thread = threading.Thread(target=self._watch)
        thread.start()
        try:
            yield self
        finally:
            self.ended.set()
            thread.join()

    def _watch(self) -> None:
        while not self.ended.wait(1.0):
            self.most = max(self.most, *(_resident_bytes(worker) for worker in self.workers))


def _resident_bytes(worker: Worker) -> int:
    held = 0
    for pid in worker.pids():
        with suppress(psutil.NoSuchProcess):
            held += psutil.Process(pid).memory_info().rss
    return held


def make_repositories(arguments: argparse.Namespace, folder: Path) -> list[GitRepo]:
    """What the command line asks for."""
    if arguments.packages:
        return copy_packages(arguments.packages, folder)
    return (
        copy_clones(arguments.clones, folder) if arguments.clones else make_small_repositories(arguments.made, folder)
    )


def measure(repos: Sequence[GitRepo], *, workers: int, changed: int, folder: Path) -> list[Phase]:
    """The three phases on a new fleet."""
    with ExitStack() as until_end:
        postgres = Postgres(until_end.enter_context(short_folder()))
        postgres.start()
        until_end.callback(postgres.kill)
        redis = Redis(folder)
        redis.start()
        until_end.callback(redis.kill)
        bucket = until_end.enter_context(Bucket().serving())
        extra = {**bucket.environment, "XDG_CACHE_HOME": str(folder / "daemon")}
        os.environ.update(extra)
        limit = {"CODESUM_ENGINE__MAX_CONCURRENT_RUNS": str(workers)}
        fleet = Fleet(bucket.url, folder, postgres, redis, {**extra, **limit})
        until_end.callback(fleet.end)
        return _measure_phases(fleet, bucket, repos, workers=workers, changed=changed)


def _measure_phases(
    fleet: Fleet, bucket: Bucket, repos: Sequence[GitRepo], *, workers: int, changed: int
) -> list[Phase]:
    fleet.make_quick()
    registry = Home(fleet.settings).registry
    for repo in repos:
        registry.add(RepositoryEntry(repo.path.name, str(repo.path)))
    started = [
        fleet.start(f"worker{n}", "worker", extra={"XDG_CACHE_HOME": str(fleet.folder / f"worker{n}")})
        for n in range(workers)
    ]
    fleet.start("daemon", "dev", "--only", "daemon")
    keys = [repo.path.name for repo in repos]
    phases = [_measure_phase("cold", fleet, bucket, started, keys, wanted=len(keys))]
    phases.append(_measure_phase("unchanged", fleet, bucket, started, keys, wanted=0))
    for repo in repos[:changed]:
        repo.commit({"added.py": 'def added(x):\n    """Add one."""\n    return x + 1\n'})
    phases.append(_measure_phase(f"{changed} changed", fleet, bucket, started, keys, wanted=changed))
    return phases


def _measure_phase(
    name: str, fleet: Fleet, bucket: Bucket, workers: Sequence[Worker], keys: Sequence[str], *, wanted: int
) -> Phase:
    """Until so many more runs succeeded, and then until none is asked for any more; that wait is not counted."""
    before = {run.run_id for run in fleet.runs()}
    requests_before = dict(bucket.requests)
    start, began = time.monotonic(), time.time()
    with Memory(workers).watched() as memory:
        wall_s = _wait_for_runs(fleet, before, wanted, start)
        time.sleep(QUIET_S)
    new = [run for run in fleet.runs() if run.run_id not in before and run.job_name == JOB]
    return Phase(
        workers=len(workers),
        phase=name,
        repositories=len(keys),
        wall_s=round(wall_s, 1),
        runs_started=len(new),
        runs_failed=sum(run.status.value == "FAILURE" for run in new),
        longest_look_s=round(_longest_look(fleet, began), 2),
        worker_memory_mb=memory.most // 2**20,
        requests={method: count - requests_before.get(method, 0) for method, count in bucket.requests.items()},
    )


def _longest_look(fleet: Fleet, began: float) -> float:
    with fleet.instance() as instance:
        sensors = [each for each in instance.all_instigator_state() if each.instigator_name == SENSOR]
        ticks = [
            tick
            for each in sensors
            for tick in instance.get_ticks(each.instigator_origin_id, each.selector_id, after=began)
            if tick.status in (TickStatus.SUCCESS, TickStatus.SKIPPED) and tick.end_timestamp
        ]
    return max((tick.end_timestamp - tick.timestamp for tick in ticks if tick.end_timestamp), default=0.0)


def _wait_for_runs(fleet: Fleet, before: set[str], wanted: int, start: float) -> float:
    while time.monotonic() - start < TIMEOUT_S:
        new = [run for run in fleet.runs() if run.run_id not in before]
        if sum(run.status.value == "SUCCESS" for run in new) >= wanted:
            return time.monotonic() - start
        time.sleep(2.0)
    raise SystemExit(f"waited {TIMEOUT_S:.0f} s for {wanted} runs")


def main() -> None:
    """Measure each number of workers on a new fleet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", nargs="*", type=Path, metavar="CLONE")
    parser.add_argument("--packages", type=int, default=0)
    parser.add_argument("--made", type=int, default=20)
    parser.add_argument("--changed", type=int, default=5)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    found: list[dict[str, object]] = []
    for workers in arguments.workers:
        with tempfile.TemporaryDirectory() as folder:
            repos = make_repositories(arguments, Path(folder))
            place = Path(folder) / "fleet"
            place.mkdir()
            for phase in measure(repos, workers=workers, changed=arguments.changed, folder=place):
                found.append(to_builtins(phase))
                print(json.dumps(found[-1]), flush=True)
    if arguments.out:
        machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "load_before": os.getloadavg()[2]}
        arguments.out.write_text(json.dumps({"machine": machine, "phases": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
