"""Worker processes make the calls: texts, books, caps and failures are as without them."""

import logging
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import Gate, Level
from codesum_pipeline.foundation.data_model.errors import CallFailure
from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, LedgerRow
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings, ModelPrice
from codesum_pipeline.texts.llm.backend import SummaryBackend
from codesum_pipeline.texts.llm.backends import LiteLlmBackend
from codesum_pipeline.texts.llm.ledger import Caps, open_ledger
from codesum_pipeline.texts.llm.text_cache import AnswerCache
from codesum_pipeline.texts.llm.writing_run import TaskOutcome, write_all
from codesum_pipeline_tests.support.llm_requests import KEY, KEY_VARIABLE, settings_for
from codesum_pipeline_tests.support.llm_server import Answers, Fails, ScriptedServer
from codesum_pipeline_tests.support.llm_server.model_requests import ModelRequest
from codesum_pipeline_tests.texts.llm.killable_run import TEMPLATE, prompt_of
from codesum_pipeline_tests.texts.llm.making import WORST_USD, cache_in, noon, price_of, task
from codesum_pipeline_tests.texts.llm.sharing import SharingBackend, workers_of

# As `price_of` has it.
PRICES = ModelPrice(model="openai/gpt-4o-mini", input=100.0, output=100.0)
NO_CAP = Caps(1_000, None)
New = Callable[[LlmSettings], SummaryBackend]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)


def alone(settings: LlmSettings) -> SummaryBackend:
    return LiteLlmBackend(settings, {Level.FUNCTION: TEMPLATE})


def shared(settings: LlmSettings) -> SummaryBackend:
    return SharingBackend(settings, {Level.FUNCTION: TEMPLATE})


def write(
    folder: Path, server: ScriptedServer, count: int, *, new: New = shared, caps: Caps = NO_CAP, **changes: Any
) -> tuple[list[TaskOutcome], list[LedgerRow]]:
    """The outcomes of so many functions, and the ledger."""
    settings = settings_for(server, prices=(PRICES,), **changes)
    tasks = [task(number, prompt=prompt_of(number)) for number in range(1, count + 1)]
    with open_ledger(folder / "shop.sqlite", run_id="run", now=noon) as ledger:
        outcomes = write_all(
            tasks, new_backend=lambda: new(settings), ledger=ledger, cache=cache_in(folder), caps=caps,
            price_of=price_of, settings=settings,
        )  # fmt: skip
        return outcomes, ledger.rows()


def kept_in(folder: Path, count: int) -> Any:
    cache: AnswerCache = cache_in(folder)
    return cache.find_many((f"exact-{number}", f"body-{number}") for number in range(1, count + 1))


@pytest.mark.slow
def test_texts_costs_ledger_and_cache_are_the_same_with_and_without_workers(tmp_path: Path) -> None:
    def script(call: ModelRequest) -> Answers | Fails:
        """Some are refused once, some answer what cannot be taken."""
        if call.number == 5:
            return Fails(400, "no such thing")
        return Answers("{}") if call.number == 9 else Answers()

    found = []
    for new in (alone, shared):
        folder = tmp_path / new.__name__
        with ScriptedServer(script) as server:
            outcomes, rows = write(folder, server, 20, new=new, concurrency=1)
        bodies = [call.body for call in server.seen]
        found.append((outcomes, [replace(row, latency_s=0.0) for row in rows], kept_in(folder, 20), bodies))

    assert found[0] == found[1]
    outcomes, rows, *_ = found[1]
    assert [outcome.id for outcome in outcomes if outcome.text is None] == ["a.py::f5"]
    assert [row.outcome for row in rows].count(AttemptOutcome.INVALID) == 1


