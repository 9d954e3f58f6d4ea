"""Parsing in several processes gives what parsing in one gives, and survives what one would not."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from codesum_pipeline.model.options import HashPolicy
from codesum_pipeline.parsing import pool
from codesum_pipeline.parsing.batches import Failure, Rows, SourceText
from codesum_pipeline.parsing.pool import in_batches, parse_all

ROOT = Path(__file__).parents[2]
DEADLY = "codesum_pipeline_tests.parsing.deadly_worker"
CANONICAL = HashPolicy.CANONICAL

FILES = [
    SourceText(f"m{number:04}.py", "python", f"b{number}", b"def f(a):\n    return a + %d\n" % number)
    for number in range(700)
]
ODD = [
    SourceText("gone.py", "python", "b", None),
    SourceText("text.md", "markdown", "b", b"# Title\n"),
    SourceText("broken.py", "python", "b", b"def (:\n"),
]


def parse(
    files: list[SourceText], *, workers: int, total_bytes: int = pool.LEAST_BYTES, module: str = pool.WORKER
) -> tuple[Rows, list[Failure]]:
    parts = list(parse_all(files, CANONICAL, total_bytes=total_bytes, workers=workers, worker_module=module))
    return Rows.joined(part.rows for part in parts), [failure for part in parts for failure in part.failures]


def test_any_number_of_workers_gives_the_same_rows_in_the_same_order() -> None:
    rows, failures = parse(FILES + ODD, workers=1)
    in_processes, failures_in_processes = parse(FILES + ODD, workers=3)

    assert rows.facts["file_path"].to_pylist() == [file.path for file in FILES + ODD if file.data is not None]
    assert in_processes.symbols.equals(rows.symbols)
    assert in_processes.facts.equals(rows.facts)
    assert failures_in_processes == failures == [("gone.py", "unreadable: blob b is not in the mirror")]


def test_a_file_that_kills_its_worker_is_a_failure_and_no_other_file_is() -> None:
    deadly = [SourceText(f"deadly{number}.py", "python", "b", b"crash\n") for number in range(2)]
    files = [*FILES[:250], deadly[0], *FILES[250:500], deadly[1], *FILES[500:]]

    rows, failures = parse(files, workers=2, module=DEADLY)

    expected, _ = parse(FILES, workers=1)
    assert failures == [(file.path, "the parser ended: by SIGSEGV") for file in deadly]
    assert rows.symbols.equals(expected.symbols)


def test_a_small_job_starts_no_process() -> None:
    _, failures = parse([SourceText("a.py", "python", "b", b"crash\n")], workers=2, total_bytes=6, module=DEADLY)

    assert failures == []


def test_a_batch_is_bounded_in_files_and_in_bytes() -> None:
    large = SourceText("large.py", "python", "b", b"x" * pool.BATCH_BYTES)

    assert [len(batch) for batch in in_batches(FILES)] == [200, 200, 200, 100]
    assert [len(batch) for batch in in_batches([FILES[0], large, large, FILES[1]])] == [2, 1, 1]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda how: how.name)
def test_no_worker_outlives_the_process_that_started_it(how: signal.Signals) -> None:
    program = (
        "from codesum_pipeline_tests.parsing.test_pool import *\n"
        "parse(FILES + [SourceText('h.py', 'python', 'b', b'hang\\n')], workers=2, module=DEADLY)\n"
    )
    running = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.DEVNULL)
    workers = _wait_for_workers(running.pid, 2)
    running.send_signal(how)
    running.wait(timeout=60)

    gone, alive = psutil.wait_procs(workers, timeout=60)
    assert (len(gone), alive) == (2, [])


def _wait_for_workers(pid: int, count: int) -> list[psutil.Process]:
    parent = psutil.Process(pid)
    for _ in range(600):
        workers = parent.children()
        if len(workers) == count:
            time.sleep(3)
            return workers
        time.sleep(0.1)
    raise AssertionError(f"{parent} started {len(parent.children())} workers")
