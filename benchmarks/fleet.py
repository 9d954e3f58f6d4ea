"""A fleet over one bucket: repositories built cold, looked at unchanged, built again after some changed, and faults.

    python -m benchmarks.fleet [CLONE ...] [--packages N] [--made 20] [--changed 5] [--workers 1 2] [--faults]
        [--look-s 60] [--out FILE] [--looks FILE]

Postgres, Redis and the bucket (moto) are started here; the daemon and each worker are processes with a copy of the home
of their own, as on machines of their own. Each `CLONE` is a git repository, which is copied; `--packages` makes one
repository of each of so many packages of this environment; with neither, `--made` small ones are made. Runs are
asked for by the sensor alone. `--faults` then measures pushes and what each fault does to `--changed` repositories.
Meanwhile an operator on a machine of its own asks `codesum status` and `codesum doctor` every `--look-s` seconds (20 at
most during a fault); `--looks` writes what it saw. Needs the packages of the group `distributed`.
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
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import psutil
from dagster._core.scheduler.instigation import TickStatus

from benchmarks.fleet_faults import FAULTS, measure_fault
from benchmarks.fleet_machines import Machines
from benchmarks.fleet_operator import Look, Operator, table_of_looks
from benchmarks.fleet_repositories import copy_clones, copy_packages, make_small_repositories
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.fleet_workers import Fleet, Worker
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.services import Bucket, Postgres, Redis, short_folder

# The sensor looks every five seconds here: after so long without a run it has looked, and wants nothing.
QUIET_S = 20.0
TIMEOUT_S = 7200.0
FAULT_LOOK_S = 20.0
PUSHES = 3
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


@contextmanager
def running_fleet(workers: int, folder: Path) -> Iterator[Machines]:
    """The servers, and a fleet whose processes are not started yet."""
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
        limits = {"CODESUM_ENGINE__MAX_CONCURRENT_RUNS": str(workers), "CODESUM_PLANNER__MAX_ATTEMPTS": "3"}
        fleet = Fleet(bucket.url, folder, postgres, redis, {**extra, **limits})
        until_end.callback(fleet.end)
        yield Machines(fleet, bucket, workers)


class Measuring:
    """The phases of one fleet; each is printed, and what the operator saw is added to a file."""

    def __init__(self, machines: Machines, repos: Sequence[GitRepo], arguments: argparse.Namespace) -> None:
        self._machines = machines
        self._repos = repos
        self._changed: int = arguments.changed
        self._look_s: float = arguments.look_s
        self._file: Path | None = arguments.looks
        self.found: list[dict[str, object]] = []

    def measure_builds(self) -> None:
        """Cold, unchanged and changed."""
        fleet = self._machines.fleet
        fleet.make_quick()
        registry = Home(fleet.settings).registry
        for repo in self._repos:
            registry.add(RepositoryEntry(repo.path.name, str(repo.path)))
        self._machines.start()
        self._measure_phase("cold", wanted=len(self._repos))
        self._measure_phase("unchanged", wanted=0)
        for repo in self._repos[: self._changed]:
            repo.commit({"added.py": 'def added(x):\n    """Add one."""\n    return x + 1\n'})
        self._measure_phase(f"{self._changed} changed", wanted=self._changed)

    def measure_pushes(self) -> None:
        """From a commit to a search on a machine that builds nothing, by a name that was not there before."""
        fleet = self._machines.fleet
        reader = replace(fleet, extra={**fleet.extra, "XDG_CACHE_HOME": str(fleet.folder / "reader")})
        for number, repo in enumerate(self._repos[:PUSHES]):
            key, name = repo.path.name, f"refund_order_{number}"
            reader.call("search", "orders", "--repo", key)
            began = time.monotonic()
            head = repo.commit({f"{name}.py": f'def {name}(x):\n    """Give the money back."""\n    return -x\n'})
            if self._machines.wait_until_current({key: head}, timeout_s=TIMEOUT_S):
                raise SystemExit(f"{key}: a push was not built in {TIMEOUT_S:.0f} s")
            published_s = time.monotonic() - began
            while name not in reader.call("search", name, "--repo", key):
                pass
            found_s = time.monotonic() - began
            self._keep({"phase": "push", "published_s": round(published_s, 1), "found_s": round(found_s, 1)})

    def measure_faults(self) -> None:
        """One after the other, each with repositories of its own as far as there are enough."""
        for number, fault in enumerate(FAULTS):
            places = range(number * self._changed, (number + 1) * self._changed)
            repos = [self._repos[place % len(self._repos)] for place in places]
            result, looks = measure_fault(self._machines, fault, repos, every_s=min(self._look_s, FAULT_LOOK_S))
            self._keep(asdict(result), looks)

    def _measure_phase(self, name: str, *, wanted: int) -> None:
        """Until so many more runs succeeded, and then until none is asked for any more; that wait is not counted."""
        machines = self._machines
        fleet, workers = machines.fleet, [machines.running[each] for each in machines.names]
        before = {run.run_id for run in fleet.runs()}
        requests_before = dict(machines.bucket.requests)
        began = time.time()
        with Operator(fleet, self._look_s).watching() as operator, Memory(workers).watched() as memory:
            wall_s = _wait_for_runs(machines, before, wanted)
            requests = {name: count - requests_before.get(name, 0) for name, count in machines.bucket.requests.items()}
            time.sleep(QUIET_S)
        new = machines.new_runs(before)
        phase = Phase(
            workers=len(workers),
            phase=name,
            repositories=len(self._repos),
            wall_s=round(wall_s, 1),
            runs_started=len(new),
            runs_failed=sum(run.status.value == "FAILURE" for run in new),
            longest_look_s=round(_longest_look(fleet, began), 2),
            worker_memory_mb=memory.most // 2**20,
            requests=requests,
        )
        self._keep(asdict(phase), operator.looks)

    def _keep(self, found: dict[str, object], looks: Sequence[Look] = ()) -> None:
        self.found.append({**found, "looks": [asdict(look) for look in looks]} if looks else found)
        print(json.dumps(found), flush=True)
        if looks and self._file:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(f"### {found.get('fault') or found['phase']}\n\n{table_of_looks(looks)}\n")


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


def _wait_for_runs(machines: Machines, before: set[str], wanted: int) -> float:
    began = time.monotonic()
    while time.monotonic() - began < TIMEOUT_S:
        if sum(run.status.value == "SUCCESS" for run in machines.new_runs(before)) >= wanted:
            return time.monotonic() - began
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
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--look-s", type=float, default=60.0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--looks", type=Path)
    arguments = parser.parse_args()
    found: list[dict[str, object]] = []
    for workers in arguments.workers:
        with tempfile.TemporaryDirectory() as folder:
            repos = make_repositories(arguments, Path(folder))
            place = Path(folder) / "fleet"
            place.mkdir()
            with running_fleet(workers, place) as machines:
                measuring = Measuring(machines, repos, arguments)
                measuring.measure_builds()
                if arguments.faults:
                    measuring.measure_pushes()
                    measuring.measure_faults()
            found += measuring.found
    if arguments.out:
        machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "load_before": os.getloadavg()[2]}
        arguments.out.write_text(json.dumps({"machine": machine, "phases": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
