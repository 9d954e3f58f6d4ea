"""What Dagster shows of checks after a run that ended before it came to them: what an earlier run found, if it still
counts."""

import logging
import os
import signal
import time
from collections.abc import Callable

import dagster as dg
import pytest
from dagster._core.definitions.partitions.context import partition_loading_context
from dagster._core.events import StepMaterializationData

from codesum_pipeline.builds.alerts.alert_book import open_book
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster import check_verdicts
from codesum_pipeline.builds.dagster.asset_steps import EVALUATED_IN, JOB
from codesum_pipeline.builds.dagster.assets import CHECKS, OWN_CHECKS
from codesum_pipeline.builds.dagster.check_verdicts import restore_verdicts
from codesum_pipeline.builds.dagster.companion import index_repositories
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.builds.dagster.planner import BuildDecision, Plan
from codesum_pipeline.builds.dagster.resource import codesum_repos
from codesum_pipeline.builds.dagster.runs import complaint_of
from codesum_pipeline.builds.dagster.ticks import take_tick
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.indexes.publishing.publish import published_version
from codesum_pipeline_tests.builds.dagster.test_checks import plant, scaled
from codesum_pipeline_tests.support.repositories import GitRepo

PLANNED = sorted((*(check.key for check in OWN_CHECKS), *(key for each in CHECKS for key in each.check_keys)))
READ = {dg.DagsterEventType.ASSET_CHECK_EVALUATION, dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE}
REFUND = '"""Refunds."""\n\n\ndef refund(item):\n    """Give a customer the money back."""\n    return item.price\n'
Verdicts = dict[str, tuple[str, str | None]]


@pytest.fixture
def begin_with() -> None:
    """A home of this test, whose runs are in its own instance."""
    return None


@pytest.fixture
def interrupted(register: Callable[..., GitRepo], home: Home, interruptible: None) -> GitRepo:
    """A repository that was built, and whose next build a person cancelled after the graph was made."""
    repo = register("shop")
    (outcome,) = index_repositories(home, ["shop"])
    assert outcome.succeeded, outcome.message
    repo.commit({"shop/refunds.py": REFUND})
    interrupt(home)
    return repo


def interrupt(home: Home) -> None:
    def press(doing: str, done: int, total: int) -> None:
        if "summar" in doing or "describ" in doing or "writing" in doing:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.5)

    with pytest.raises(KeyboardInterrupt):
        index_repositories(home, ["shop"], progress=press)


def tick(home: Home) -> Plan:
    with open_instance(home.layout) as instance:
        return take_tick(home, instance, asker="test", last="", log=logging.getLogger("test")).plan


def shown(home: Home) -> Verdicts:
    """What Dagster shows of each check of `shop` that a run plans: how it ended, and from which run that was taken."""
    found: Verdicts = {}
    with open_instance(home.layout) as instance:
        numbers = {run.run_id: f"run {number}" for number, run in enumerate(reversed(instance.get_runs()), 1)}
        for key in PLANNED:
            [newest, *_] = instance.event_log_storage.get_asset_check_execution_history(key, limit=1)
            source = (
                newest.evaluation and newest.status.value != "PLANNED" and newest.evaluation.metadata.get(EVALUATED_IN)
            )
            found[key.name] = (newest.status.value, numbers[source.value] if source else None)
    return found


def by_partition(home: Home) -> dict[str, set[str]]:
    """What the tab of checks shows for the partition `shop`."""
    found: dict[str, set[str]] = {}
    with open_instance(home.layout) as instance, partition_loading_context(dynamic_partitions_store=instance):
        states = instance.event_log_storage.get_asset_check_state([(key, codesum_repos) for key in PLANNED])
        for key, state in states.items():
            for status, subset in state.subsets.items():
                if not subset.is_empty:
                    found.setdefault(status.value, set()).add(key.name)
    return found


def test_a_check_that_a_cancelled_run_did_not_come_to_shows_its_last_verdict_within_a_tick(
    interrupted: GitRepo, home: Home
) -> None:
    before, version = shown(home), published_version(home.layout, "shop")
    of_the_graph = {"calls_are_resolved": ("SUCCEEDED", None)}
    assert before == dict.fromkeys(before, ("PLANNED", None)) | of_the_graph
    assert by_partition(home)["SKIPPED"] == before.keys() - of_the_graph.keys()

    tick(home)

    # The index is behind, whatever was found when it was published.
    behind = {"index_is_at_head": ("FAILED", None)}
    after = dict.fromkeys(before, ("SUCCEEDED", "run 1")) | of_the_graph | behind
    assert shown(home) == after
    assert by_partition(home) == {
        "SUCCEEDED": before.keys() - behind.keys(),
        "FAILED": behind.keys(),
    }
    assert published_version(home.layout, "shop") == version


