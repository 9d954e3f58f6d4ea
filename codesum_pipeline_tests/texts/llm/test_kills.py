"""A run that is killed at any moment is gone on with by the next, and nothing is paid twice."""

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, LedgerRow
from codesum_pipeline.texts.llm.ledger import open_ledger
from codesum_pipeline_tests.support.commands import environment
from codesum_pipeline_tests.support.llm_server import ServerProcess, read_log
from codesum_pipeline_tests.support.settings import changed
from codesum_pipeline_tests.texts.llm.killable_run import PlainBackend, hashes_of, run
from codesum_pipeline_tests.texts.llm.making import SETTINGS, noon
from codesum_pipeline_tests.texts.llm.sharing import workers_of

DOCUMENTS = 500
CONCURRENCY = 16
DELAY_S = 0.03


def start(home: Path, base: str, count: int, client: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "codesum_pipeline_tests.texts.llm.killable_run"]
    return subprocess.Popen(
        [*command, str(home), base, str(count), str(CONCURRENCY), client],
        env=environment(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for(log: Path, lines: int, process: subprocess.Popen[str]) -> None:
    """Until the server has written so many lines (two for each answered request), or the run is over."""
    while process.poll() is None and (not log.exists() or log.read_bytes().count(b"\n") < lines):
        time.sleep(0.005)


def requests_by_document(log: Path) -> Counter[str]:
    """How often the server was asked for each document."""
    prompts = [request.body["messages"][1]["content"] for request in read_log(log)]
    return Counter(f"a.py::{prompt.split()[2].rstrip('.')}" for prompt in prompts)


def rows_of(home: Path) -> list[LedgerRow]:
    with open_ledger(home / "shop.sqlite", run_id="reader", now=noon) as ledger:
        return ledger.rows()


def must_survive(
    folder: Path, moments: list[int], *, count: int = DOCUMENTS, client: str = "plain",
    by: signal.Signals = signal.SIGKILL,
) -> int:  # fmt: skip
    """Kill a run whenever the server has written so many lines, let it end, and check the books; how many kills hit."""
    home, log, ends = folder / "home", folder / "log.jsonl", []
    with ServerProcess(log=log, delay_s=DELAY_S) as server:
        for moment in moments:
            process = start(home, server.base, count, client)
            wait_for(log, moment, process)
            workers = workers_of(process.pid) if process.poll() is None else []
            process.send_signal(by)
            process.communicate(timeout=60)
            assert psutil.wait_procs(workers, timeout=60)[1] == []
            ends.append(process.returncode)
        last = start(home, server.base, count, client)
        output, _ = last.communicate(timeout=250)
        settings = changed(SETTINGS, concurrency=CONCURRENCY)
        undisturbed = run(folder / "undisturbed", count, settings, lambda: PlainBackend(server.base))
    kills = ends.count(-by)

    assert [tuple(each) for each in json.loads(output)] == hashes_of(undisturbed)
    requests = requests_by_document(log)
    requests.subtract({f"a.py::f{number}": 1 for number in range(1, count + 1)})
    must_agree(rows_of(home), requests, count, kills)
    return kills


def must_agree(rows: list[LedgerRow], requests: Counter[str], count: int, kills: int) -> None:
    """The same calls stand in the ledger and in the server's log; of those that a kill cut off, all that came."""
    good = Counter(row.id for row in rows if row.outcome is AttemptOutcome.GOOD)
    cut_off = Counter(row.id for row in rows if row.outcome is AttemptOutcome.INTERRUPTED)

    assert good == {f"a.py::f{number}": 1 for number in range(1, count + 1)}
    assert len(rows) == count + cut_off.total()
    assert cut_off.total() <= kills * CONCURRENCY
    assert all(1 <= times <= 1 + cut_off[id_] for id_, times in requests.items())
    assert requests.total() <= count + cut_off.total()
    for row in rows:
        assert row.is_estimated == (row.outcome is AttemptOutcome.INTERRUPTED)
        assert row.cost_usd == row.reserved_usd or not row.is_estimated


def moments(chance: random.Random, count: int) -> list[int]:
    """Of the lines that an undisturbed run gives, some, in order."""
    return sorted(chance.sample(range(1, 2 * DOCUMENTS), count))


@pytest.mark.slow
def test_a_run_that_is_killed_three_times_pays_only_for_what_was_in_flight(tmp_path: Path) -> None:
    assert must_survive(tmp_path, moments(random.Random(1), 3)) == 3


def test_a_run_that_is_told_to_end_closes_its_books_first(tmp_path: Path) -> None:
    assert must_survive(tmp_path, [60], count=60, by=signal.SIGTERM) == 1


@pytest.mark.slow
def test_the_workers_of_a_run_that_is_killed_end_with_it_and_the_next_run_closes_its_books(tmp_path: Path) -> None:
    assert must_survive(tmp_path, [60], count=60, client="shared") == 1


@pytest.mark.slow
def test_a_run_with_workers_that_is_told_to_end_closes_its_books_first(tmp_path: Path) -> None:
    assert must_survive(tmp_path, [60], count=60, client="shared", by=signal.SIGTERM) == 1


@pytest.mark.slow
def test_a_run_that_is_killed_a_hundred_times_pays_only_for_what_was_in_flight(tmp_path: Path) -> None:
    assert must_survive(tmp_path, moments(random.Random(2), 110)) >= 100


@pytest.mark.slow
def test_a_run_through_litellm_that_is_killed_pays_only_for_what_was_in_flight(tmp_path: Path) -> None:
    assert must_survive(tmp_path, moments(random.Random(3), 5), client="litellm") == 5
