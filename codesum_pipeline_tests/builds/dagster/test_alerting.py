"""What the sensor `alerts` reads of Dagster's records, and what the planner's ticks tell it."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import dagster as dg
import pytest

from codesum_pipeline.builds.alerts.alert_book import AlertBook, ConditionKind, ConditionState, open_book
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster import alerting
from codesum_pipeline.builds.dagster.alerting import look_for_conditions, note_plan, note_runs
from codesum_pipeline.builds.dagster.asset_steps import JOB
from codesum_pipeline.builds.dagster.planner import BuildDecision, Plan
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.notifications.delivery.outbox import open_outbox
from codesum_pipeline_tests.support.homes import open_home

ALERTS = {"channels": ["ops"], "settle_minutes": 0, "failed_builds": 1}
OPS = {"channels": {"ops": {"kind": "webhook", "url": "https://ops.example/hook"}}}


@pytest.fixture
def begin_with() -> None:
    """A home of this test, without anything."""
    return None


@pytest.fixture
def at_once(tmp_path: Path) -> Home:
    """A home whose owner wants to know at once, and whose indexes are late as soon as they are behind."""
    return open_home(tmp_path / "home", alerts=ALERTS, delivery=OPS, offline=True, checks={"behind_hours": 1e-9})


@pytest.fixture
def records() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def end_runs(instance: dg.DagsterInstance, numbers: range, status: dg.DagsterRunStatus) -> None:
    for number in numbers:
        tags = {PARTITION_TAG: f"repo-{number:02}"}
        instance.add_run(dg.DagsterRun(job_name=JOB, run_id=f"{status.value}-{number:02}", status=status, tags=tags))


def notices(home: Home) -> list[tuple[str, str]]:
    with open_outbox(home.settings.home, now=utc_now) as outbox:
        posts = [outbox.post(each.post_id) for each in outbox.deliveries()]
    return [(post.subject, post.text) for post in posts]


def test_more_runs_within_the_overlap_than_a_look_takes_are_all_counted(
    at_once: Home, records: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alerting, "RUNS_A_LOOK", 3)
    end_runs(records, range(11), dg.DagsterRunStatus.FAILURE)
    with open_book(at_once.settings.home, now=utc_now) as book:
        for _ in range(4):
            note_runs(at_once, records, book)
        assert len(book.conditions("is_bad")) == 11

        end_runs(records, range(11), dg.DagsterRunStatus.SUCCESS)
        for _ in range(4):
            note_runs(at_once, records, book)
        assert book.conditions("is_bad") == []


@pytest.mark.slow
def test_a_thousand_indexes_that_become_late_in_one_tick_are_one_message_of_a_few_lines(
    at_once: Home, instance: dg.DagsterInstance
) -> None:
    keys = [f"repo-{number:04}" for number in range(1000)]
    entries = [RepositoryEntry(key, f"https://git.example/acme/{key}.git") for key in keys]
    lines = "".join(f"  {each.key}:\n    url: {each.location}\n" for each in entries)
    at_once.settings.home.mkdir(parents=True)
    at_once.registry.file.write_text(f"repositories:\n{lines}")
    plan = Plan((), dict.fromkeys(keys, BuildDecision.DEFERRED), {})

    for _ in range(2):
        note_plan(at_once, instance, plan, entries)
    for _ in range(3):
        look_for_conditions(at_once, instance, dg.get_dagster_logger())

    [(subject, text)] = notices(at_once)
    assert subject == "codesum: 1,000 failing, 0 recovered"
    assert "check index_is_fresh (1,000): repo-0000, repo-0001" in text and "and 992 more" in text
    assert len(text) < 500


def test_lateness_that_is_remembered_has_been_noted_for_an_alert(
    at_once: Home, records: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the process is killed between the two."""
    entry = RepositoryEntry("shop", "https://git.example/acme/shop.git")
    plan = Plan((), {"shop": BuildDecision.BUILD}, {})
    note_plan(at_once, records, plan, [entry])

    class Killed(BaseException):
        pass

    note = AlertBook.note

    def die_at_lateness(book: AlertBook, observed: Iterable[ConditionState]) -> None:
        states = list(observed)
        if any(each.kind is ConditionKind.CHECK for each in states):
            raise Killed
        note(book, states)

    with monkeypatch.context() as patch:
        patch.setattr(AlertBook, "note", die_at_lateness)
        with pytest.raises(Killed):
            note_plan(at_once, records, plan, [entry])
    note_plan(at_once, records, plan, [entry])

    with open_book(at_once.settings.home, now=utc_now) as book:
        assert [(each.kind, each.subject) for each in book.conditions("is_bad")] == [(ConditionKind.CHECK, "shop")]
