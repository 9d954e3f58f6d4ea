"""What the launcher says of a run whose worker, broker or results are gone."""

import dagster as dg
import pytest
import sqlalchemy
from celery.exceptions import WorkerLostError
from dagster._core.launcher import CheckRunHealthResult, WorkerStatus

from codesum_pipeline.builds.dagster.celery_runs import CeleryRuns, Sightings
from codesum_pipeline.builds.dagster.instance_file import apply_engine
from codesum_pipeline.builds.dagster.runs import COMMAND_LINE, STARTED_BY_TAG
from codesum_pipeline.builds.reports.faults import UNWRITTEN_END
from codesum_pipeline_tests.builds.fleet.starting import launched, new_run, started
from codesum_pipeline_tests.support.dagster_dev import wait_for
from codesum_pipeline_tests.support.fleet_workers import Fleet
from codesum_pipeline_tests.support.services import Redis

pytestmark = pytest.mark.distributed


@pytest.fixture
def instance(fleet: Fleet):
    apply_engine(fleet.layout, fleet.settings.engine, fleet.environment)
    with fleet.instance() as opened:
        yield opened


def health(instance: dg.DagsterInstance, run: dg.DagsterRun) -> CheckRunHealthResult:
    return instance.run_launcher.check_run_worker_health(run)


def test_of_a_run_that_died_before_it_was_handed_over_everything_can_be_asked(instance) -> None:
    launcher = instance.run_launcher
    run = started(instance, new_run(instance, "shop"))

    assert isinstance(launcher, CeleryRuns)
    assert health(instance, run).status is WorkerStatus.RUNNING
    assert launcher.get_run_worker_debug_info(run) is None
    assert launcher.terminate(run.run_id)


def test_a_run_that_no_worker_names_for_long_enough_is_lost(instance, monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(instance, launched(instance, new_run(instance, "shop")))
    assert health(instance, run).status is WorkerStatus.RUNNING
    monkeypatch.setattr(instance.run_launcher, "_lost_after_s", 0.0)

    assert health(instance, run) == CheckRunHealthResult(WorkerStatus.FAILED, "no worker carries it out any more")


@pytest.mark.parametrize(
    ("result", "state", "reason"),
    [
        pytest.param(1, "SUCCESS", UNWRITTEN_END, id="came to its end"),
        pytest.param(
            sqlalchemy.exc.OperationalError("x", {}, OSError()), "FAILURE", UNWRITTEN_END, id="had no database"
        ),
        pytest.param(
            WorkerLostError("Worker exited prematurely: signal 9 (SIGKILL) Job: 3."),
            "FAILURE",
            "its process ended: Worker exited prematurely: signal 9 (SIGKILL) Job: 3.",
            id="was killed",
        ),
        pytest.param(None, "REVOKED", "its process ended without a word", id="was told to end"),
    ],
)
def test_of_a_task_that_ended_while_its_run_did_not_it_is_said_how(
    instance, result: object, state: str, reason: str
) -> None:
    run = started(instance, launched(instance, new_run(instance, "shop")))
    instance.run_launcher.celery.backend.store_result(run.run_id, result, state)

    assert health(instance, run) == CheckRunHealthResult(WorkerStatus.FAILED, reason)


def test_while_redis_is_away_no_run_is_lost(instance, redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(instance, launched(instance, new_run(instance, "shop")))
    monkeypatch.setattr(instance.run_launcher, "_lost_after_s", 0.0)
    redis.kill()

    assert health(instance, run).status is WorkerStatus.RUNNING
    redis.start()


def test_a_run_of_the_command_line_is_left_to_its_own_process(instance) -> None:
    run = started(instance, new_run(instance, "shop", **{STARTED_BY_TAG: COMMAND_LINE}))

    assert health(instance, run).status is WorkerStatus.RUNNING


def test_a_look_that_fails_starts_the_count_anew() -> None:
    answers: list[frozenset[str] | None] = [frozenset(), None, frozenset(), frozenset({"run"})]
    sightings = Sightings(lambda: answers.pop(0), fresh_s=0.0)

    assert [sightings.missed_s("run") for _ in range(4)] == [0.0, None, 0.0, None]


def test_no_message_record_or_file_holds_a_password(fleet: Fleet, redis: Redis) -> None:
    secret = "correct-horse"
    fleet.extra = {
        "CODESUM_BROKER_URL": f"redis://:{secret}@127.0.0.1:{redis.port}/0",
        "CODESUM_POSTGRES_URL": fleet.postgres.url.replace("postgres:@", f"postgres:{secret}@"),
    }
    apply_engine(fleet.layout, fleet.settings.engine, fleet.environment)
    worker = fleet.start("worker", "worker")
    wait_for(lambda: "transport:" in worker.log.read_text(), timeout_s=120, what="the worker to say what it does")

    with fleet.instance() as instance:
        run = launched(instance, new_run(instance, "shop"))
        events = str(instance.all_logs(run.run_id))
    files = [file.read_text(errors="replace") for file in (*fleet.layout.home.rglob("*"), worker.log) if file.is_file()]
    assert not any(secret in text for text in (*files, events))
