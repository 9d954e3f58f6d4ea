"""The books agree with what a provider saw, whatever it does and whenever a run is stopped."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.model_call import AttemptOutcome, LedgerRow
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.ledger import open_ledger
from codesum_pipeline.texts.llm.pins import TokenUsage
from codesum_pipeline.texts.llm.prices import compute_cost_usd, price_of
from codesum_pipeline_tests.support.llm_requests import KEY, KEY_VARIABLE, settings_for
from codesum_pipeline_tests.support.llm_server import Answers, Behaviour, Drips, Hangs, ModelRequest, ScriptedServer
from codesum_pipeline_tests.support.llm_server.answers import answer_of, usage_of
from codesum_pipeline_tests.support.llm_server.odd_providers import CASES, COUNTED, FREE
from codesum_pipeline_tests.texts.llm.making import noon
from codesum_pipeline_tests.texts.llm.test_odd_providers import price_in_books, run

# What ends a run is drawn less often than by chance, or most runs would end at once; time-outs take their time.
_PASSING = [name for name, case in CASES.items() if case.failure not in ("credentials", "timeout")]
_NAMES = st.one_of(st.sampled_from(_PASSING), st.sampled_from(_PASSING), st.sampled_from([*CASES]))
_DOCUMENTS = 6


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def settings_of(server: ScriptedServer, concurrency: int, timeout_s: float = 30.0) -> LlmSettings:
    return settings_for(server, max_retries=0, concurrency=concurrency, timeout_s=timeout_s, give_up_after=100)


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(_NAMES, min_size=1, max_size=12), concurrency=st.sampled_from([1, 4]))
@example(names=["a reset before the answer", "answers well"], concurrency=4)
@example(names=["usage null", "never answers", "a refusal"], concurrency=1)
def test_every_request_that_a_provider_saw_is_booked_once_at_its_price(
    server: ScriptedServer, names: list[str], concurrency: int
) -> None:
    begun = len(server.seen)

    def one_after_another(request: ModelRequest) -> Behaviour:
        return CASES[names[(request.number - 1 - begun) % len(names)]].behaviour

    server.script = one_after_another
    # Long enough for an answer on a busy machine.
    configured = settings_of(
        server, concurrency, 4.0 if any(CASES[name].failure == "timeout" for name in names) else 30.0
    )
    with TemporaryDirectory() as folder:
        _, rows = run(Path(folder), configured, _DOCUMENTS)

    seen = server.seen[begun:]
    expected = sorted(CASES[names[place % len(names)]].price for place in range(len(seen)))
    assert sorted(price_in_books(row, configured) for row in rows) == expected
    assert len({row.sequence for row in rows}) == len(rows)


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stop_at=st.integers(1, 10), concurrency=st.sampled_from([1, 4]), hangs=st.booleans(), after_s=st.floats(0, 0.05))
def test_a_run_that_is_stopped_books_all_that_was_sent_and_nothing_else(
    server: ScriptedServer, stop_at: int, concurrency: int, hangs: bool, after_s: float
) -> None:
    begun, stop = len(server.seen), threading.Event()

    def stopped_during_one(request: ModelRequest) -> Behaviour:
        if request.number - begun == stop_at:
            stop.set()
            return Hangs() if hangs else Drips(bytes_each=50, pause_s=0.01)
        return Answers(delay_s=0.005)

    server.script = stopped_during_one
    configured = settings_of(server, concurrency)
    with TemporaryDirectory() as folder:
        rows = run_and_stop(Path(folder), configured, stop, after_s)

    sent = [row for row in rows if row.outcome is not AttemptOutcome.NOT_SENT]
    seen = server.seen[begun:]
    # A request may have left and not have been read any more.
    assert len(seen) <= len(sent) <= len(seen) + concurrency
    for row in rows:
        price = price_in_books(row, configured)
        assert (price == FREE) is (row.outcome is AttemptOutcome.NOT_SENT)
    good = [row for row in rows if row.outcome is AttemptOutcome.GOOD]
    assert {price_in_books(row, configured) for row in good} <= {COUNTED}
    counted = {cost_of(request, configured) for request in seen}
    assert {round(row.cost_usd, 12) for row in good} <= counted


def cost_of(request: ModelRequest, configured: LlmSettings) -> float:
    """What a good answer to a request costs by the tokens that the server counts."""
    usage = usage_of(request, json.dumps(answer_of(request)))
    counted = TokenUsage(usage["prompt"], usage["completion"], usage["cached"])
    return round(compute_cost_usd(price_of(configured.model, configured), counted), 12)


def run_and_stop(folder: Path, configured: LlmSettings, stop: threading.Event, after_s: float) -> list[LedgerRow]:
    """The books of a run that is cancelled so long after an event, as Ctrl-C does, or has ended by then."""
    loops: list[asyncio.AbstractEventLoop] = []
    new_loop = asyncio.events.new_event_loop

    def cancel() -> None:
        stop.wait(20)
        threading.Event().wait(after_s)
        for loop in loops:
            if not loop.is_closed():
                loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks()])

    stopper = threading.Thread(target=cancel)
    patch = pytest.MonkeyPatch()
    try:
        patch.setattr(asyncio.events, "new_event_loop", lambda: loops.append(made := new_loop()) or made)
        stopper.start()
        run(folder, configured, 12)
    except asyncio.CancelledError:
        pass
    finally:
        patch.undo()
        stop.set()
        stopper.join()
    with open_ledger(folder / "shop.sqlite", run_id="later", now=noon) as ledger:
        assert ledger.recover() == 0
        return ledger.rows()
