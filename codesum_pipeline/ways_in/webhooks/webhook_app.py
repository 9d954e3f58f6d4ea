"""The application: one address that hosts send their events to.

Every signed request gets the same answer at once, and is handled afterwards. So a sender cannot learn which
repositories are registered, not even from the time of an answer. Requests are bounded in bytes, in time and in number.
"""

import asyncio
import hashlib
import logging
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from aiolimiter import AsyncLimiter
from msgspec import Struct, field
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from codesum_pipeline.foundation.data_model.client_addresses import customer_of
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.ways_in.webhooks.push_events import (
    Push,
    RecentEntries,
    Secret,
    SignedEvent,
    UnreadablePayload,
    matching_keys,
    read_push,
    sender_of,
)

# Senders and deliveries that are remembered; older ones are forgotten for newer ones.
MOST_SENDERS = 4_096
MOST_DELIVERIES = 10_000
# As long as one that was sent twice is known again. A push back and forth within it is found by polling.
REMEMBERED_S = 600.0
_MINUTE_S = 60.0


class SenderRates(Struct):
    """How many requests each address may still send in this minute."""

    max_per_minute: int
    _limiters: OrderedDict[str, AsyncLimiter] = field(default_factory=OrderedDict)

    async def allows(self, client: str) -> bool:
        """Whether there is room for one more, which is then counted."""
        customer = customer_of(client)
        limiter = self._limiters.pop(customer, None) or AsyncLimiter(self.max_per_minute, _MINUTE_S)
        self._limiters[customer] = limiter
        while len(self._limiters) > MOST_SENDERS:
            self._limiters.popitem(last=False)
        if not limiter.has_capacity():
            return False
        await limiter.acquire()
        return True


class SeenDeliveries(Struct):
    """The deliveries accepted lately, by their id and by their body: a stranger could send a body under another id."""

    clock: Callable[[], float] = time.monotonic
    _seen: OrderedDict[bytes, float] = field(default_factory=OrderedDict)

    def is_new(self, delivery_id: str, body: bytes) -> bool:
        """Whether it was not accepted before; from now on it was."""
        now = self.clock()
        while self._seen and (
            len(self._seen) > MOST_DELIVERIES or next(iter(self._seen.values())) < now - REMEMBERED_S
        ):
            self._seen.popitem(last=False)
        names = [hashlib.sha256(b"body" + body).digest()]
        if delivery_id:
            names.append(hashlib.sha256(b"id" + delivery_id.encode()).digest())
        is_new = not any(name in self._seen for name in names)
        if is_new:
            self._seen.update(dict.fromkeys(names, now))
        return is_new


PATH = "/webhooks"
HEALTH_PATH = "/health"
# So many bodies are in memory at once; later senders are asked to try again.
MOST_AT_ONCE = 16
# Longer than a slow line needs for a body, shorter than anybody may hold a place.
BODY_TIMEOUT_S = 10.0
_RETRY_S = "30"
_SHOWN = 120

log = logging.getLogger(__name__)
MarkDue = Callable[[Sequence[str]], None]


class Receiver(Struct):
    """Takes what hosts send. `entries` reads the registry, `mark_due` has repositories looked at soon."""

    secrets: Sequence[Secret]
    entries: RecentEntries
    mark_due: MarkDue
    rates: SenderRates
    max_body_bytes: int
    seen: SeenDeliveries = field(default_factory=SeenDeliveries)
    now_s: Callable[[], float] = time.time
    _at_once: int = 0

    async def receive(self, request: Request) -> Response:
        """Answer one request of anybody's."""
        client = request.client.host if request.client else ""
        if not await self.rates.allows(client):
            return _refusal(429, "too many requests", {"Retry-After": _RETRY_S})
        if self._at_once >= MOST_AT_ONCE:
            return _refusal(503, "too many requests at once", {"Retry-After": _RETRY_S})
        self._at_once += 1
        try:
            return await self._received(request, client)
        finally:
            self._at_once -= 1

    async def _received(self, request: Request, client: str) -> Response:
        try:
            body = await asyncio.wait_for(_read_body(request, self.max_body_bytes), BODY_TIMEOUT_S)
        except (TimeoutError, ClientDisconnect):
            return _refusal(408, "the request did not arrive in time")
        if body is None:
            log.warning("%s: refused: larger than %d bytes", _shown(client), self.max_body_bytes)
            return _refusal(413, "too large")
        sender = sender_of(request.headers, body, self.secrets, now_s=self.now_s())
        if sender is None:
            log.warning("%s: refused: no valid signature", _shown(client))
            return _refusal(401, "no valid signature")
        try:
            push = read_push(sender, body, content_type=request.headers.get("content-type", ""))
        except UnreadablePayload as error:
            log.warning("%s: %s: refused: %s", sender.host, _shown(sender.event), _shown(str(error)))
            return _refusal(400, "not a payload of this event")
        if push is None or not self.seen.is_new(sender.delivery_id, body):
            return _accepted()
        return _accepted(BackgroundTask(self._carry_out, sender, push))

    def _carry_out(self, sender: SignedEvent, push: Push) -> None:
        """After the answer. What fails here is found by polling."""
        try:
            keys = matching_keys(push, self.entries.of(push))
            if keys:
                self.mark_due(keys)
        except (CodesumError, OSError, sqlite3.Error) as error:
            log.warning("%s: a push is left to polling: %s", sender.host, one_line(str(error)))
            return
        about = ", ".join(sorted(push.addresses))
        outcome = f"due: {', '.join(keys)}" if keys else "no repository follows it"
        log.info("%s: %s of %s: %s", sender.host, _shown(push.ref), _shown(about), outcome)


def make_app(receiver: Receiver) -> Starlette:
    """The addresses: one for events, one by which a proxy sees that the server lives."""
    return Starlette(
        routes=[
            Route(PATH, receiver.receive, methods=["POST"]),
            Route(HEALTH_PATH, _healthy, methods=["GET"]),
        ]
    )


def make_receiver(
    secrets: Sequence[Secret],
    read_entries: Callable[[], Sequence[RepositoryEntry]],
    mark_due: MarkDue,
    *,
    max_body_mb: float,
    max_per_minute: int,
) -> Receiver:
    """A receiver with the bounds of the settings."""
    return Receiver(
        secrets=secrets,
        entries=RecentEntries(read_entries),
        mark_due=mark_due,
        rates=SenderRates(max_per_minute),
        max_body_bytes=int(max_body_mb * 1024 * 1024),
    )


async def _read_body(request: Request, most: int) -> bytes | None:
    """The whole body, None if it is larger: then the rest is not read."""
    announced = request.headers.get("content-length", "0")
    if not (announced.isascii() and announced.isdigit()) or len(announced) > 12 or int(announced) > most:
        return None
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            return None
        parts.append(part)
    return b"".join(parts)


async def _healthy(_: Request) -> Response:
    return PlainTextResponse("ok\n")


def _accepted(task: BackgroundTask | None = None) -> Response:
    return PlainTextResponse("accepted\n", 202, background=task)


def _refusal(status: int, reason: str, headers: dict[str, str] | None = None) -> Response:
    return PlainTextResponse(f"{reason}\n", status, headers=headers)


def _shown(text: str) -> str:
    """Untrusted text in a form that is safe to log."""
    return shorten_text(one_line(text), _SHOWN)
