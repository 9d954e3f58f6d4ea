"""What a fleet does when a machine, a shared part, a person or everything at once ends a run."""

import os
import resource
import signal
import time
from pathlib import Path
from threading import Timer

import dagster as dg
import psutil
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import FINGERPRINT_TAG
from codesum_pipeline.builds.dagster.celery_runs import CeleryRuns, errors_of_broker
from codesum_pipeline.builds.dagster.control import workers_without_runs
from codesum_pipeline.builds.dagster.machine_watch import fault_of_machine, paused_workers
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG, add_partitions, holder_of
from codesum_pipeline.builds.dagster.run_tags import FAULT_TAG, fault_of, note_fault, with_fault
from codesum_pipeline.builds.reports.faults import DATABASE
from codesum_pipeline.foundation.data_model.errors import BrokerUnavailable
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.builds.fleet.starting import launched, new_run
from codesum_pipeline_tests.support.dagster_dev import wait_for
from codesum_pipeline_tests.support.fleet_workers import Fleet, Worker
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.services import Bucket, Redis
from codesum_pipeline_tests.support.shop_home import FILES
from codesum_pipeline_tests.support.small_disk import files_of_at_most

pytestmark = pytest.mark.distributed
UNLIMITED = resource.RLIM_INFINITY


def registered(fleet: Fleet, folder: Path, *keys: str) -> None:
    for key in keys:
        path = GitRepo.create(folder / key, FILES).path
        Home(fleet.settings).registry.add(RepositoryEntry(key, str(path)))
    fleet.make_quick()
    with fleet.instance() as instance:
        add_partitions(instance, keys)


def limit_files(worker: Worker, most: int) -> None:
    """No file of the worker and its processes grows over so many bytes, as on a full disk."""
    for pid in worker.pids():
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, UNLIMITED))


def runs_of(fleet: Fleet, key: str) -> list[dg.DagsterRun]:
    return [run for run in fleet.runs() if run.tags.get(PARTITION_TAG) == key]


def ready(worker: Worker) -> None:
    wait_for(lambda: "transport:" in worker.log.read_text(), timeout_s=120, what="the worker to begin")


@pytest.mark.timeout(600)
def test_a_worker_whose_disk_is_full_takes_no_runs_says_so_and_comes_back_by_itself(
    fleet: Fleet, tmp_path: Path
) -> None:
    registered(fleet, tmp_path, "shop")
    # A compiled module that the limit cuts short would be kept, and could not be loaded any more.
    one = fleet.start("one", "worker", extra={"PYTHONDONTWRITEBYTECODE": "1"})
    ready(one)
    limit_files(one, 30_000)
    with fleet.instance() as instance:
        launcher = instance.run_launcher
        assert isinstance(launcher, CeleryRuns)
        first = launched(instance, new_run(instance, "shop"))
        fleet.wait_for_end_of(first, timeout_s=120)
        wait_for(
            lambda: paused_workers(launcher.celery), timeout_s=20, what=f"a worker without runs; {fleet.summary()}"
        )
        told = workers_without_runs(Home(fleet.settings))
        second = launched(instance, new_run(instance, "shop"))
        time.sleep(10)
        waits = instance.get_run_by_id(second.run_id)
        limit_files(one, UNLIMITED)
        fleet.wait_for_end_of(second, timeout_s=120)
        assert paused_workers(launcher.celery) == []

    by_id = {run.run_id: run for run in fleet.runs()}
    assert by_id[first.run_id].tags[FAULT_TAG] == "machine: disk"
    assert "takes no runs since" in str(told[0])
    assert waits and waits.status is dg.DagsterRunStatus.STARTING
    events = fleet.events(second.run_id, dg.DagsterEventType.STEP_FAILURE)
    failures = [each.dagster_event.step_failure_data.error.to_string() for each in events]
    assert by_id[second.run_id].status is dg.DagsterRunStatus.SUCCESS, (failures, by_id[second.run_id].tags)
    assert "takes runs again: its machine is well" in one.log.read_text()


@pytest.mark.timeout(600)
def test_after_a_kill_of_everything_one_run_does_the_work(fleet: Fleet, tmp_path: Path) -> None:
    registered(fleet, tmp_path, "shop")
    daemon = fleet.start("daemon", "dev", "--only", "daemon")
    one = fleet.start("one", "worker")
    lost = fleet.wait_for_run_of(one, timeout_s=240)
    for each in (one, daemon):
        each.kill()
    fleet.redis.kill()
    fleet.postgres.kill()
    fleet.postgres.start()
    fleet.redis.start()
    fleet.start("daemon again", "dev", "--only", "daemon")
    fleet.start("two", "worker")
    fleet.wait_until_built(["shop"], timeout_s=240)
    # As long as it took to ask for the one run, and longer.
    time.sleep(15)

    ends = [(run.run_id == lost.run_id, run.status.value) for run in runs_of(fleet, "shop")]
    assert ends == [(False, "SUCCESS"), (True, "FAILURE")]


