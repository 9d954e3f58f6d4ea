"""What is repeated, when, and how often."""

import asyncio
import time
from collections.abc import Callable

import pytest

from codesum_pipeline.foundation.data_model.errors import BackendNotConfigured, CallFailure, SummaryCallFailed
from codesum_pipeline.texts.llm.backends import LiteLlmBackend
from codesum_pipeline.texts.llm.pins import SummaryResponse
from codesum_pipeline.texts.llm.retrying import wait_before_retry, with_retries
from codesum_pipeline_tests.support.llm_requests import KEY, KEY_VARIABLE, request_for, settings_for, templates
from codesum_pipeline_tests.support.llm_server import Answers, Fails, Resets, ScriptedServer


class Calls:
    """Calls whose outcomes are set up beforehand."""

    def __init__(self, *outcomes: Exception | str) -> None:
        self._outcomes = list(outcomes)
        self.numbers: list[int] = []

    async def __call__(self, number: int) -> str:
        self.numbers.append(number)
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def retried(self, attempts: int) -> str:
        return asyncio.run(with_retries(self, attempts=attempts, longest_provider_wait_s=600.0, first_wait_s=0.001))


def failed(failure: CallFailure, retry_after_s: float | None = None) -> SummaryCallFailed:
    return SummaryCallFailed("x", failure=failure, retry_after_s=retry_after_s)


def test_a_passing_failure_is_repeated_and_each_attempt_has_a_number() -> None:
    calls = Calls(failed(CallFailure.SERVER), failed(CallFailure.RATE_LIMIT), "good", "never asked for")

    assert (calls.retried(5), calls.numbers) == ("good", [1, 2, 3])


def test_after_the_last_attempt_its_failure_stands() -> None:
    calls = Calls(failed(CallFailure.SERVER), failed(CallFailure.TIMEOUT), "too late")

    with pytest.raises(SummaryCallFailed) as caught:
        calls.retried(2)

    assert (caught.value.failure, calls.numbers) == (CallFailure.TIMEOUT, [1, 2])


@pytest.mark.parametrize(
    "error",
    [
        failed(CallFailure.CREDENTIALS),
        failed(CallFailure.REFUSED),
        failed(CallFailure.UNREADABLE),
        BackendNotConfigured(),
    ],
    ids=str,
)
def test_what_will_not_pass_is_not_repeated(error: Exception) -> None:
    calls = Calls(error, "never asked for")

    with pytest.raises(type(error)):
        calls.retried(5)

    assert calls.numbers == [1]


@pytest.mark.parametrize(
    ("failure", "attempt", "wait_s"),
    [
        pytest.param(failed(CallFailure.SERVER), 1, 1.0, id="a second"),
        pytest.param(failed(CallFailure.SERVER), 4, 8.0, id="doubled each time"),
        pytest.param(failed(CallFailure.SERVER), 20, 60.0, id="a minute at most"),
        pytest.param(failed(CallFailure.RATE_LIMIT, 90.0), 1, 90.0, id="as long as asked"),
        pytest.param(failed(CallFailure.RATE_LIMIT, 0.0), 9, 0.0, id="also if that is nothing"),
        pytest.param(failed(CallFailure.RATE_LIMIT, 3600.0), 1, None, id="not for an hour"),
        pytest.param(failed(CallFailure.REFUSED), 1, None, id="not at all"),
    ],
)
def test_how_long_is_waited(failure: SummaryCallFailed, attempt: int, wait_s: float | None) -> None:
    assert wait_before_retry(failure, attempt, longest_provider_wait_s=600.0) == wait_s


@pytest.mark.parametrize(
    "first", [lambda: Fails(500), lambda: Resets(), lambda: Fails(429, headers={"Retry-After": "0"})]
)
def test_over_the_wire_a_retry_sends_the_same_request(
    first: Callable[[], Fails | Resets], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with ScriptedServer(lambda call: first() if call.number == 1 else Answers()) as server:
        backend = LiteLlmBackend(settings_for(server), templates())

        async def retried() -> SummaryResponse:
            return await with_retries(
                lambda _: backend.summarize(request_for()), attempts=2, longest_provider_wait_s=600.0, first_wait_s=0.01
            )

        assert asyncio.run(retried()).has_tool_call

    assert server.seen[0].body == server.seen[1].body


def test_when_one_call_was_too_much_all_calls_of_the_model_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    came: list[float] = []

    def script(call: object) -> Fails | Answers:
        came.append(time.monotonic())
        return Fails(429, headers={"Retry-After": "0.4"}) if len(came) == 1 else Answers()

    with ScriptedServer(script) as server:
        backend = LiteLlmBackend(settings_for(server), templates())

        async def one_then_others() -> None:
            with pytest.raises(SummaryCallFailed):
                await backend.summarize(request_for())
            await asyncio.gather(*[backend.summarize(request_for(source=f"pass {n}\n")) for n in range(3)])

        asyncio.run(one_then_others())

    # The wait begins with the refusal, which comes after the first request, however slow everything is.
    assert [at - came[0] >= 0.4 for at in came[1:]] == [True, True, True]
