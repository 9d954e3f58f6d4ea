"""The state of every repository: planner, queue, polls and published versions together."""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dagster as dg
import pytest
from msgspec.structs import replace

from benchmarks.many_indexes import copy_index
from codesum_pipeline.answers.agent_tools.fleet_reading import read_fleet, remark_of, state_json
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import FINGERPRINT_TAG
from codesum_pipeline.builds.dagster.control import opened_instance
from codesum_pipeline.builds.dagster.resource import add_partitions, process_tags
from codesum_pipeline.builds.dagster.run_tags import note_fault
from codesum_pipeline.builds.dagster.ticks import take_tick
from codesum_pipeline.builds.reports.faults import BUCKET
from codesum_pipeline.builds.reports.planner_record import PlannedBuild, keep_planned, read_planned
from codesum_pipeline.builds.steps.fleet_states import RepositoryState, judge_fleet
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import this_process
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo

LOG = logging.getLogger("tick")
Status = dg.DagsterRunStatus


@pytest.fixture
def own_instance(home: Home) -> Iterator[dg.DagsterInstance]:
    """The instance of the home itself, which status reads."""
    with opened_instance(home) as instance:
        yield instance


@pytest.fixture
def copy_instance(copied_home: Home) -> Iterator[dg.DagsterInstance]:
    with opened_instance(copied_home) as instance:
        yield instance


def tick(home: Home, instance: dg.DagsterInstance) -> None:
    take_tick(home, instance, asker="test", last="", log=LOG)


def run_of(home: Home, instance: dg.DagsterInstance, key: str, status: Status, **tags: str) -> dg.DagsterRun:
    add_partitions(instance, [key])
    job = build_defs({"home": home.settings.home}).resolve_job_def("index_repository")
    return instance.create_run_for_job(job, tags={"dagster/partition": key, **tags}, status=status)


def states(home: Home) -> dict[str, RepositoryState]:
    return {each.key: each for each in read_fleet(home, home.registry.entries()).repositories}


def test_a_queued_and_a_running_repository_say_so_and_where(
    register: Callable[..., GitRepo], home: Home, own_instance: dg.DagsterInstance
) -> None:
    for key in ("waits", "runs", "idle"):
        register(key)
    tick(home, own_instance)
    run_of(home, own_instance, "waits", Status.NOT_STARTED)
    run = run_of(home, own_instance, "runs", Status.STARTING)
    own_instance.add_run_tags(run.run_id, process_tags(this_process(run.run_id)))
    own_instance.handle_new_event(_started(run))

    found = states(home)

    assert {key: each.state for key, each in found.items()} == {
        "waits": "queued",
        "runs": "being built",
        "idle": "never indexed",
    }
    told = state_json(found["runs"])["run"]
    assert (told["id"], told["is_queued"], told["host"]) == (run.run_id, False, this_process("").host)
    assert abs(time.time() - (found["runs"].run.since if found["runs"].run else 0)) < 60
    assert found["idle"].next_try == "with the next tick"


def _started(run: dg.DagsterRun) -> dg.EventLogEntry:
    event = dg.DagsterEvent(event_type_value="PIPELINE_START", job_name=run.job_name)
    return dg.EventLogEntry(
        error_info=None,
        level=logging.INFO,
        user_message="",
        run_id=run.run_id,
        timestamp=time.time(),
        job_name=run.job_name,
        dagster_event=event,
    )


def test_what_failed_too_often_says_why_how_often_and_what_starts_it_again(
    register: Callable[..., GitRepo], home: Home, own_instance: dg.DagsterInstance
) -> None:
    register("shop")
    (request,) = take_tick(home, own_instance, asker="test", last="", log=LOG).plan.requests
    for _ in range(home.settings.planner.max_attempts):
        run = run_of(
            home,
            own_instance,
            "shop",
            Status.STARTED,
            **{FINGERPRINT_TAG: request.fingerprint, "dagster/max_retries": "0"},
        )
        own_instance.report_run_failed(run, "the cache disk is full")

    tick(home, own_instance)

    found = states(home)["shop"]
    assert (found.state, found.failures, found.failure) == (
        "failed too often",
        home.settings.planner.max_attempts,
        "the cache disk is full",
    )
    assert found.failed_run == run.run_id
    assert found.next_try == "after a new commit or a changed setting, or by `codesum retry shop`"
    assert "the cache disk is full" in remark_of(found)


