"""When calls are repeated, and how many are made at a time: by the settings, and by what a provider says.

Waits are not random: a run is repeatable, and calls to one model are spread by its rates. A limit holds for all calls
of one model in one event loop: when a provider says that it is too much, all calls wait, not only the refused one.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from aiolimiter import AsyncLimiter

from codesum_pipeline.foundation.data_model.errors import BackendNotConfigured, SummaryCallFailed
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings

FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0

Answer = TypeVar("Answer")


async def with_retries(
    call: Callable[[int], Awaitable[Answer]],
    *,
    attempts: int,
    longest_provider_wait_s: float,
    first_wait_s: float = FIRST_WAIT_S,
    on_retry: Callable[[], None] = lambda: None,
) -> Answer:
    """Return the first answer of at most `attempts` calls, each given its number, from 1; raises what the last one did.

    Only failures that pass are repeated: after as long as the provider asks, else after waits that double. `on_retry`
    is called before each wait.
    """
    for attempt in range(1, attempts):
        try:
            return await call(attempt)
        except SummaryCallFailed as failure:
            wait_s = wait_before_retry(
                failure, attempt, first_wait_s=first_wait_s, longest_provider_wait_s=longest_provider_wait_s
            )
            if wait_s is None:
                raise
        on_retry()
        await asyncio.sleep(wait_s)
    return await call(attempts)


async def with_fallbacks(
    llm: LlmSettings, ask: Callable[[str], Awaitable[Answer]], *, on_failure: Callable[[], None] = lambda: None
) -> Answer:
    """The answer of the first model that gives one; raises what the last one did.

    `on_failure` is called before each fallback.
    """
    *others, last = dict.fromkeys((llm.model, *llm.fallback_models))
    for model in others:
        try:
            return await ask(model)
        except (SummaryCallFailed, BackendNotConfigured):
            on_failure()
    return await ask(last)


def wait_before_retry(
    failure: SummaryCallFailed,
    attempt: int,
    *,
    first_wait_s: float = FIRST_WAIT_S,
    longest_provider_wait_s: float,
) -> float | None:
    """How long to wait after a failed attempt, counted from 1; None if another one makes no sense."""
    if not failure.is_passing:
        return None
    if failure.retry_after_s is not None:
        return failure.retry_after_s if failure.retry_after_s <= longest_provider_wait_s else None
    doubled: float = first_wait_s * 2 ** (attempt - 1)
    return min(doubled, LONGEST_WAIT_S)


_MINUTE_S = 60.0
_MOST_DOUBLINGS = 10


class Rates:
    """The limits of one model."""

    def __init__(self, llm: LlmSettings) -> None:
        requests, tokens = llm.requests_per_minute, llm.tokens_per_minute
        self._requests = AsyncLimiter(requests, _MINUTE_S) if requests else None
        self._tokens = AsyncLimiter(tokens, _MINUTE_S) if tokens else None
        self._longest_wait_s = llm.longest_wait_s
        self._open_at = 0.0
        self._refusals = 0

    async def admit(self, tokens: int) -> None:
        """Wait until a call of about that many tokens may be made."""
        if self._requests:
            await self._requests.acquire()
        if self._tokens:
            # What can never fit waits for an empty minute.
            await self._tokens.acquire(min(tokens, self._tokens.max_rate))
        while (wait_s := self._open_at - time.monotonic()) > 0:
            await asyncio.sleep(wait_s)

    def note_refusal(self, retry_after_s: float | None) -> None:
        """The provider refused a call: none is made for as long as it says, else for waits that double."""
        wait_s = min(FIRST_WAIT_S * 2 ** min(self._refusals, _MOST_DOUBLINGS), LONGEST_WAIT_S)
        self._refusals += 1
        # A call that would have to wait longer gives up, and so shall the others: they do not wait for it here.
        if retry_after_s is not None and retry_after_s <= self._longest_wait_s:
            wait_s = retry_after_s
        self._open_at = max(self._open_at, time.monotonic() + wait_s)

    def note_answer(self) -> None:
        """The provider answers again."""
        self._refusals = 0
