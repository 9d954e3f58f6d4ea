"""Repeat a call that may go well at another time.

No chance is in the waits: a run is repeatable, and calls of one model are
spread by its rates, not by dice.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from codesum_pipeline.model.errors import SummaryCallFailed

FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
# Who is asked to wait longer stops: the next run goes on from here.
LONGEST_ASKED_WAIT_S = 600.0

Answer = TypeVar("Answer")


async def with_retries(
    call: Callable[[], Awaitable[Answer]],
    *,
    attempts: int,
    on_attempt: Callable[[int], None],
    first_wait_s: float = FIRST_WAIT_S,
    longest_asked_wait_s: float = LONGEST_ASKED_WAIT_S,
) -> Answer:
    """Return the first answer of at most `attempts` calls; raises what the last one did.

    `on_attempt` hears the number of each call, from 1, before it is made; what it raises ends the attempts. Only
    failures that pass are repeated: after as long as the provider asks, else after waits that double.
    """
    for attempt in range(1, attempts + 1):
        on_attempt(attempt)
        try:
            return await call()
        except SummaryCallFailed as failure:
            wait_s = wait_before_retry(
                failure, attempt, first_wait_s=first_wait_s, longest_asked_wait_s=longest_asked_wait_s
            )
            if attempt == attempts or wait_s is None:
                raise
        await asyncio.sleep(wait_s)
    raise ValueError(f"attempts is {attempts}: at least one is needed")


def wait_before_retry(
    failure: SummaryCallFailed,
    attempt: int,
    *,
    first_wait_s: float = FIRST_WAIT_S,
    longest_asked_wait_s: float = LONGEST_ASKED_WAIT_S,
) -> float | None:
    """How long to wait after a failed attempt, counted from 1; None where another one makes no sense."""
    if not failure.is_passing:
        return None
    if failure.retry_after_s is not None:
        return failure.retry_after_s if failure.retry_after_s <= longest_asked_wait_s else None
    doubled: float = first_wait_s * 2 ** (attempt - 1)
    return min(doubled, LONGEST_WAIT_S)