def test_what_a_person_stopped_says_so_and_what_starts_it_again(
    register: Callable[..., GitRepo], home: Home, own_instance: dg.DagsterInstance
) -> None:
    register("shop")
    (request,) = take_tick(home, own_instance, asker="test", last="", log=LOG).plan.requests
    run = run_of(home, own_instance, "shop", Status.STARTED, **{FINGERPRINT_TAG: request.fingerprint})
    own_instance.report_run_canceling(run)
    own_instance.report_run_canceled(run)

    tick(home, own_instance)

    found = states(home)["shop"]
    assert (found.state, found.held_by) == ("stopped by hand", "a person, who cancelled its run")
    assert found.next_try == "after a new commit, or by `codesum retry shop`"


def test_what_waits_for_a_shared_part_says_for_which_and_until_when(
    register: Callable[..., GitRepo], home: Home, own_instance: dg.DagsterInstance
) -> None:
    register("shop")
    (request,) = take_tick(home, own_instance, asker="test", last="", log=LOG).plan.requests
    run = run_of(home, own_instance, "shop", Status.STARTED, **{FINGERPRINT_TAG: request.fingerprint})
    note_fault(own_instance, run.run_id, BUCKET)
    own_instance.report_run_failed(run, "the bucket is away")

    tick(home, own_instance)

    found = states(home)["shop"]
    assert (found.state, found.failures, found.why) == ("waiting", 0, "shared part: bucket")
    assert found.next_try.startswith(f"at {time.strftime('%Y-%m-%d', time.gmtime())}")


def test_an_index_of_an_earlier_version_is_not_told_to_have_other_settings(
    copied_home: Home, copy_instance: dg.DagsterInstance
) -> None:
    tick(copied_home, copy_instance)
    before = states(copied_home)["shop"].state
    later = open_home(copied_home.layout.home)
    later.versions["parser"] = "of a later version"
    tick(later, copy_instance)

    by_daemon, alone = states(later)["shop"].state, None
    later.layout.planned.unlink()
    alone = states(later)["shop"].state

    assert (before, by_daemon, alone) == ("up to date", "made by an earlier version", "made by an earlier version")


def test_a_repository_that_cannot_be_read_says_when_it_is_looked_at_again(
    register: Callable[..., GitRepo], home: Home, own_instance: dg.DagsterInstance
) -> None:
    register("gone").path.rename(home.layout.home / "nowhere")
    tick(home, own_instance)

    found = states(home)["gone"]

    assert found.state == "cannot be read"
    assert "gone" in found.why
    assert found.next_try.startswith("the next look is at ")


def test_what_was_built_after_the_tick_is_up_to_date(
    register: Callable[..., GitRepo], copied_home: Home, copy_instance: dg.DagsterInstance
) -> None:
    tick(copied_home, copy_instance)
    record, _ = read_planned(copied_home.layout)
    assert record
    behind = replace(record.builds["shop"], decision="to build")
    keep_planned(copied_home.layout, {"shop": behind}, registered=["shop"], every_s=60, version="")

    assert states(copied_home)["shop"].state == "up to date"


def test_a_daemon_that_does_not_tick_is_named(home: Home, own_instance: dg.DagsterInstance) -> None:
    tick(home, own_instance)
    record, _ = read_planned(home.layout)
    assert record
    home.layout.planned.write_bytes(_encoded(replace(record, at=time.time() - 3600, host="builder-1")))

    assert ["the daemon on builder-1 has not ticked for 1 h" in each for each in read_fleet(home, []).troubles] == [
        True
    ]


def _encoded(record: Any) -> bytes:
    from msgspec import json

    return json.encode(record)


@contextmanager
def counted_work() -> Iterator[list[str]]:
    """The files that are opened and the programs that are started within the block."""
    found: list[str] = []
    is_on = [True]

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if is_on and event in ("open", "subprocess.Popen", "sqlite3.connect"):
            found.append(f"{event} {arguments[0]}")

    # A hook stays for the rest of the process.
    sys.addaudithook(note)
    try:
        yield found
    finally:
        is_on.clear()


def test_of_many_repositories_one_file_each_is_opened_and_no_program_started(copied_home: Home) -> None:
    keys = [f"shop-{number:03}" for number in range(300)]
    for key in keys:
        copy_index(copied_home.layout, "shop", key)
    entries = [RepositoryEntry(key=key, location=f"https://example.com/{key}.git") for key in keys]
    planned = PlannedBuild(decision="failed too often", at=time.time(), head="0" * 40, failures=3)
    keep_planned(copied_home.layout, dict.fromkeys(keys, planned), registered=keys, every_s=60, version="")
    record, _ = read_planned(copied_home.layout)
    _ = copied_home.versions

    with counted_work() as work:
        found = judge_fleet(copied_home, entries, runs={}, record=record)

    assert {each.state for each in found} == {"failed too often"}
    assert len(work) == len(keys)
    assert all(each.startswith("open ") and each.endswith("manifest.json") for each in work)
