"""Builds as series: by outcome and by whose fault, each counted once; attempts, the queue, and what models cost."""

import time
from collections.abc import Callable

import dagster as dg
import pytest

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.run_tags import note_fault
from codesum_pipeline.builds.reports.faults import BUCKET
from codesum_pipeline.foundation.data_model.errors import RecordsUnavailable
from codesum_pipeline.ways_in.metrics import fleet_series
from codesum_pipeline.ways_in.metrics.fleet_series import CountedBuilds
from codesum_pipeline_tests.builds.dagster.test_fleet_state import Status, own_instance, run_of, tick
from codesum_pipeline_tests.support.collected_metrics import exposed, labelled, started
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.settings import changed

__all__ = ["own_instance"]


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look reads the records anew."""
    monkeypatch.setattr(fleet_series, "FRESH_S", 0.0)


def test_each_ended_build_is_counted_once_by_outcome_and_fault(
    register: Callable[..., GitRepo], home: Home, own_instance: dg.DagsterInstance
) -> None:
    for key in ("shop", "till"):
        register(key)
    tick(home, own_instance)
    before = run_of(home, own_instance, "shop", Status.STARTED)
    own_instance.report_run_failed(before, "before the server began")
    metrics = started()
    metrics.measure_fleet(IndexCatalogue.of(home.settings))
    first = exposed(metrics)["codesum_builds_total"]

    by_machine = run_of(home, own_instance, "shop", Status.STARTED)
    note_fault(own_instance, by_machine.run_id, BUCKET)
    own_instance.report_run_failed(own_instance.get_run_by_id(by_machine.run_id) or by_machine, "the bucket is away")
    own = run_of(home, own_instance, "shop", Status.STARTED)
    own_instance.report_run_failed(own, "a file cannot be parsed")
    cancelled = run_of(home, own_instance, "till", Status.STARTED)
    own_instance.report_run_canceled(cancelled, "by a person")
    exposed(metrics)
    # A run whose tags are changed afterwards is recorded anew.
    own_instance.add_run_tags(own.run_id, {"looked": "at"})
    found = exposed(metrics)["codesum_builds_total"]

    # A series begins at 0, since Prometheus sees no rise in one that begins at 1.
    assert {frozenset(dict(labels).items()) for labels in first} == {
        frozenset(dict(labels).items()) for labels in found
    }
    assert {*first.values()} == {0.0}
    counted = {tuple(dict(labels)[name] for name in ("repository", "outcome", "cause")): value
               for labels, value in found.items() if value}  # fmt: skip
    assert counted == {
        ("shop", "failure", "shared part"): 1.0,
        ("shop", "failure", "repository"): 1.0,
        ("till", "canceled", ""): 1.0,
    }


def test_builds_and_queue_of_a_fleet_are_measured(
    register: Callable[..., GitRepo], home: Home, own_instance: dg.DagsterInstance
) -> None:
    for key in ("waits", "fails"):
        register(key)
    tick(home, own_instance)
    run_of(home, own_instance, "waits", Status.NOT_STARTED)
    metrics = started()
    metrics.measure_fleet(IndexCatalogue.of(home.settings))

    found = exposed(metrics)

    assert labelled(found["codesum_queue_runs"], "state") == {"queued": 1.0, "running": 0.0}
    assert 0 <= found["codesum_queue_longest_wait_seconds"][frozenset()] < 60
    assert labelled(found["codesum_repositories"], "state") == {"queued": 1.0, "never indexed": 1.0}
    assert labelled(found["codesum_part_up"], "part") == {"database": 1.0}
    assert 0 <= found["codesum_planner_tick_age_seconds"][frozenset()] < 60


def test_records_that_cannot_be_read_are_measured_as_such(
    register: Callable[..., GitRepo], home: Home, own_instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    register("shop")
    tick(home, own_instance)
    metrics = started()
    metrics.measure_fleet(IndexCatalogue.of(home.settings))

    def away(*_: object) -> object:
        raise RecordsUnavailable("the database cannot be reached")

    monkeypatch.setattr("codesum_pipeline.builds.dagster.control.runs_under_way", away)
    found = exposed(metrics)

    assert labelled(found["codesum_part_up"], "part") == {"database": 0.0}
    # What is still known is measured all the same.
    assert "codesum_planner_tick_age_seconds" in found


@pytest.mark.parametrize("where", ["ended_builds", "workers_without_runs"])
def test_a_part_that_goes_away_while_it_is_read_stops_no_other_series(
    register: Callable[..., GitRepo],
    home: Home,
    own_instance: dg.DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
) -> None:
    register("shop")
    tick(home, own_instance)
    part = {"ended_builds": "database", "workers_without_runs": "queue"}[where]
    used = changed(home.settings, engine={"launcher": "celery"} if part == "queue" else {})
    metrics = started()
    metrics.measure_fleet(IndexCatalogue.of(used))

    def away(*_: object, **__: object) -> object:
        raise RecordsUnavailable("it went away")

    monkeypatch.setattr("codesum_pipeline.builds.dagster.control.check_broker", lambda _: None)
    monkeypatch.setattr(f"codesum_pipeline.builds.dagster.control.{where}", away)
    monkeypatch.setattr("codesum_pipeline.builds.dagster.control.runs_under_way", lambda _: {})
    found = exposed(metrics)

    assert labelled(found["codesum_part_up"], "part")[part] == 0.0
    assert labelled(found["codesum_index_state"], "repository") == {"shop": 1.0}


def test_many_runs_of_one_moment_are_all_counted_and_forgotten_later(
    register: Callable[..., GitRepo], home: Home, own_instance: dg.DagsterInstance
) -> None:
    register("shop")
    builds = CountedBuilds()
    for _ in range(12):
        own_instance.report_run_failed(run_of(home, own_instance, "shop", Status.STARTED), "broken")
        builds.look(home)
    builds.look(home)

    assert builds.by_outcome == {("shop", "failure", "repository"): 12}
    assert builds.seconds["shop"] >= 0 and builds.began <= time.time()
