"""When a repository is looked at again, and what a failed look means.

Times are spread at random, so that ten thousand repositories that were
registered in one minute are not asked for in one minute for ever. A moment
that lies in the future was noted before the clock was set back, and counts
for nothing.
"""

import random
import re
from collections.abc import Callable

from msgspec.structs import replace

from codesum_pipeline.source.poll_state import HostRest, Poll

DAY_S = 86_400.0
# The first rest of a host that asked for fewer requests: GitHub's advice where it names no time.
FIRST_REST_S = 60.0
# A repository on this machine whose refs look as before is asked again all the same, in case they cannot be trusted.
UNCHANGED_S = 3_600.0
# How far a waiting time is moved either way.
JITTER = 0.1

_ASKS_FOR_LESS = re.compile(
    r"\b429\b|too many requests|rate.?limit|\babuse\b.{0,40}\bdetect|try again later|connection limit", re.IGNORECASE
)

Spread = Callable[[], float]


def is_due(poll: Poll | None, source: str, *, now: float) -> bool:
    """Whether a repository is to be looked at: never looked at, another place or ref now, its time has come."""
    return poll is None or poll.source != source or poll.due_at <= now or poll.polled_at > now


def is_resting(rest: HostRest | None, *, now: float) -> bool:
    """Whether nothing is asked of a host now."""
    return rest is not None and rest.noted_at <= now < rest.rests_until


def after_success(poll: Poll, head: str, *, now: float, wait_s: float, spread: Spread = random.random) -> Poll:
    """The repository after it was read."""
    due_at = now + _moved(wait_s, spread)
    return replace(poll, polled_at=now, due_at=due_at, failures=0, head=head, complaint="")


def after_failure(poll: Poll, complaint: str, *, now: float, interval_s: float, spread: Spread = random.random) -> Poll:
    """The repository after it could not be read: each time it is left alone for twice as long, a day at most."""
    failures = poll.failures + 1
    due_at = now + _doubled(interval_s, failures, spread)
    return replace(poll, polled_at=now, due_at=due_at, failures=failures, complaint=complaint)


def after_refusal(host: str, rest: HostRest | None, *, now: float, spread: Spread = random.random) -> HostRest:
    """A host after it asked for fewer requests: each time it rests for twice as long, a day at most."""
    failures = (rest.failures if rest else 0) + 1
    return HostRest(host, failures, now, now + _doubled(FIRST_REST_S, failures - 1, spread))


def asks_for_less(complaint: str) -> bool:
    """Whether git's complaint is a host's wish for fewer requests."""
    return bool(_ASKS_FOR_LESS.search(complaint))


def _doubled(first_s: float, times: int, spread: Spread) -> float:
    # Beyond the twentieth doubling of a second lies a day; two to a thousand is no float.
    return min(_moved(first_s * 2.0 ** min(times, 20), spread), DAY_S)


def _moved(wait_s: float, spread: Spread) -> float:
    return wait_s * (1 - JITTER + 2 * JITTER * spread())
