"""Work in several processes gives what work in one gives, and survives what one would not."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle
from pathlib import Path

import psutil
import pyarrow as pa
import pytest

from codesum_pipeline.foundation.data_model.errors import ProcessGone
from codesum_pipeline.foundation.worker_processes import pool as pools
from codesum_pipeline.foundation.worker_processes.child import start_child
from codesum_pipeline.foundation.worker_processes.pool import WINDOW, Pool, receive_message, send_message
from codesum_pipeline_tests.foundation.worker_processes.works import (
    CRASH,
    FAIL,
    HANG,
    CannotBeRead,
    Double,
    HasImported,
    WhereItRuns,
)

ROOT = Path(__file__).parents[3]
BATCHES = [[number, number + 1] for number in range(100)]


def double(batches: list[list[int]], *, workers: int) -> list[list[int | str]]:
    with Pool(workers) as pool:
        return list(pool.map(Double(os.getpid()), batches))


def test_any_number_of_workers_gives_the_same_results_in_the_same_order() -> None:
    expected = [[2 * number for number in batch] for batch in BATCHES]

    assert [double(BATCHES, workers=workers) for workers in (0, 1, 2, 3)] == [expected] * 4


def test_less_than_two_workers_are_none() -> None:
    with Pool(1) as pool:
        assert list(pool.map(WhereItRuns(), [1, 2])) == [os.getpid()] * 2
    with Pool(2) as pool:
        assert os.getpid() not in list(pool.map(WhereItRuns(), [1, 2]))


def test_what_kills_its_worker_is_named_and_nothing_else_is_lost() -> None:
    batches = [*BATCHES[:50], [7, CRASH, 8], *BATCHES[50:], [FAIL]]

    done = double(batches, workers=2)

    assert done[50] == [14, "by SIGSEGV", 16]
    assert done[-1] == ["with status 7"]
    assert [*done[:50], *done[51:-1]] == [[2 * number for number in batch] for batch in BATCHES]


def test_workers_that_cannot_begin_are_no_fault_of_their_batches() -> None:
    with (
        Pool(2) as pool,
        pytest.raises(ProcessGone, match=r"ended with status 1 before it began.*run the same command"),
    ):
        list(pool.map(CannotBeRead(), range(100)))


def test_batches_are_taken_as_they_are_needed() -> None:
    taken = []

    def batches() -> Iterator[list[int]]:
        for batch in BATCHES:
            taken.append(batch)
            yield batch

    with Pool(2) as pool:
        results = pool.map(Double(os.getpid()), batches())
        next(results)
        assert len(taken) == 2 * WINDOW


def test_a_pool_that_is_left_early_leaves_no_worker() -> None:
    # Tests before this one may have left a child of their own, such as multiprocessing's resource tracker.
    before = {*psutil.Process().children(recursive=True)}
    with Pool(2) as pool:
        next(pool.map(Double(os.getpid()), BATCHES))
        started = [child for child in psutil.Process().children(recursive=True) if child not in before]

    # Two workers and the process that they are forked from.
    assert (len(started), [worker for worker in started if worker.is_running()]) == (3, [])


def pids(*, keep: bool) -> set[int]:
    """The workers of a pool that leaves them to the next one, or ends them."""
    with Pool(2, keep=keep) as pool:
        return set(pool.map(WhereItRuns(), range(50)))


def running(pids: set[int]) -> set[int]:
    """Those that still run a moment later."""
    _, alive = psutil.wait_procs([psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)], timeout=5)
    return {process.pid for process in alive if process.status() != psutil.STATUS_ZOMBIE}


def test_what_workers_are_forked_from_ends_in_silence_once_nobody_waits(capfd: pytest.CaptureFixture[str]) -> None:
    process, ours = start_child(pools.WORKER)
    mine, theirs = socket.socketpair()
    with mine, theirs, Connection(ours.detach()) as parent:
        parent.send((Double(os.getpid()), []))
        parent.send(None)
        send_handle(parent, theirs.fileno(), process.pid)

    assert process.wait(timeout=60) == 0
    assert capfd.readouterr().err == ""


def test_workers_that_are_kept_work_for_the_next_pool_and_end_with_it() -> None:
    kept = pids(keep=True)

    assert pids(keep=False) <= kept
    assert running(kept) == set()


def test_workers_are_forked_with_what_their_later_work_is_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "wave"
    monkeypatch.setattr(pools, "_forked_with", set())
    with Pool(2) as pool:
        assert list(pool.map(HasImported(module), range(4))) == [False] * 4

    pools.fork_with(module)
    with Pool(2) as pool:
        assert list(pool.map(HasImported(module), range(4))) == [True] * 4


def test_a_pool_that_needs_no_workers_ends_those_that_were_kept() -> None:
    kept = pids(keep=True)

    with Pool(1):
        assert running(kept) == set()


def test_kept_workers_that_were_killed_meanwhile_are_replaced() -> None:
    kept = pids(keep=True)
    (crew,) = pools._resting
    os.kill(crew._process.pid, signal.SIGKILL)
    crew._process.wait()

    assert not pids(keep=False) & kept


def test_workers_that_a_thread_kept_and_left_are_replaced() -> None:
    with ThreadPoolExecutor(1) as thread:
        kept = thread.submit(pids, keep=True).result()

    assert pids(keep=False)
    assert running(kept) == set()


def test_a_slice_of_a_table_is_sent_without_the_rest(tmp_path: Path) -> None:
    table = pa.table({"text": ["x" * 1000] * 1000})

    with (tmp_path / "sent").open("wb") as pipe:
        send_message({"some": table.slice(500, 2)}, pipe)

    assert (tmp_path / "sent").stat().st_size < 10_000
    with (tmp_path / "sent").open("rb") as pipe:
        assert receive_message(pipe) == {"some": table.slice(500, 2)}


@pytest.mark.parametrize(
    "how",
    [signal.SIGKILL, *(pytest.param(how, marks=pytest.mark.slow) for how in (signal.SIGINT, signal.SIGTERM))],
    ids=lambda how: how.name,
)
def test_no_worker_outlives_the_process_that_started_it(how: signal.Signals) -> None:
    program = (
        "from codesum_pipeline_tests.foundation.worker_processes.test_pool import *\n"
        f"double([*BATCHES, [{HANG}]], workers=2)\n"
    )
    running = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.DEVNULL)
    workers = _wait_for_workers(running.pid, 3)
    running.send_signal(how)
    running.wait(timeout=60)

    gone, alive = psutil.wait_procs(workers, timeout=60)
    assert (len(gone), alive) == (3, [])


def _wait_for_workers(pid: int, count: int) -> list[psutil.Process]:
    """The workers of a process, once they have had time to take a batch."""
    parent = psutil.Process(pid)
    for _ in range(600):
        workers = parent.children(recursive=True)
        if len(workers) == count:
            time.sleep(1)
            return workers
        time.sleep(0.1)
    raise AssertionError(f"{parent} started {len(parent.children(recursive=True))} workers")
