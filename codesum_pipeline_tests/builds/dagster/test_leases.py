"""Two builds of one repository never mix, whoever starts them."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.tags import HIDDEN_TAG_PREFIX
from msgspec.structs import replace

import codesum_pipeline
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.companion import index_repositories
from codesum_pipeline.builds.dagster.control import end_vanished_runs, run_history
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.builds.dagster.resource import holder_of, process_tags
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.data_model.errors import LeaseHeld
from codesum_pipeline.foundation.store.lease import current_holder, hold_lease, this_process
from codesum_pipeline_tests.foundation.store.test_lease import containers_can_be_made, in_a_container
from codesum_pipeline_tests.support.repositories import GitRepo

Register = Callable[[str], GitRepo]

HOLD = """
    import sys, time
    from pathlib import Path
    from codesum_pipeline.foundation.store.lease import hold_lease
    with hold_lease(Path(sys.argv[1]), key=sys.argv[2], run_id="someone-elses-run"):
        print("held", flush=True)
        time.sleep(120)
"""

INDEX = """
    import dagster, sys, time
    from codesum_pipeline.builds.dagster.companion import index_repositories
    from codesum_pipeline_tests.support.homes import open_home
    def slowly(doing, done, total):
        print("held", flush=True)
        time.sleep(120)
    index_repositories(open_home(sys.argv[1]), [sys.argv[2]], progress=slowly)
"""


@contextmanager
def process(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Another Python process that has said "held"."""
    running = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(codesum_pipeline.__file__).parent.parent)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stdout is not None and running.stdout.readline() == "held\n"
        yield running
    finally:
        running.kill()
        running.wait()
        if running.stdout:
            running.stdout.close()


def test_a_run_that_finds_the_lease_taken_fails_with_the_holders_name(register: Register, home: Home) -> None:
    register("shop")

    with process(HOLD, home.layout.state("shop"), "shop") as other:
        (outcome,) = index_repositories(home, ["shop"])

    assert (outcome.succeeded, outcome.error) == (False, LeaseHeld)
    assert f"being built by process {other.pid}" in outcome.message
    assert "run someone-elses-run" in outcome.message


def test_the_lease_is_held_from_the_first_step_to_the_last_and_then_free(register: Register, home: Home) -> None:
    register("shop")
    holders: list[str] = []

    def look(doing: str, done: int, total: int) -> None:
        holder = current_holder(home.layout.state("shop"))
        holders.append(holder.run_id if holder else "nobody")

    (outcome,) = index_repositories(home, ["shop"], progress=look)

    assert set(holders) == {outcome.run_id}
    assert current_holder(home.layout.state("shop")) is None


def test_a_failed_run_gives_its_lease_back(register: Register, home: Home) -> None:
    repo = register("shop")
    repo.path.rename(repo.path.with_name("elsewhere"))

    index_repositories(home, ["shop"])

    assert current_holder(home.layout.state("shop")) is None


def test_an_interrupt_gives_the_lease_back_and_cancels_the_run(register: Register, home: Home) -> None:
    register("shop")

    def interrupt(doing: str, done: int, total: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.5)

    with pytest.raises(KeyboardInterrupt):
        index_repositories(home, ["shop"], progress=interrupt)

    assert current_holder(home.layout.state("shop")) is None
    assert [run.status for run in run_history(home, "shop")] == ["CANCELED"]


@pytest.mark.slow
def test_a_run_whose_process_lives_is_left_alone_and_a_killed_one_is_marked_as_failed_and_taken_over(
    register: Register, home: Home
) -> None:
    for key in ("shop", "other"):
        register(key)

    with process(INDEX, home.layout.home, "shop") as running:
        assert end_vanished_runs(home) == []
        (beside,) = index_repositories(home, ["other"])
        assert running.poll() is None
        assert [run.status for run in run_history(home, "shop")] == ["STARTED"]
    left = [run.status for run in run_history(home, "shop")]
    (outcome,) = index_repositories(home, ["shop"])

    assert beside.succeeded, beside.message
    assert left == ["STARTED"]
    assert outcome.succeeded, outcome.message
    assert [run.status for run in run_history(home, "shop")] == ["SUCCESS", "FAILURE"]


