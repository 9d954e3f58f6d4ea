"""Ticks over many repositories: what they ask, say once, and how a push is noticed."""

import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest
import sqlalchemy as sql

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import FINGERPRINT_TAG
from codesum_pipeline.builds.dagster.resource import PORTION, add_partitions
from codesum_pipeline.builds.dagster.ticks import SensorTick, take_tick
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.repositories.poll_state import mark_due, marked_keys, open_poll_state
from codesum_pipeline_tests.support.repositories import GitRepo

Register = Callable[[str], GitRepo]
Look = Callable[..., dg.SensorResult]
LOG = logging.getLogger("tick")


def tick(home: Home, instance: dg.DagsterInstance, *, asker: str = "test") -> SensorTick:
    return take_tick(home, instance, asker=asker, last="", log=LOG)


@pytest.fixture
def look_for_pushes(home: Home, instance: dg.DagsterInstance) -> Look:
    """One evaluation of the sensor that sees to pushes."""
    definitions = build_defs({"home": home.settings.home})
    repository = definitions.get_repository_def()

    def evaluate() -> dg.SensorResult:
        with dg.build_sensor_context(
            instance=instance, repository_def=repository, resources=definitions.resources
        ) as context:
            result = repository.get_sensor_def("pushed_repositories")(context)
        assert isinstance(result, dg.SensorResult)
        return result

    return evaluate


@contextmanager
def counted_queries() -> Iterator[list[str]]:
    """The statements that Dagster's storage is asked within the block."""
    requests: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if not statement.startswith("PRAGMA"):
            requests.append(statement)

    sql.event.listen(sql.Engine, "before_cursor_execute", note)
    try:
        yield requests
    finally:
        sql.event.remove(sql.Engine, "before_cursor_execute", note)


def test_a_marked_repository_is_built_without_a_look_at_the_others(
    register: Register, look_for_pushes: Look, home: Home
) -> None:
    for key in ("shop", "other"):
        register(key)
    idle = look_for_pushes()
    mark_due(home.layout, ["shop", "unknown"])

    result = look_for_pushes()

    assert idle.skip_reason and idle.skip_reason.skip_message == "no push was told of"
    assert [request.partition_key for request in result.run_requests or ()] == ["shop"]
    (added,) = result.dynamic_partitions_requests or ()
    assert list(added.partition_keys) == ["shop"]
    assert marked_keys(home.layout) == []


def test_a_push_during_a_build_waits_for_its_end(
    register: Register, look_for_pushes: Look, home: Home, instance: dg.DagsterInstance
) -> None:
    register("shop")
    mark_due(home.layout, ["shop"])
    job = build_defs({"home": home.settings.home}).resolve_job_def("index_repository")
    tags = {"dagster/partition": "shop", FINGERPRINT_TAG: "f"}
    run = instance.create_run_for_job(job, tags=tags, status=dg.DagsterRunStatus.STARTED)
    waits = look_for_pushes()
    instance.report_run_failed(run)

    result = look_for_pushes()

    assert waits.skip_reason and waits.skip_reason.skip_message == "1 being built"
    assert [request.partition_key for request in result.run_requests or ()] == ["shop"]


def test_what_one_sensor_asked_for_just_now_the_other_does_not_ask_for(
    register: Register, look_for_pushes: Look, look: Look, home: Home
) -> None:
    register("shop")
    mark_due(home.layout, ["shop"])

    assert [request.partition_key for request in look_for_pushes().run_requests or ()] == ["shop"]
    assert look().run_requests == []


