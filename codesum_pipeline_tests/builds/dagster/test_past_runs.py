"""When a repository is built again: what its past runs say, with real records of Dagster and scripted ends of runs."""

import signal
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import dagster as dg
import pytest
import sqlalchemy
from dagster._core.events import JobFailureData, RunFailureReason
from dagster._utils import get_run_crash_explanation
from dagster._utils.error import serializable_error_info_from_exc_info
from hypothesis import given, settings
from hypothesis import strategies as st

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import FINGERPRINT_TAG, JOB
from codesum_pipeline.builds.dagster.past_runs import LONGEST_PAUSE_S, pause_after, with_attempts
from codesum_pipeline.builds.dagster.planner import BuildDecision, Observation, Plan, plan_builds
from codesum_pipeline.builds.dagster.resource import PARTITION_TAG
from codesum_pipeline.builds.dagster.run_tags import FAULT_TAG, STATE_TAG, note_fault
from codesum_pipeline.builds.dagster.runs import job_origin
from codesum_pipeline.builds.reports.faults import BUCKET, DISK, HOST, MEMORY, REPOSITORY, Fault
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.source.repositories.poll_state import open_poll_state
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.services import free_port

MAX_ATTEMPTS = 3
TICK_S = 10.0
START = 1_700_000_000.0


class Records:
    """Runs of one repository, `shop`, each with an end that a test scripts."""

    def __init__(self, instance: dg.DagsterInstance, layout: HomeLayout) -> None:
        self.instance = instance
        self.layout = layout

    def begin(
        self, state: str | None, *, status: dg.DagsterRunStatus = dg.DagsterRunStatus.STARTED, **tags: str
    ) -> str:
        """A run for a state, as the planner asks for it; None: as a person starts it."""
        asked = {FINGERPRINT_TAG: state, "dagster/run_key": f"shop:{state}:{len(self.instance.get_runs()) + 1}"}
        run_tags = {PARTITION_TAG: "shop", **(asked if state else {}), **tags}
        return self.add(tags=run_tags, status=status).run_id

    def add(self, *, tags: Mapping[str, str], status: dg.DagsterRunStatus, **values: str) -> dg.DagsterRun:
        """A run with these tags."""
        run_id = str(uuid.uuid4())
        described = {"job_name": JOB, **values}
        return self.instance.add_run(
            dg.DagsterRun(run_id=run_id, tags=tags, status=status, remote_job_origin=job_origin(), **described)
        )

    def fail(self, run_id: str, fault: Fault | None, *, at: float, reason: RunFailureReason | None = None) -> None:
        """The run fails, by a fault or without a word."""
        if fault:
            note_fault(self.instance, run_id, fault)
        data = JobFailureData(error=None, failure_reason=reason) if reason else None
        self._say(run_id, dg.DagsterEventType.RUN_FAILURE, data=data, at=at)

    def cancel(self, run_id: str, *, message: str = "Sending run termination request.") -> None:
        """A person cancels the run."""
        run = self.instance.get_run_by_id(run_id)
        assert run
        self.instance.report_run_canceling(run, message)
        self.instance.report_run_canceled(run)

    def _say(self, run_id: str, kind: dg.DagsterEventType, *, data: JobFailureData | None, at: float) -> None:
        event = dg.DagsterEvent(event_type_value=kind.value, job_name=JOB, event_specific_data=data)
        self.instance.report_dagster_event(event, run_id, timestamp=at)

    def plan(self, wanted: str = "f1", *, now: float = START, **values: str) -> Plan:
        """What the planner makes of it."""
        with open_poll_state(self.layout) as state:
            seen = with_attempts(
                self.instance,
                state,
                [Observation("shop", wanted=wanted, **values)],
                give_up_at=time.monotonic() + 60,
                now=now,
            )
        return plan_builds(seen, max_attempts=MAX_ATTEMPTS, max_requests=25)

    def verdict(self, wanted: str = "f1", *, now: float = START) -> BuildDecision:
        return self.plan(wanted, now=now).verdicts["shop"]


@pytest.fixture
def records(instance: dg.DagsterInstance, home: Home) -> Records:
    home.layout.home.mkdir(exist_ok=True)
    return Records(instance, home.layout)


@contextmanager
def new_records(folder: HomeLayout) -> Iterator[Records]:
    folder.polls.unlink(missing_ok=True)
    with dg.DagsterInstance.ephemeral() as instance:
        yield Records(instance, folder)


# How one run ends: by whose fault, or by what Dagster itself says.
ENDS: dict[str, tuple[Fault | None, RunFailureReason | None]] = {
    "full disk": (DISK, None),
    "no memory": (MEMORY, None),
    "bucket away": (BUCKET, None),
    "host away": (HOST, None),
    "no worker": (None, RunFailureReason.START_TIMEOUT),
    "process stopped": (None, RunFailureReason.UNEXPECTED_TERMINATION),
    "repository": (REPOSITORY, RunFailureReason.STEP_FAILURE),
    "killed": (None, None),
}
COUNTED = {"repository", "killed"}