def test_a_run_that_an_earlier_version_tagged_is_marked_as_failed_too(home: Home) -> None:
    gone = {"pid": "1", "process_started": "0.5", "boot_id": "of another boot", "host": socket.gethostname()}
    tags = {f"codesum/{name}": value for name, value in gone.items()}
    job = build_defs({"home": home.settings.home}).resolve_job_def("index_repository")

    with open_instance(home.layout) as instance:
        run = instance.create_run_for_job(job, tags=tags, status=dg.DagsterRunStatus.STARTED)
        ended = end_vanished_runs(home)
        message = last_message(instance, run.run_id)

    assert ended == [run.run_id]
    assert message == f"process 1 on {socket.gethostname()} ended without a word"


def test_a_repeated_run_is_not_ended_for_the_process_of_the_run_before_it(home: Home) -> None:
    """Dagster copies the tags of a run to its retry and to its re-execution."""
    job = build_defs({"home": home.settings.home}).resolve_job_def("index_repository")
    gone = replace(this_process("to be said"), pid=1, process_started=0.5)

    with open_instance(home.layout) as instance:
        first = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
        instance.add_run_tags(first.run_id, process_tags(replace(gone, run_id=first.run_id)))
        assert end_vanished_runs(home) == [first.run_id]
        ended = instance.get_run_by_id(first.run_id)
        assert ended is not None
        again = instance.create_run_for_job(
            job,
            tags=ended.tags,
            status=dg.DagsterRunStatus.STARTED,
            parent_run_id=ended.run_id,
            root_run_id=ended.run_id,
        )
        assert end_vanished_runs(home) == []
        instance.add_run_tags(again.run_id, process_tags(replace(gone, run_id=again.run_id)))
        assert end_vanished_runs(home) == [again.run_id]


def last_message(instance: dg.DagsterInstance, run_id: str) -> str:
    (*_, last) = instance.all_logs(run_id)
    return last.message or last.user_message


def test_the_list_of_runs_shows_no_tag_that_names_a_process(built_home: Home) -> None:
    with open_instance(built_home.layout) as instance:
        (run,) = instance.get_runs()
    shown = [name for name in run.tags if not name.startswith((HIDDEN_TAG_PREFIX, "dagster/"))]

    assert sorted(shown) == ["codesum/commit", "codesum/files_changed", "codesum/started_by", "codesum/texts_rewritten"]
    assert holder_of(run) is not None


@pytest.mark.slow
@pytest.mark.skipif(not containers_can_be_made(), reason="needs a user who may make a PID namespace")
def test_a_run_in_another_container_is_left_alone_while_its_process_lives(register: Register, home: Home) -> None:
    register("shop")
    command = in_a_container(textwrap.dedent(INDEX), home.layout.home, "shop")
    running = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(Path(codesum_pipeline.__file__).parent.parent)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None and running.stdout.readline() == "held\n"

    assert end_vanished_runs(home) == []
    running.kill()
    running.wait()
    running.stdout.close()

    (ended,) = run_history(home, "shop")
    assert ended.status == "STARTED"
    # The process in the container ends a moment after the one that made it.
    deadline = time.monotonic() + 30
    while not (vanished := end_vanished_runs(home)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert vanished == [ended.run_id]


@pytest.mark.slow
def test_steps_in_processes_of_their_own_are_refused(home: Home, register: Register, tmp_path: Path) -> None:
    register("shop")
    job = dg.reconstructable(multiprocess_job)

    with open_instance(home.layout) as instance, pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODESUM_HOME", str(home.layout.home))
        instance.add_dynamic_partitions("codesum_repos", ["shop"])
        run_id = dg.execute_job(job, instance, tags={"dagster/partition": "shop"}).run_id
        errors = [
            entry.get_dagster_event().step_failure_data.error
            for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
        ]

    assert "use dagster.in_process_executor" in str(errors[0])


def multiprocess_job() -> dg.JobDefinition:
    """The assets under an executor that Dagster would use by default."""
    from codesum_pipeline.builds.dagster.assets import ASSETS
    from codesum_pipeline.builds.dagster.resource import IN_MEMORY, BuildRequest, CodesumResource, RunHost

    definitions = dg.Definitions(
        assets=ASSETS,
        jobs=[dg.define_asset_job("steps_apart", executor_def=dg.multiprocess_executor)],
        resources={"codesum": CodesumResource(host=RunHost(), duckdb=IN_MEMORY), "request": BuildRequest()},
    )
    return definitions.resolve_job_def("steps_apart")


def test_a_lease_of_this_process_is_respected_too(register: Register, home: Home) -> None:
    register("shop")

    with hold_lease(home.layout.state("shop"), key="shop", run_id="mine"):
        (outcome,) = index_repositories(home, ["shop"])

    assert outcome.error is LeaseHeld
