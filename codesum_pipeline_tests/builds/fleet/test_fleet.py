"""Two workers and a daemon build twenty repositories while everything that they need fails once."""

import time
from pathlib import Path

import dagster as dg
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline.foundation.store.object_storage.heads import RepositoryHead, read_head
from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES
from codesum_pipeline_tests.support.comparing import first_difference, published_files, table_rows
from codesum_pipeline_tests.support.dagster_dev import wait_for
from codesum_pipeline_tests.support.fleet_workers import Fleet, Worker
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.services import Bucket
from codesum_pipeline_tests.support.shop_home import FILES

pytestmark = pytest.mark.distributed

KEYS = [f"shop{number:02}" for number in range(20)]


def make_repositories(folder: Path) -> dict[str, Path]:
    """Twenty repositories, no two alike."""
    made = {}
    for number, key in enumerate(KEYS):
        own = {f"shop/own{part}.py": _module(number, part) for part in range(8)}
        made[key] = GitRepo.create(folder / key, {**FILES, **own}).path
    return made


def _module(number: int, part: int) -> str:
    return f'def own{number}_{part}(x):\n    """Add {number}."""\n    total = x + {number}\n    return total\n'


@pytest.mark.timeout(900)
def test_nothing_is_lost_or_published_in_half_or_twice_whatever_fails(
    bucket_fleet: Fleet, bucket: Bucket, tmp_path: Path
) -> None:
    fleet = bucket_fleet
    repositories = make_repositories(tmp_path / "repositories")
    for key, path in repositories.items():
        Home(fleet.settings).registry.add(RepositoryEntry(key, str(path)))
    fleet.make_quick()
    fleet.start("daemon", "dev", "--only", "daemon")
    one = worker(fleet, "one")
    worker(fleet, "two")

    lost = held_run_of(fleet, one)
    one.kill()
    three = worker(fleet, "three")
    fleet.redis.kill()
    fleet.redis.start()
    # It stands still for longer than its lease lasts, another takes over, and it goes on in the belief to hold it.
    frozen = held_run_of(fleet, three)
    three.halt()
    worker(fleet, "four")
    fleet.wait_for_end_of(frozen, timeout_s=240)
    bucket.is_away = True
    time.sleep(8)
    bucket.is_away = False
    fleet.postgres.kill()
    fleet.postgres.start()
    fleet.wait_until_built([frozen.tags[PARTITION_TAG]], timeout_s=240, idle=False)
    built = head_of(fleet, frozen)
    three.go_on()
    wait_for(lambda: "LeaseLost" in three.log.read_text(), timeout_s=240, what=f"a refusal; {three.log.read_text()}")
    fleet.wait_until_built(KEYS, timeout_s=240)

    ended = {run.run_id: run.status.value for run in fleet.runs()}
    assert (ended[lost.run_id], ended[frozen.run_id]) == ("FAILURE", "FAILURE")
    assert head_of(fleet, frozen).state == built.state
    expected = open_home(tmp_path / "alone")
    found = Home(fleet.settings)
    for key, path in repositories.items():
        alone = workspace_of(expected, RepositoryEntry(key, str(path)))
        build(alone)
        with hold_repository(found.layout, key, run_id="look", wait_s=60):
            shared = found.workspace(key, run_id="look")
            assert first_difference(table_rows(shared), table_rows(alone)) is None
            assert first_difference(published_files(shared), published_files(alone)) is None


def worker(fleet: Fleet, name: str) -> Worker:
    """A worker on a machine of its own."""
    return fleet.start(name, "worker", extra={"XDG_CACHE_HOME": str(fleet.folder / name)})


def held_run_of(fleet: Fleet, worker: Worker) -> dg.DagsterRun:
    """A run of this worker that has the lease of its repository."""

    def holding() -> dg.DagsterRun | None:
        run = fleet.wait_for_run_of(worker, timeout_s=120)
        holder = head_of(fleet, run).holder
        return run if holder and holder.run_id == run.run_id else None

    return wait_for(holding, timeout_s=240, what="a run that holds its repository")


def head_of(fleet: Fleet, run: dg.DagsterRun) -> RepositoryHead:
    """What the bucket has of a run's repository."""
    place = fleet.layout.bucket
    assert place
    found = read_head(OPENED_HOMES.objects(place), run.tags[PARTITION_TAG])
    return found[0] if found else RepositoryHead()
