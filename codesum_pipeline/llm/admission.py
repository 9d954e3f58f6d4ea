"""The cap in dollars: a call is let through while the most that it can cost fits."""

import asyncio


class CapReached(Exception):
    """The next call could pass the cap; it is not made. A cheaper one may still fit."""


class Admission:
    """What is left to spend, and who may spend it next: first come, first served.

    A call that does not fit waits for those in flight, which mostly cost less
    than the most that was put aside for them. Only when nothing is in flight and
    it still does not fit is the cap reached for it.
    """

    def __init__(self, usd_left: float | None) -> None:
        self._left = usd_left
        self._reserved = 0.0
        self._in_flight = 0
        self._door = asyncio.Lock()
        self._freed = asyncio.Event()

    async def enter(self, worst_usd: float) -> None:
        """Put `worst_usd` aside for a call; raises `CapReached`."""
        async with self._door:
            while not self._fits(worst_usd) and self._in_flight:
                self._freed.clear()
                await self._freed.wait()
            if not self._fits(worst_usd):
                raise CapReached
            self._reserved += worst_usd
            self._in_flight += 1

    def leave(self, worst_usd: float, cost_usd: float) -> None:
        """The call is over and cost so much."""
        self._reserved -= worst_usd
        self._in_flight -= 1
        if self._left is not None:
            self._left -= cost_usd
        self._freed.set()

    def _fits(self, worst_usd: float) -> bool:
        return self._left is None or self._reserved + worst_usd <= self._left