def test_what_is_wrong_is_told_once_and_again_when_it_is_something_else(
    home: Home, instance: dg.DagsterInstance, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    home.layout.home.mkdir(exist_ok=True)
    home.layout.repos_file.write_text(f"repositories:\n  gone:\n    path: {tmp_path}/nowhere\n")
    caplog.set_level(logging.WARNING, logger="tick")

    counts = []
    for change in ("", "", "    branch: main\n", ""):
        caplog.clear()
        home.layout.repos_file.write_text(f"{home.layout.repos_file.read_text()}{change}")
        line = tick(home, instance).plan.summary()
        counts.append(len(caplog.messages))
        assert line.startswith("1 unreadable: ")

    assert counts == [1, 0, 1, 0]


def test_a_lost_or_broken_poll_state_heals(register: Register, home: Home, instance: dg.DagsterInstance) -> None:
    register("shop")
    before = tick(home, instance).plan.requests
    home.layout.polls.write_bytes(b"nothing of SQLite" * 999)

    assert tick(home, instance).plan.requests == before


def test_the_clock_may_go_back_an_hour_between_two_ticks(
    register: Register, home: Home, instance: dg.DagsterInstance
) -> None:
    repo = register("shop")
    before = tick(home, instance).plan.requests
    with sqlite3.connect(home.layout.polls) as connection:
        connection.execute("UPDATE polls SET polled_at = polled_at + 3600, due_at = due_at + 3600")
        connection.execute("UPDATE requests SET at = at + 3600")
    commit = repo.commit({"shop/new.py": "def f():\n    return 1\n"})

    (request,) = tick(home, instance, asker="another").plan.requests

    assert request.fingerprint == home.fingerprint(home.registry.get("shop"), commit=commit)
    assert request.fingerprint != before[0].fingerprint


def test_dagster_is_asked_as_often_for_forty_repositories_as_for_four(
    home: Home, instance: dg.DagsterInstance, git_repo: Callable[..., GitRepo]
) -> None:
    repo = git_repo({"a.py": "x = 1\n"}, name="one")
    head = repo.git("rev-parse", "HEAD").strip()
    counts = []
    for count in (4, 40):
        for number in range(count):
            home.registry.add(RepositoryEntry(f"r{number}", str(repo.path)))
        for entry in home.registry.entries():
            tags = {FINGERPRINT_TAG: home.fingerprint(entry, commit=head)}
            built = dg.AssetMaterialization("published_index", partition=entry.key, tags=tags)
            instance.report_runless_asset_event(built)
        tick(home, instance)
        with counted_queries() as queries:
            plan = tick(home, instance).plan
        counts.append(len(queries))
        assert len(plan.verdicts) == count

    assert counts[0] == counts[1]


def test_a_tick_makes_dagster_know_some_hundred_repositories_and_the_next_one_the_others(
    home: Home, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    count = PORTION + 7
    lines = "".join(f"  r{number:04d}:\n    path: {tmp_path}\n    ref: none\n" for number in range(count))
    home.layout.home.mkdir(exist_ok=True)
    home.layout.repos_file.write_text(f"repositories:\n{lines}")

    first = tick(home, instance).new_keys
    add_partitions(instance, first)
    second = tick(home, instance).new_keys

    assert (len(first), len(second)) == (PORTION, 7)


def test_partitions_are_added_however_many_there_are(instance: dg.DagsterInstance) -> None:
    keys = [f"r{number}" for number in range(2 * PORTION + 1)]
    add_partitions(instance, keys[:3])

    add_partitions(instance, keys)

    assert sorted(instance.get_dynamic_partitions("codesum_repos")) == sorted(keys)


def test_records_that_were_made_anew_are_not_taken_for_the_old_ones(
    register: Register, home: Home, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    from codesum_pipeline.builds.dagster.observing import recorded_fingerprints

    def recorded(records: dg.DagsterInstance) -> dict[str, str | None]:
        with open_poll_state(home.layout) as state:
            return recorded_fingerprints(records, state, ["shop", "new"], give_up_at=float("inf"))

    def built(records: dg.DagsterInstance, fingerprint: str) -> None:
        tags = {FINGERPRINT_TAG: fingerprint}
        records.report_runless_asset_event(dg.AssetMaterialization("published_index", partition="shop", tags=tags))

    built(instance, "f1")
    assert recorded(instance) == {"shop": "f1", "new": None}
    built(instance, "f2")
    assert recorded(instance) == {"shop": "f2", "new": None}
    (tmp_path / "anew").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "anew")) as anew:
        built(anew, "f3")
        built(anew, "f4")
        assert recorded(anew) == {"shop": "f4", "new": None}
