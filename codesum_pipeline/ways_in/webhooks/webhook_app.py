"""The application: one address that hosts send their events to.

Every signed request gets the same answer at once, and is handled afterwards. So a sender cannot learn which
repositories are registered, not even from the time of an answer. A request that is sent again only has its repository
looked at again.
"""

import logging
import sqlite3
import time
from collections.abc import Callable, Sequence

from msgspec import Struct
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.printable import one_line, shorten_text
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

PATH = "/webhooks"
HEALTH_PATH = "/health"
# So many bodies are in memory at once; later senders are asked to try again.
MOST_AT_ONCE = 16
_RETRY_S = "30"
_SHOWN = 120

log = logging.getLogger(__name__)
MarkDue = Callable[[Sequence[str]], None]


class Receiver(Struct):
    """Takes what hosts send. `entries` reads the registry, `mark_due` has repositories looked at soon."""

    secrets: Sequence[Secret]
    entries: RecentEntries
    mark_due: MarkDue
    now_s: Callable[[], float] = time.time
    _at_once: int = 0

    async def receive(self, request: Request) -> Response:
        """Answer one request of anybody's."""
        client = request.client.host if request.client else ""
        if self._at_once >= MOST_AT_ONCE:
            return _refusal(503, "too many requests at once", {"Retry-After": _RETRY_S})
        self._at_once += 1
        try:
            return await self._received(request, client)
        finally:
            self._at_once -= 1

    async def _received(self, request: Request, client: str) -> Response:
        body = await request.body()
        sender = sender_of(request.headers, body, self.secrets, now_s=self.now_s())
        if sender is None:
            log.warning("%s: refused: no valid signature", _shown(client))
            return _refusal(401, "no valid signature")
        try:
            push = read_push(sender, body, content_type=request.headers.get("content-type", ""))
        except UnreadablePayload as error:
            log.warning("%s: %s: refused: %s", sender.host, _shown(sender.event), _shown(str(error)))
            return _refusal(400, "not a payload of this event")
        task = BackgroundTask(self._carry_out, sender, push) if push else None
        return PlainTextResponse("accepted\n", 202, background=task)

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


async def _healthy(_: Request) -> Response:
    return PlainTextResponse("ok\n")


def _refusal(status: int, reason: str, headers: dict[str, str] | None = None) -> Response:
    return PlainTextResponse(f"{reason}\n", status, headers=headers)


def _shown(text: str) -> str:
    """Untrusted text in a form that is safe to log."""
    return shorten_text(one_line(text), _SHOWN)
