"""Whether a call's request has left this process: what may have been sent may be billed.

Nothing below us sends a request twice. LiteLLM repeats one by itself after a broken connection; here the second one is
stopped before it leaves.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class SentTwice(Exception):
    """A request that was sent was about to be sent again."""


class Sending:
    """One call. `was_sent`: the first byte of its request may have left, which is so where nobody watches; `posted` are
    the addresses that got one."""

    def __init__(self) -> None:
        self.was_sent = True
        self.posted: set[str] = set()


_CURRENT: ContextVar[Sending | None] = ContextVar("sending", default=None)


@contextmanager
def watch_sending() -> Iterator[Sending]:
    """For one call: what the block sends, tasks that it starts included. Inside another such block it is the same
    call."""
    if sending := _CURRENT.get():
        yield sending
        return
    sending = Sending()
    token = _CURRENT.set(sending)
    try:
        yield sending
    finally:
        _CURRENT.reset(token)


def note_unsent() -> None:
    """Of the current call nothing has left yet: from now on it is watched."""
    if sending := _CURRENT.get():
        sending.was_sent = False


def note_sent(posted: str = "") -> None:
    """The request of the current call may have left; `posted` is the address to which it was posted."""
    if sending := _CURRENT.get():
        sending.was_sent = True
        sending.posted.add(posted)


def refuse_repetition(address: str) -> None:
    """Raise `SentTwice` where the current call has posted to this address before."""
    if (sending := _CURRENT.get()) and address in sending.posted:
        raise SentTwice