@settings(max_examples=25, deadline=None)
@given(script=st.lists(st.sampled_from(sorted(ENDS)), max_size=14))
def test_only_the_repositorys_own_faults_end_the_tries_and_all_others_are_waited_for(
    tmp_path_factory: pytest.TempPathFactory, script: list[str]
) -> None:
    layout = open_home(tmp_path_factory.mktemp("scripted") / "home").layout
    layout.home.mkdir()
    now, ended, tries, others = START, None, [], 0
    with new_records(layout) as records:
        while len(tries) <= len(script) and now < START + 20 * LONGEST_PAUSE_S:
            now += TICK_S
            plan = records.plan(now=now)
            counted = sum(end in COUNTED for end in tries)
            if not plan.requests:
                expected = BuildDecision.EXHAUSTED if counted == MAX_ATTEMPTS else BuildDecision.WAITING
                assert plan.verdicts == {"shop": expected}
                if expected is BuildDecision.EXHAUSTED:
                    break
                # The ticks between say the same.
                now = max(now, plan.waits["shop"].until.timestamp() - TICK_S)
                continue
            # It was waited for as long as it had to be, and no longer than that and a tick.
            pause = pause_after(others) if others else 0.0
            assert counted < MAX_ATTEMPTS
            assert pause <= now - (ended or now - TICK_S) < max(pause, TICK_S) + 2 * TICK_S
            if len(tries) == len(script):
                break
            end = script[len(tries)]
            tries.append(end)
            others = 0 if end in COUNTED else others + 1
            run_id = records.begin("f1")
            ended = now
            records.fail(run_id, ENDS[end][0], at=now, reason=ENDS[end][1])

    assert tries == script or sum(end in COUNTED for end in tries) == MAX_ATTEMPTS


def crash(records: Records, exit_code: int, *, at: float = START) -> str:
    """A run whose process ended so, as the server that started it says it; how it is tagged after a look."""
    run = records.instance.get_run_by_id(records.begin("f1"))
    assert run
    message = get_run_crash_explanation(f"Run execution process for {run.run_id}", exit_code)
    records.instance.report_engine_event(message, run)
    records.fail(run.run_id, None, at=at)
    records.verdict(now=at + 1)
    found = records.instance.get_run_by_id(run.run_id)
    assert found
    return found.tags[FAULT_TAG]


def test_a_run_that_was_killed_or_could_not_record_its_end_is_waited_for(records: Records) -> None:
    assert crash(records, -signal.SIGKILL) == "machine: its process was killed, as for want of memory"
    assert records.verdict(now=START + 1) is BuildDecision.WAITING
    assert crash(records, 1, at=START + 100) == "shared part: database"
    assert records.verdict(now=START + 101) is BuildDecision.WAITING
    for _ in range(2 * MAX_ATTEMPTS):
        crash(records, -signal.SIGKILL)
    assert records.verdict(now=START + 2 * LONGEST_PAUSE_S) is BuildDecision.BUILD


def test_runs_whose_process_crashed_are_attempts(records: Records) -> None:
    assert [crash(records, -signal.SIGSEGV) for _ in range(MAX_ATTEMPTS)] == ["repository"] * MAX_ATTEMPTS
    assert records.verdict() is BuildDecision.EXHAUSTED


def test_a_run_that_failed_where_dagster_could_not_read_its_records_is_waited_for(records: Records) -> None:
    pytest.importorskip("psycopg2")
    run_id = records.begin("f1")
    try:
        sqlalchemy.create_engine(f"postgresql+psycopg2://a@127.0.0.1:{free_port()}/b").connect()
    except sqlalchemy.exc.OperationalError as error:
        info = serializable_error_info_from_exc_info((type(error), error, error.__traceback__))
    data = JobFailureData(error=info, failure_reason=RunFailureReason.RUN_EXCEPTION)
    records._say(run_id, dg.DagsterEventType.RUN_FAILURE, data=data, at=START)

    assert records.plan(now=START + 1).waits["shop"].fault == "shared part: database"


def test_a_pause_grows_and_is_bounded() -> None:
    assert [pause_after(faults) for faults in (1, 2, 3, 4, 5, 6, 7, 1000)] == [30, 60, 120, 240, 480, 900, 900, 900]


def test_a_tick_says_what_is_waited_for_and_until_when(records: Records) -> None:
    records.fail(records.begin("f1"), BUCKET, at=START)

    line = records.plan(now=START + 1).summary()

    assert line == ("1 waiting after a fault that is not theirs: shop: shared part: bucket, next try 22:13:50 UTC")
    assert records.verdict(now=START + 31) is BuildDecision.BUILD


def test_a_new_commit_does_not_wait_for_the_fault_that_ended_the_last_one(records: Records) -> None:
    records.fail(records.begin("f1"), BUCKET, at=START)

    assert records.verdict("f2", now=START + 1) is BuildDecision.BUILD


