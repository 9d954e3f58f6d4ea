"""How much may be asked of a model at a time: by the settings, and by what it says itself.

A limit holds for all calls of one model in one event loop. When a provider
says that it is too much, all its calls wait, not only the one that heard it.
"""

import asyncio
import time

from aiolimiter import AsyncLimiter

from codesum_pipeline.llm.retrying import FIRST_WAIT_S, LONGEST_ASKED_WAIT_S, LONGEST_WAIT_S

_MINUTE_S = 60.0
_MOST_DOUBLINGS = 10


class Rates:
    """The limits of one model."""

    def __init__(self, *, requests_per_minute: int | None, tokens_per_minute: int | None) -> None:
        self._requests = AsyncLimiter(requests_per_minute, _MINUTE_S) if requests_per_minute else None
        self._tokens = AsyncLimiter(tokens_per_minute, _MINUTE_S) if tokens_per_minute else None
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

    def refused(self, retry_after_s: float | None) -> None:
        """The provider had enough: nothing is asked for as long as it says, else for waits that double."""
        wait_s = min(FIRST_WAIT_S * 2 ** min(self._refusals, _MOST_DOUBLINGS), LONGEST_WAIT_S)
        self._refusals += 1
        # Who is sent away for longer gives up, and the others shall hear the same, not wait for it.
        if retry_after_s is not None and retry_after_s <= LONGEST_ASKED_WAIT_S:
            wait_s = retry_after_s
        self._open_at = max(self._open_at, time.monotonic() + wait_s)

    def answered(self) -> None:
        """The provider answers again."""
        self._refusals = 0