@pytest.mark.timeout(600)
def test_what_a_person_cancels_is_held_until_a_person_asks_for_it_through_the_queue(
    fleet: Fleet, tmp_path: Path
) -> None:
    registered(fleet, tmp_path, "shop")
    fleet.start("daemon", "dev", "--only", "daemon")
    one = fleet.start("one", "worker")
    run = fleet.wait_for_run_of(one, timeout_s=240)
    with fleet.instance() as instance:
        assert instance.run_coordinator.cancel_run(run.run_id)
    fleet.wait_for_end_of(run, timeout_s=120)
    # Three ticks of the sensor.
    time.sleep(16)
    held = [each.status.value for each in runs_of(fleet, "shop")]
    fleet.call("retry", "shop")
    fleet.wait_until_built(["shop"], timeout_s=240)

    assert held == ["CANCELED"]
    assert [each.status.value for each in runs_of(fleet, "shop")] == ["SUCCESS", "CANCELED"]


@pytest.mark.timeout(600)
def test_a_run_that_is_killed_as_for_want_of_memory_is_no_attempt_and_its_worker_tries_its_machine(
    fleet: Fleet, tmp_path: Path
) -> None:
    registered(fleet, tmp_path, "shop")
    one = fleet.start("one", "worker")
    ready(one)
    fleet.start("daemon", "dev", "--only", "daemon")
    lost = fleet.wait_for_run_of(one, timeout_s=240)
    held = holder_of(lost)
    assert held
    os.kill(held.pid, signal.SIGKILL)
    fleet.wait_for_end_of(lost, timeout_s=120)
    with fleet.instance() as instance:
        launcher = instance.run_launcher
        assert isinstance(launcher, CeleryRuns)
        told = wait_for(lambda: paused_workers(launcher.celery), timeout_s=20, what="a worker without runs")
    fleet.wait_until_built(["shop"], timeout_s=240)

    assert [run.tags.get(FAULT_TAG) for run in runs_of(fleet, "shop")][-1] == (
        "machine: its process was killed, as for want of memory"
    )
    assert "its process was killed" in told[0].why


@pytest.mark.timeout(600)
def test_a_run_that_ended_while_the_database_was_away_is_no_attempt(fleet: Fleet, tmp_path: Path) -> None:
    registered(fleet, tmp_path, "shop")
    one = fleet.start("one", "worker")
    ready(one)
    home = Home(fleet.settings)
    wanted = home.fingerprint(
        home.registry.get("shop"), commit=GitRepo(tmp_path / "shop").git("rev-parse", "HEAD").strip()
    )
    with fleet.instance() as instance:
        run = launched(instance, new_run(instance, "shop", **{FINGERPRINT_TAG: wanted}))
    held = holder_of(fleet.wait_for_run_of(one, timeout_s=240))
    assert held
    fleet.postgres.kill()
    # It waits for the database, for some time, and ends then.
    wait_for(lambda: not psutil.pid_exists(held.pid), timeout_s=240, what="the end of the run's process")
    fleet.postgres.start()
    fleet.start("daemon", "dev", "--only", "daemon")
    fleet.wait_until_built(["shop"], timeout_s=240)

    by_id = {each.run_id: each for each in fleet.runs()}
    assert by_id[run.run_id].status is dg.DagsterRunStatus.FAILURE
    assert by_id[run.run_id].tags[FAULT_TAG] == "shared part: database"


def test_a_fault_is_noted_once_a_database_that_restarts_is_back(fleet: Fleet) -> None:
    fleet.make_quick()
    with fleet.instance() as instance:
        run = new_run(instance, "shop")
        fleet.postgres.kill()
        back = Timer(5, fleet.postgres.start)
        back.start()
        note_fault(instance, run.run_id, DATABASE)
        back.join()
        tagged = instance.get_run_by_id(run.run_id)

    assert tagged and tagged.tags[FAULT_TAG] == "shared part: database"


def test_a_run_that_begins_while_the_bucket_is_away_is_no_attempt(
    bucket_fleet: Fleet, bucket: Bucket, tmp_path: Path
) -> None:
    fleet = bucket_fleet
    registered(fleet, tmp_path, "shop")
    ready(fleet.start("one", "worker", extra={"XDG_CACHE_HOME": str(tmp_path / "one")}))
    with fleet.instance() as instance:
        run = new_run(instance, "shop")
        bucket.is_away = True
        launched(instance, run)

        def ended() -> dg.DagsterRun | None:
            found = instance.get_run_by_id(run.run_id)
            return found if found and found.is_finished else None

        fault = fault_of(with_fault(instance, wait_for(ended, timeout_s=120, what="the end of the run")))

    assert str(fault) == "shared part: bucket"


def test_a_queue_that_is_away_is_no_fault_of_a_repository(fleet: Fleet, redis: Redis, tmp_path: Path) -> None:
    registered(fleet, tmp_path, "shop")
    redis.kill()
    with fleet.instance() as instance:
        run = new_run(instance, "shop")
        with pytest.raises((OSError, RuntimeError, *errors_of_broker(instance.run_launcher.celery))):
            launched(instance, run)
        tagged = instance.get_run_by_id(run.run_id)
        with pytest.raises(BrokerUnavailable, match="cannot be reached"):
            workers_without_runs(Home(fleet.settings))

    assert tagged and tagged.tags[FAULT_TAG] == "shared part: queue"


def test_a_machine_is_tried_by_what_a_build_needs(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home")
    home.layout.home.mkdir()
    well = fault_of_machine([home.layout.home])
    with files_of_at_most(1 << 20):
        full = fault_of_machine([home.layout.home])
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, before[1]))
    try:
        without_files = fault_of_machine([])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

    assert well == ""
    assert full == f"disk: {home.layout.home} cannot be written: File too large"
    assert without_files.startswith("descriptors: ")
    assert fault_of_machine([tmp_path / "gone"]).startswith("disk: ")
