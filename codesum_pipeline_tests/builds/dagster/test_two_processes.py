"""A build from the command line is carried out by one process and recorded by another."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.asset_steps import last_materialization
from codesum_pipeline.builds.dagster.assets import ASSETS
from codesum_pipeline.builds.dagster.companion import _RunServer, index_repositories
from codesum_pipeline.builds.dagster.control import end_vanished_runs, run_history
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline.builds.reports.exchange import BuilderMethod, BuilderRequest, FailureMessage, RemoteBuilder, Reply
from codesum_pipeline.foundation.data_model.errors import LeaseHeld, ProcessGone
from codesum_pipeline.foundation.store.lease import current_holder, hold_lease, this_process
from codesum_pipeline_tests.support.commands import COMMAND, environment, fork_codesum, run_codesum
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.sizes import HIGH, run_with_sizes

# What differs between two runs that do the same: times are in a version's files and so in its digest.
OF_THE_RUN = {"seconds", "digest", "folder"}
PATIENCE_S = 240.0


def wait_for(holds: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE_S
    while not (found := holds()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.1)
    return found


def statuses(home: Home) -> list[str]:
    return [run.status for run in run_history(home, "shop")]


def child_of(process: subprocess.Popen[str]) -> int:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    (child,) = (int(each) for each in children if "recorder" in Path(f"/proc/{each}/cmdline").read_text())
    return child


def is_running(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


@contextmanager
def waiting_build(home: Home, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], ExitStack]]:
    """`codesum index` that waits for its lease, and what frees it; its run has begun."""
    with ExitStack() as lease:
        lease.enter_context(hold_lease(home.layout.state("shop"), key="shop", run_id="another"))
        running = subprocess.Popen(
            [*COMMAND, "--home", str(home.layout.home), "index", "shop"],
            cwd=tmp_path,
            env=environment({"CODESUM_LEASE_WAIT_S": f"{PATIENCE_S:.0f}"}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            wait_for(lambda: home.layout.dagster_home.exists() and "STARTED" in statuses(home))
            yield running, lease
        finally:
            running.kill()
            running.communicate()


def recorded(home: Home) -> dict[str, Any]:
    """What Dagster keeps of the last materialisation of each asset, and of each check."""
    with open_instance(home.layout) as instance:
        made = {asset.key.to_user_string(): last_materialization(instance, asset.key, "shop") for asset in ASSETS}
        checks = {
            evaluation.check_name: (evaluation.passed, evaluation.description, evaluation.blocking)
            for asset in ASSETS
            for record in instance.get_records_for_run(
                instance.get_runs(limit=1)[0].run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION
            ).records
            for evaluation in [record.event_log_entry.get_dagster_event().asset_check_evaluation_data]
        }
    return {
        "checks": checks,
        **{
            name: (
                {
                    entry: value
                    for entry, value in one.metadata.items()
                    if entry not in OF_THE_RUN and (name, entry) != ("index_candidate", "preview")
                },
                {tag: value for tag, value in (one.tags or {}).items() if "input" not in tag},
            )
            for name, one in made.items()
            if one
        },
    }


@pytest.mark.slow
def test_both_ways_build_and_record_the_same(register: Callable[[str], GitRepo], home: Home, tmp_path: Path) -> None:
    repo = register("shop")
    apart = open_home(tmp_path / "apart")
    built = fork_codesum("--home", apart.layout.home, "index", repo.path, "--key", "shop", "--json", cwd=tmp_path)
    assert built.returncode == 0, built.stderr

    (outcome,) = index_repositories(home, ["shop"])

    assert recorded(apart) == recorded(home)
    numbers = json.loads(built.stdout)["steps"]
    assert {step: {**of, "seconds": 0} for step, of in numbers.items()} == {
        step: {**of, "seconds": 0} for step, of in outcome.numbers.items()
    }


@pytest.mark.parametrize("documents", [0, HIGH], ids=["many", "few"])
def test_checks_and_previews_that_two_threads_make_do_not_meet(
    register: Callable[[str], GitRepo], home: Home, tmp_path: Path, documents: int
) -> None:
    """Of many documents the first thread checks tables while the second shows them; of few the second does both."""
    keys = ["shop", "shed", "barn"]
    for key in keys:
        register(key)

    done = run_with_sizes(
        {"foundation.store.memory:MANY_DOCUMENTS": documents}, "--home", home.layout.home, "index", *keys, cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    assert [run.status for key in keys for run in run_history(home, key)] == ["SUCCESS"] * 3


def test_an_interrupt_while_the_second_thread_is_waited_for_ends_its_work() -> None:
    ended: list[str] = []
    server = _RunServer(builder=None, recorder=None, until_end=ExitStack())  # type: ignore[arg-type]

    def work() -> None:
        interrupt = threading.Timer(0.2, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT])
        interrupt.start()
        assert server.is_stopped.wait(20)
        ended.append("the work")

    beside: list[Future[Any]] = []
    with pytest.raises(KeyboardInterrupt), server._second_thread(beside) as second:
        beside += [second.submit(work), second.submit(ended.append, "what was to come after it")]

    assert ended == ["the work"]
    assert beside[1].cancelled()


@pytest.mark.slow
def test_a_build_that_is_killed_leaves_no_process_and_a_failed_run(
    register: Callable[[str], GitRepo], home: Home, tmp_path: Path
) -> None:
    register("shop")
    with waiting_build(home, tmp_path) as (running, _):
        child = child_of(running)
        # As it is while a parser is at work.
        home.layout.parsing("shop").parent.mkdir(parents=True)
        home.layout.parsing("shop").write_text("")
        running.kill()
        running.wait()

        wait_for(lambda: not is_running(child))
        assert running.stderr is not None
        assert "shop: the build was killed while it parsed: run the same command again" in running.stderr.read()
        assert statuses(home) == ["FAILURE"]

    done = run_codesum("--home", home.layout.home, "index", "shop", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert statuses(home) == ["SUCCESS", "FAILURE"]


@pytest.mark.slow
def test_where_the_recording_process_is_killed_the_next_command_records(
    register: Callable[[str], GitRepo], home: Home, tmp_path: Path
) -> None:
    register("shop")
    with waiting_build(home, tmp_path) as (running, lease):
        os.kill(child_of(running), signal.SIGKILL)
        lease.close()
        _, output = running.communicate(timeout=PATIENCE_S)

    assert running.returncode == 1
    assert "codesum: the process that records in Dagster ended with status -9" in output
    assert current_holder(home.layout.state("shop")) is None
    assert len(end_vanished_runs(home)) == 1
    done = fork_codesum("--home", home.layout.home, "index", "shop", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert statuses(home) == ["SUCCESS", "FAILURE"]


@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM], ids=lambda by: by.name)
def test_an_ended_build_takes_its_recorder_with_it(
    register: Callable[[str], GitRepo], home: Home, tmp_path: Path, by: signal.Signals
) -> None:
    register("shop")
    with waiting_build(home, tmp_path) as (running, _):
        child = child_of(running)
        running.send_signal(by)
        running.wait(PATIENCE_S)

        wait_for(lambda: not is_running(child))
    assert statuses(home) == ["CANCELED" if by is signal.SIGINT else "FAILURE"]


@pytest.mark.slow
def test_a_repository_that_cannot_be_reached_at_first_is_asked_again(
    register: Callable[[str], GitRepo], home: Home, tmp_path: Path
) -> None:
    head = register("shop").path / ".git" / "HEAD"
    aside = head.rename(head.with_name("aside"))
    running = subprocess.Popen(
        [*COMMAND, "--home", str(home.layout.home), "index", "shop"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    def has_failed_once() -> bool:
        if not home.layout.dagster_home.exists():
            return False
        with open_instance(home.layout) as instance:
            return any(
                instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.STEP_UP_FOR_RETRY).records
                for run in instance.get_runs()
            )

    wait_for(has_failed_once)
    aside.rename(head)
    _, output = running.communicate(timeout=PATIENCE_S)

    assert running.returncode == 0, output
    assert statuses(home) == ["SUCCESS"]


def test_nothing_of_the_folder_that_a_build_is_started_in_is_imported(
    register: Callable[[str], GitRepo], home: Home, tmp_path: Path
) -> None:
    register("shop")
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in ("dagster.py", "sqlalchemy.py", "pickle.py", "socket.py", "sitecustomize.py"):
        (folder / name).write_text("import pathlib\npathlib.Path(__file__ + '.was-run').touch()\nraise SystemExit(9)\n")
    script = [COMMAND[0], "-P", "-c", "from codesum_pipeline.cli import main; main()"]

    done = subprocess.run(
        [*script, "--home", str(home.layout.home), "index", "shop"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=240,
    )

    assert done.returncode == 0, done.stderr
    assert not list(folder.glob("*.was-run"))


def test_nothing_is_built_upon_what_a_check_finds_wrong(copied_home: Home, tmp_path: Path) -> None:
    home = copied_home
    published = home.layout.published("shop").readlink()
    documents = home.tables.read("documents", "shop")
    home.tables.write("documents", "shop", documents.slice(1))
    # The step's memo says that this is what it wrote.
    memo = home.layout.memos("shop") / "summary_documents.json"
    content = json.loads(memo.read_text())
    content["tables"]["documents"] = home.tables.content_hash("documents", "shop")
    memo.write_text(json.dumps(content))

    done = fork_codesum("--home", home.layout.home, "index", "shop", cwd=tmp_path)

    assert done.returncode == 1
    assert "check no_orphans of summary_documents failed" in done.stderr
    assert home.layout.published("shop").readlink() == published
    assert statuses(home)[0] == "FAILURE"


def test_an_error_crosses_with_its_kind_message_and_traceback() -> None:
    def fail(error: Exception) -> FailureMessage:
        try:
            raise error
        except Exception as raised:
            return FailureMessage.of(raised)

    class Foreign(Exception):
        def __reduce__(self) -> str:
            raise TypeError("cannot be packed")

    for error, kind, message in [
        (LeaseHeld("held by 1"), LeaseHeld, "held by 1"),
        (KeyError("x"), KeyError, "'x'"),
        (Foreign("odd"), RuntimeError, "Foreign: odd"),
    ]:
        with pytest.raises(kind) as raised:
            fail(error).raise_again()
        assert str(raised.value) == message
        assert "in fail\n" in str(raised.value.__cause__)


def test_a_builder_that_ends_is_named() -> None:
    from multiprocessing import Pipe

    ours, theirs = Pipe()
    builder = RemoteBuilder(ours, this_process("run"))
    theirs.send(Reply(BuilderRequest(BuilderMethod.BUILT_FROM), "commit"))
    theirs.close()

    assert builder.built_from() == "commit"
    with pytest.raises(ProcessGone, match=f"process {os.getpid()}"):
        builder.show("symbols")


def test_the_process_that_records_imports_no_stage() -> None:
    code = (
        "from codesum_pipeline.builds.reports import build_values as values\n"
        "from codesum_pipeline.builds.steps.known_facts import STAGE_FACTS\n"
        "from collections import defaultdict\n"
        "assets = defaultdict(lambda: values.AssetFacts('1', 'files', ()))\n"
        "STAGE_FACTS.use(values.StageFacts(assets, defaultdict(tuple)))\n"
        "from codesum_pipeline.builds.dagster import runs\n"
        "import sys; print(sorted({'pyarrow', 'codesum_pipeline.builds.codesum_home.wiring'} & set(sys.modules)))"
    )

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout == "[]\n"