def test_a_clock_that_was_set_back_keeps_nobody_waiting(records: Records) -> None:
    records.fail(records.begin("f1"), BUCKET, at=START + 3600)

    assert records.verdict(now=START) is BuildDecision.BUILD


def test_a_fault_of_a_run_that_a_person_started_is_waited_for_too(records: Records) -> None:
    records.fail(records.begin(None, **{STATE_TAG: "f1"}), DISK, at=START)

    assert records.verdict(now=START + 1) is BuildDecision.WAITING


def test_what_a_person_cancelled_is_held_until_a_new_commit(records: Records) -> None:
    records.cancel(records.begin("f1"))

    plan = records.plan()

    assert (plan.requests, plan.verdicts) == ((), {"shop": BuildDecision.STOPPED})
    assert plan.summary() == (
        "1 stopped by hand: shop: stopped by hand: a new commit or `codesum retry KEY` starts it again"
    )
    assert records.verdict("f2") is BuildDecision.BUILD


def test_what_was_cancelled_in_the_queue_is_held_too(records: Records) -> None:
    records.cancel(records.begin("f1", status=dg.DagsterRunStatus.QUEUED))

    assert records.verdict() is BuildDecision.STOPPED


def test_a_run_that_a_person_started_ends_the_holding_and_the_counting(records: Records) -> None:
    records.cancel(records.begin("f1"))
    records.fail(records.begin(None), REPOSITORY, at=START)

    assert records.verdict() is BuildDecision.BUILD


def test_a_run_that_a_person_started_and_cancelled_is_held(records: Records) -> None:
    records.cancel(records.begin(None, **{STATE_TAG: "f1"}))

    assert records.verdict() is BuildDecision.STOPPED
    assert records.verdict("f2") is BuildDecision.BUILD


def test_one_that_was_cancelled_before_it_could_say_what_it_builds_is_held_until_something_changes(
    records: Records,
) -> None:
    records.cancel(records.begin(None, status=dg.DagsterRunStatus.QUEUED))

    assert [records.verdict(state) for state in ("f1", "f1", "f2", "f2")] == [
        BuildDecision.STOPPED,
        BuildDecision.STOPPED,
        BuildDecision.BUILD,
        BuildDecision.BUILD,
    ]


def test_a_run_that_took_too_long_is_not_cancelled_by_a_person(records: Records) -> None:
    records.cancel(records.begin("f1"), message="Canceling due to exceeding maximum runtime of 21600 seconds.")

    assert records.verdict() is BuildDecision.BUILD


def test_a_run_that_was_marked_as_cancelled_without_a_request_is_tried_again(records: Records) -> None:
    run = records.instance.get_run_by_id(records.begin("f1"))
    assert run
    records.instance.report_run_canceled(run)

    assert records.verdict() is BuildDecision.BUILD


def test_a_run_that_the_ui_executes_again_counts_as_started_by_a_person(records: Records) -> None:
    for _ in range(MAX_ATTEMPTS):
        failed = records.begin("f1")
        records.fail(failed, None, at=START)
    assert records.verdict() is BuildDecision.EXHAUSTED
    parent = records.instance.get_run_by_id(failed)
    assert parent
    again = records.add(tags=parent.tags, status=dg.DagsterRunStatus.STARTED, parent_run_id=failed, root_run_id=failed)
    records.fail(again.run_id, None, at=START)

    assert records.verdict() is BuildDecision.BUILD


def test_a_verification_between_two_attempts_changes_nothing(records: Records) -> None:
    for _ in range(MAX_ATTEMPTS):
        records.fail(records.begin("f1"), None, at=START)
    records.add(job_name="verify_indexes", tags={PARTITION_TAG: "shop"}, status=dg.DagsterRunStatus.SUCCESS)

    assert records.verdict() is BuildDecision.EXHAUSTED


@pytest.mark.slow
def test_an_index_that_dagster_has_no_run_for_is_not_built_again(
    register: Callable[[str], GitRepo],
    run_job: Callable[..., dg.ExecuteInProcessResult],
    look: Callable[..., dg.SensorResult],
    instance: dg.DagsterInstance,
) -> None:
    repo = register("shop")
    assert run_job("shop").success
    instance.wipe()
    for run in instance.get_runs():
        instance.delete_run(run.run_id)

    after_the_restore = look()
    repo.commit({"shop/new.py": "def f():\n    return 1\n"})

    assert after_the_restore.run_requests == []
    assert [request.partition_key for request in look().run_requests or ()] == ["shop"]


@pytest.mark.slow
def test_a_build_that_was_killed_before_it_was_recorded_is_built_again(
    register: Callable[[str], GitRepo],
    run_job: Callable[..., dg.ExecuteInProcessResult],
    look: Callable[..., dg.SensorResult],
    instance: dg.DagsterInstance,
) -> None:
    register("shop")
    assert run_job("shop").success
    instance.wipe_assets([dg.AssetKey("published_index")])

    assert [request.partition_key for request in look().run_requests or ()] == ["shop"]