def messages(home: Home, run_id: str) -> list[str]:
    """What Dagster's page of a run says last, besides results of checks."""
    with open_instance(home.layout) as instance:
        logs = instance.all_logs(run_id, of_type=dg.DagsterEventType.ENGINE_EVENT)
        return [log.dagster_event.message or "" for log in logs if log.dagster_event][-2:]


def test_the_page_of_a_cancelled_run_says_what_follows(interrupted: GitRepo, home: Home) -> None:
    with open_instance(home.layout) as instance:
        (run,) = instance.get_runs(limit=1)
        # As by a person, who sits at a terminal.
        instance.report_run_canceling(run, "Interrupted at the command line.")
        instance.report_run_canceled(run)

    plan = tick(home)

    assert plan.verdicts == {"shop": BuildDecision.STOPPED}
    assert messages(home, run.run_id) == [
        "A person cancelled this run, so nothing builds shop before a new commit or `codesum retry shop`.",
        "This run did not come to the checks below. What they check is still the same, so they show what the run in "
        "`evaluated_in_run` found.",
    ]


def test_verdicts_are_restored_once_however_often_the_planner_ticks(interrupted: GitRepo, home: Home) -> None:
    tick(home)
    with open_instance(home.layout) as instance:
        ids = [run.run_id for run in instance.get_runs()]
        events = [len(instance.all_logs(each)) for each in ids]
        for _ in range(2):
            tick(home)
            assert [len(instance.all_logs(each)) for each in ids] == events


def test_a_second_cancelled_run_shows_in_which_run_a_check_was_carried_out(interrupted: GitRepo, home: Home) -> None:
    tick(home)
    interrupt(home)
    tick(home)

    found = shown(home)
    assert found["vectors_are_whole"] == ("SUCCEEDED", "run 1")
    # The graph is that of the second run, and its step was not needed again in the third.
    assert found["calls_are_resolved"] == ("SUCCEEDED", None)


def test_what_a_failed_run_made_anew_and_did_not_check_has_no_verdict(
    register: Callable[..., GitRepo], home: Home
) -> None:
    register("shop")
    (outcome,) = index_repositories(home, ["shop"])
    with open_instance(home.layout) as instance:
        job = build_defs({"home": home.settings.home}).resolve_job_def(JOB)
        run = instance.create_run_for_job(job, tags={"dagster/partition": "shop"})
        made = dg.AssetMaterialization("dense_index", partition="shop")
        kind = dg.DagsterEventType.ASSET_MATERIALIZATION.value
        data = StepMaterializationData(made)
        event = dg.DagsterEvent(event_type_value=kind, job_name=JOB, event_specific_data=data)
        instance.report_dagster_event(event, run_id=run.run_id)
        instance.report_run_failed(run)
    before = shown(home)

    tick(home)

    assert outcome.succeeded
    assert before == dict.fromkeys(before, ("PLANNED", None))
    assert shown(home) == dict.fromkeys(before, ("SUCCEEDED", "run 1")) | {"vectors_are_whole": ("PLANNED", None)}


def test_a_verdict_of_an_earlier_run_is_no_reason_why_a_later_one_failed(
    register: Callable[..., GitRepo], home: Home
) -> None:
    repo = register("shop")
    index_repositories(home, ["shop"])
    plant(home, "vectors", scaled(1.01))
    (broken,) = index_repositories(home, ["shop"])
    tick(home)
    repo.path.rename(repo.path.with_name("elsewhere"))
    (gone,) = index_repositories(home, ["shop"])
    tick(home)

    with open_instance(home.layout) as instance:
        records = instance.get_records_for_run(gone.run_id, of_type=READ).records
        events = [event for each in records if (event := each.event_log_entry.dagster_event)]

    assert "check vectors_are_whole of dense_index failed" in broken.message
    assert shown(home)["vectors_are_whole"] == ("FAILED", "run 2")
    assert complaint_of(events)[0] == gone.message
    assert "does not exist" in gone.message


def test_a_tick_looks_at_some_runs_and_the_next_ones_at_the_others(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_verdicts, "_RUNS_A_TICK", 2)
    keys = [f"repo-{number}" for number in range(5)]
    home.layout.home.mkdir()
    plan = Plan((), dict.fromkeys(keys, BuildDecision.BUILD), {})
    with open_instance(home.layout) as instance:
        for key in keys:
            tags = {"dagster/partition": key}
            instance.add_run(dg.DagsterRun(job_name=JOB, status=dg.DagsterRunStatus.CANCELED, tags=tags))
        looked_at = []
        for _ in range(4):
            restore_verdicts(home, instance, plan)
            with open_book(home.settings.home, now=utc_now) as book:
                looked_at.append(len(book.marks("verdicts:")))

    assert looked_at == [2, 4, 5, 5]
