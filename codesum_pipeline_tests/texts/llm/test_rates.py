"""How much is let through."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.retrying import Rates


def passed_at_once(rates: Rates, *tokens: int) -> int:
    """How many calls of these sizes are let through without waiting."""

    async def count() -> int:
        passed = 0
        for size in tokens:
            try:
                await asyncio.wait_for(rates.admit(size), 0.05)
            except TimeoutError:
                return passed
            passed += 1
        return passed

    return run(count())


def run(coroutine: Coroutine[Any, Any, int]) -> int:
    return asyncio.run(coroutine)


def test_without_limits_nothing_waits() -> None:
    assert passed_at_once(Rates(LlmSettings()), *[1000] * 50) == 50


def test_as_many_requests_pass_as_a_minute_allows() -> None:
    assert passed_at_once(Rates(LlmSettings(requests_per_minute=3)), *[1000] * 50) == 3


def test_as_many_tokens_pass_as_a_minute_allows() -> None:
    assert passed_at_once(Rates(LlmSettings(tokens_per_minute=2500)), *[1000] * 50) == 2


def test_a_call_that_is_larger_than_a_minute_is_let_through_alone() -> None:
    assert passed_at_once(Rates(LlmSettings(tokens_per_minute=2500)), 9000, 1000) == 1


def test_after_a_refusal_nothing_passes_until_the_provider_is_ready_again() -> None:
    rates = Rates(LlmSettings())
    rates.note_refusal(30.0)

    assert passed_at_once(rates, 1) == 0


def test_a_provider_that_is_ready_at_once_is_asked_at_once() -> None:
    rates = Rates(LlmSettings())
    rates.note_refusal(0.0)

    assert passed_at_once(rates, 1) == 1


def test_who_is_sent_away_for_an_hour_does_not_make_the_others_wait_for_it() -> None:
    rates = Rates(LlmSettings())
    rates.note_refusal(3600.0)

    async def admitted() -> bool:
        await asyncio.wait_for(rates.admit(1), 5.0)
        return True

    assert asyncio.run(admitted())