@pytest.mark.slow
def test_a_cap_of_documents_holds_to_the_call_with_workers(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        outcomes, rows = write(tmp_path, server, 30, caps=Caps(11, None), concurrency=8)

    assert (len(server.seen), len(rows), sum(outcome.text is not None for outcome in outcomes)) == (11, 11, 11)
    assert {outcome.gate for outcome in outcomes if outcome.text is None} == {Gate.CAP}


@pytest.mark.slow
def test_a_cap_in_dollars_holds_with_workers_and_is_used(tmp_path: Path) -> None:
    # Room for the most that five calls can cost; they cost less, so that more of them fit.
    usd = 5 * WORST_USD
    with ScriptedServer() as server:
        outcomes, rows = write(tmp_path, server, 400, caps=Caps(400, usd), concurrency=8)

    assert usd - WORST_USD < sum(row.cost_usd for row in rows) <= usd
    assert {outcome.gate for outcome in outcomes if outcome.text is None} == {Gate.CAP}
    assert len(server.seen) == len(rows) > 5


class Observed:
    """What a server's thread sees of this process's workers whenever a request comes."""

    def __init__(self) -> None:
        self.workers: list[list[psutil.Process]] = []
        self.command_lines: set[str] = set()
        self.sessions: set[int] = set()

    def look(self) -> None:
        found = workers_of()
        self.workers.append(found)
        self.command_lines |= {" ".join(worker.cmdline()) for worker in found}
        self.sessions |= {os.getsid(worker.pid) for worker in found}


def test_a_small_run_starts_no_worker(tmp_path: Path) -> None:
    seen = Observed()

    def script(_call: ModelRequest) -> Answers:
        seen.look()
        return Answers()

    with ScriptedServer(script) as server:
        outcomes, _ = write(tmp_path, server, 30, new=alone, concurrency=8)

    assert all(outcome.text for outcome in outcomes)
    assert seen.workers == [[]] * 30


@pytest.mark.slow
def test_a_key_reaches_workers_by_the_environment_alone_and_an_interrupt_of_the_terminal_does_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    seen = Observed()

    def script(call: ModelRequest) -> Answers | Fails:
        seen.look()
        return Fails(400, echoes_key=True) if call.number == 3 else Answers(echoes_key=call.number == 4)

    with caplog.at_level(logging.DEBUG), ScriptedServer(script) as server:
        outcomes, rows = write(tmp_path, server, 8, concurrency=2)

    assert {call.headers["authorization"] for call in server.seen} == {f"Bearer {KEY}"}
    assert len(seen.command_lines) == 2
    output = capfd.readouterr()
    for place in (*seen.command_lines, repr(outcomes), repr(rows), output.out, output.err):
        assert KEY not in place
    assert KEY not in "".join(record.getMessage() for record in caplog.records if record.name.startswith("codesum"))
    assert any(row.error and "…" in row.error for row in rows)
    assert len(seen.sessions - {os.getsid(0)}) == 2
    assert workers_of() == []


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_its_calls_as_a_connection_does_and_the_others_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    killed: list[int] = []

    def script(call: ModelRequest) -> Answers:
        if call.number == 12:
            (first, _) = workers_of()
            first.kill()
            killed.append(first.pid)
        return Answers(delay_s=0.2)

    with ScriptedServer(script) as server:
        outcomes, rows = write(tmp_path, server, 40, concurrency=8, max_retries=1)

    assert len(killed) == 1
    assert all(outcome.text for outcome in outcomes)
    lost = [row for row in rows if row.outcome is not AttemptOutcome.GOOD]
    assert {(row.outcome, row.failure) for row in lost} == {(AttemptOutcome.FAILED, CallFailure.CONNECTION)}
    assert all(row.is_estimated and row.cost_usd == row.reserved_usd for row in lost)
    assert 1 <= len(lost) <= 8
    # A call that was lost before it was sent counts as sent, too.
    assert len(rows) == 40 + len(lost) >= len(server.seen) >= 40
    assert "ended by signal 9: the others go on" in caplog.text


@pytest.mark.slow
def test_when_all_workers_are_killed_the_run_goes_on_by_itself(tmp_path: Path) -> None:
    def script(call: ModelRequest) -> Answers:
        if call.number == 12:
            for worker in workers_of():
                worker.kill()
        return Answers(delay_s=0.05)

    with ScriptedServer(script) as server:
        outcomes, _ = write(tmp_path, server, 30, concurrency=4, max_retries=1)

    assert all(outcome.text for outcome in outcomes)


@pytest.mark.slow
def test_when_a_provider_had_enough_of_one_worker_all_of_them_wait(tmp_path: Path) -> None:
    came: list[tuple[int, float]] = []
    wait_s = 1.5

    def script(call: ModelRequest) -> Answers | Fails:
        came.append((call.number, time.monotonic()))
        return Fails(429, headers={"Retry-After": str(wait_s)}) if call.number == 10 else Answers()

    with ScriptedServer(script) as server:
        outcomes, rows = write(tmp_path, server, 30, concurrency=6, max_retries=1)

    assert all(outcome.text for outcome in outcomes)
    assert [row.failure for row in rows if row.outcome is AttemptOutcome.FAILED] == [CallFailure.RATE_LIMIT]
    refused_at = came[9][1]
    # Those that were on their way when the refusal was heard are at most as many as may be asked at once.
    assert sum(at < refused_at + wait_s for _, at in came[10:]) <= 12


@pytest.fixture
def stopped_worker() -> Iterator[Callable[[], None]]:
    """Stops one worker of this process, and lets it end at the end."""
    stopped: list[psutil.Process] = []

    def stop() -> None:
        (first, *_) = workers_of()
        first.suspend()
        stopped.append(first)

    yield stop
    assert [worker.is_running() for worker in stopped] == [False]


@pytest.mark.slow
def test_a_worker_that_is_stopped_keeps_nobody_waiting_longer_than_the_time_out(
    tmp_path: Path, stopped_worker: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codesum_pipeline.texts.llm.call_workers._GRACE_S", 0.0)

    def script(call: ModelRequest) -> Answers:
        if call.number == 6:
            stopped_worker()
        return Answers(delay_s=0.05)

    with ScriptedServer(script) as server:
        outcomes, rows = write(tmp_path, server, 8, concurrency=2, max_retries=0, timeout_s=3.0)

    assert len(outcomes) == 8
    assert {row.failure for row in rows if row.outcome is AttemptOutcome.FAILED} == {CallFailure.TIMEOUT}
