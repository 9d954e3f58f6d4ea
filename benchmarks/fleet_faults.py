"""What each fault costs a standing fleet in which a few repositories have just changed."""

import resource
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import dagster as dg

from benchmarks.fleet_machines import Machines, partition_of
from benchmarks.fleet_operator import Look, Operator
from codesum_pipeline_tests.support.commands import COMMAND
from codesum_pipeline_tests.support.dagster_dev import wait_for
from codesum_pipeline_tests.support.fleet_workers import Worker
from codesum_pipeline_tests.support.repositories import GitRepo

# An operator who waited for so long after a fault does something. A cancelled run is not waited for so long.
GIVE_UP_S = 240.0
HELD_S = 120.0
# Tables of the smallest repository are larger.
FULL_DISK_BYTES = 30_000
UNLIMITED = resource.RLIM_INFINITY


@dataclass(frozen=True)
class Fault:
    """What fails, and for how long. It begins before the repositories change, or while one of them is built; what has
    to be ended comes back from `begin`."""

    name: str
    lasts_s: float
    begin: Callable[[Machines, dg.DagsterRun | None], Callable[[], None]]
    is_first: bool = False
    give_up_s: float = GIVE_UP_S


@dataclass(frozen=True)
class FaultResult:
    """What one fault did. `attempts` are the failed runs that count as attempts to build a repository, `people` the
    repositories that were not built before somebody did something; `after_s` runs from the end of the fault."""

    fault: str
    lasted_s: float
    changed: int
    runs: dict[str, int]
    attempts: int
    people: list[str]
    after_s: float | None
    restarts: int
    faults: dict[str, int]


def measure_fault(
    machines: Machines, fault: Fault, repos: Sequence[GitRepo], *, every_s: float
) -> tuple[FaultResult, list[Look]]:
    """The fault, until the index of each of these repositories is the newest, by a person's help if need be."""
    before = {run.run_id for run in machines.fleet.runs()}
    machines.restarts = 0
    with Operator(machines.fleet, every_s).watching() as operator:
        end = fault.begin(machines, None) if fault.is_first else None
        heads = {repo.path.name: _change(repo, fault.name) for repo in repos}
        if end is None:
            end = fault.begin(machines, machines.run_under_way(before))
        began = time.monotonic()
        time.sleep(fault.lasts_s)
        end()
        ended = time.monotonic()
        behind = machines.wait_until_current(heads, timeout_s=fault.give_up_s)
        after_s = None if behind else round(time.monotonic() - ended, 1)
        for key in behind:
            _help(machines, key)
        lost = machines.wait_until_current({key: heads[key] for key in behind}, timeout_s=GIVE_UP_S)
    if lost:
        raise SystemExit(f"{fault.name}: {lost} are not built, whatever is done\n{machines.fleet.summary()}")
    wait_for(lambda: _is_idle(machines), timeout_s=GIVE_UP_S, what="all runs to end")
    runs = machines.new_runs(before)
    failed = [run for run in runs if run.status is dg.DagsterRunStatus.FAILURE]
    result = FaultResult(
        fault=fault.name,
        lasted_s=round(ended - began, 1),
        changed=len(repos),
        runs=dict(Counter(run.status.value for run in runs)),
        attempts=sum(map(_is_attempt, failed)),
        people=behind,
        after_s=after_s,
        restarts=machines.restarts,
        faults=dict(Counter(run.tags.get("codesum/fault", "none was noted") for run in failed)),
    )
    return result, operator.looks


def _change(repo: GitRepo, name: str) -> str:
    word = "".join(letter if letter.isalnum() else "_" for letter in name.lower())
    source = f'def after_{word}(x):\n    """Add one, after {name}."""\n    total = x + 1\n    return total\n'
    return repo.commit({"after.py": source})


def _is_idle(machines: Machines) -> bool:
    machines.revive()
    return all(run.is_finished for run in machines.fleet.runs())


def _is_attempt(run: dg.DagsterRun) -> bool:
    try:
        from codesum_pipeline.builds.dagster.run_tags import fault_of
    except ImportError:
        # Earlier versions count each failed run.
        return True
    found = fault_of(run)
    return found is not None and found.is_attempt


def _help(machines: Machines, key: str) -> None:
    """What a person does: put it into the queue again or, where there is no such command, build it."""
    fleet = machines.fleet
    for command in ("retry", "index"):
        done = subprocess.run([*COMMAND, command, key], cwd=fleet.folder, env=fleet.environment, capture_output=True)
        if done.returncode == 0:
            return


def _limit_files(worker: Worker, most: int) -> None:
    for pid in worker.pids():
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, UNLIMITED))


def fill_disk(machines: Machines, _: dg.DagsterRun | None) -> Callable[[], None]:
    """Of one worker, which writes a log of its own, so that this one may still grow."""
    name = machines.names[0]
    machines.running[name].kill()
    # A compiled module that the limit cuts short would be kept, and could not be loaded any more.
    worker = machines.start_worker(name, log="full", extra={"PYTHONDONTWRITEBYTECODE": "1"})
    began = worker.log.stat().st_size
    wait_for(lambda: "transport:" in worker.log.read_text()[began:], timeout_s=120, what="the worker to begin")
    _limit_files(worker, FULL_DISK_BYTES)
    return lambda: _limit_files(worker, UNLIMITED)


def leave_bucket(machines: Machines, _: dg.DagsterRun | None) -> Callable[[], None]:
    """Each request is answered with 503."""
    machines.bucket.is_away = True
    return lambda: setattr(machines.bucket, "is_away", False)


def stop_postgres(machines: Machines, _: dg.DagsterRun | None) -> Callable[[], None]:
    """As a power failure does it."""
    machines.fleet.postgres.kill()
    return machines.fleet.postgres.start


def stop_redis(machines: Machines, _: dg.DagsterRun | None) -> Callable[[], None]:
    """With SIGKILL; what it had is in its log."""
    machines.fleet.redis.kill()
    return machines.fleet.redis.start


def kill_all(machines: Machines, _: dg.DagsterRun | None) -> Callable[[], None]:
    """The daemon and all workers with SIGKILL; all are started again."""
    machines.kill()
    return machines.revive


def cancel(machines: Machines, run: dg.DagsterRun | None) -> Callable[[], None]:
    """The run that is under way, as by the button of Dagster's UI."""
    assert run
    with machines.fleet.instance() as instance:
        instance.run_coordinator.cancel_run(run.run_id)
    print(f"cancelled: the run of {partition_of(run)}", flush=True)
    return lambda: None


FAULTS = (
    Fault("a worker's disk is full", 60.0, fill_disk, is_first=True),
    Fault("the bucket is away", 120.0, leave_bucket),
    Fault("Postgres is away", 60.0, stop_postgres),
    Fault("Redis is away", 60.0, stop_redis),
    Fault("daemon and workers are killed", 10.0, kill_all),
    Fault("a person cancels a run", 0.0, cancel, give_up_s=HELD_S),
)
