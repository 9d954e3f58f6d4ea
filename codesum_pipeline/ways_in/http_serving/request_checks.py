"""What is checked of each request before the application has it: the size of its body, and whose it is."""

import asyncio
import ipaddress
from collections.abc import Sequence
from typing import Any, NoReturn

import anyio
from msgspec import Struct, field
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from codesum_pipeline.foundation.settings.operation_settings import ServingSettings


class BodyBounds(Struct, frozen=True):
    """Refuses the request whose body is too large or takes too long. The application that reads it is cancelled, as it
    is when the client leaves before the end of the body."""

    app: ASGIApp
    limits: ServingSettings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _RequestBody(self.limits, scope, receive, send)
        # The parser accepts only digits, at most 20.
        if int(Headers(scope=scope).get("content-length", "0")) > self.limits.max_body_bytes:
            await body.answer(413, body.too_large)
            return
        with body.reading:
            await self.app(scope, body.receive, body.send)


class _RequestBody(Struct):
    """The body of one request, while it is `reading`."""

    limits: ServingSettings
    scope: Scope
    take: Receive
    give: Send
    reading: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    began: float = field(default_factory=anyio.current_time)
    _read: int = 0
    _is_whole: bool = False
    _is_answered: bool = False

    @property
    def too_large(self) -> str:
        return f"the body of the request has more than {self.limits.max_body_mb:g} MB"

    async def receive(self) -> Message:
        if self._is_whole:
            return await self.take()
        limit = self.limits.body_timeout_s
        try:
            async with asyncio.timeout_at(self.began + limit):
                message = await self.take()
        except TimeoutError:
            await self.answer(408, f"the body of the request took more than {limit:g} s")
            return await self._cancel()
        if message["type"] == "http.disconnect":
            # Whoever reads the body would raise an error that the log would be full of.
            return await self._cancel()
        self._is_whole = not message.get("more_body", False)
        self._read += len(message.get("body", b""))
        if self._read > self.limits.max_body_bytes:
            await self.answer(413, self.too_large)
            return await self._cancel()
        return message

    async def send(self, message: Message) -> None:
        self._is_answered = True
        await self.give(message)

    async def answer(self, status: int, reason: str) -> None:
        """Refuse it, unless the application has begun to answer."""
        if not self._is_answered:
            await PlainTextResponse(f"{reason}\n", status)(self.scope, self.take, self.give)

    async def _cancel(self) -> NoReturn:
        self.reading.cancel()
        await anyio.sleep_forever()
        raise AssertionError("a cancelled task sleeps no longer")


class KnownClients:
    """Takes the address of a client from `X-Forwarded-For` where a named proxy sent it, and from nobody else."""

    def __init__(self, app: ASGIApp, proxies: Sequence[str]) -> None:
        self._app = app
        self._behind: Any = ProxyHeadersMiddleware(self._checked, [*proxies])  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["codesum.peer"] = scope.get("client")
        await self._behind(scope, receive, send)

    async def _checked(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What is no address says nothing of the client: then the peer counts."""
        peer, client = scope.pop("codesum.peer", None), scope.get("client")
        try:
            ipaddress.ip_address(client[0] if client else "")
        except ValueError:
            scope["client"] = peer
        await self._app(scope, receive, send)
