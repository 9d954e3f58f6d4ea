"""What is checked of each request before the application has it: the size of its body, and whose it is."""

import asyncio
import ipaddress
from collections.abc import Sequence
from typing import Any

import anyio
from msgspec import Struct
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from codesum_pipeline.settings.operation import ServingSettings


class BodyBounds(Struct, frozen=True):
    """Refuses the request whose body is too large or takes too long. The application that reads it is cancelled, as it
    is when the client leaves before the end of the body."""

    app: ASGIApp
    limits: ServingSettings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limits = self.limits
        too_large = f"the body of the request has more than {limits.max_body_mb:g} MB (serving.max_body_mb)"
        most = limits.max_body_bytes
        announced = Headers(scope=scope).get("content-length", "0")
        # The parser accepts only digits, at most 20.
        if int(announced) > most:
            await PlainTextResponse(f"{too_large}\n", 413)(scope, receive, send)
            return
        deadline = asyncio.get_running_loop().time() + limits.body_timeout_s
        left, is_whole, has_begun = most, False, False

        async def refuse(status: int, told: str) -> None:
            if not has_begun:
                await PlainTextResponse(f"{told}\n", status)(scope, receive, send)
            request.cancel()
            await anyio.sleep_forever()

        async def bounded() -> Message:
            nonlocal left, is_whole
            if is_whole:
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                limit = f"{limits.body_timeout_s:g} s (serving.body_timeout_s)"
                await refuse(408, f"the body of the request took more than {limit}")
                raise
            if message["type"] == "http.disconnect":
                # Whoever reads the body would raise an error that the log would be full of.
                request.cancel()
                await anyio.sleep_forever()
            is_whole = not message.get("more_body", False)
            left -= len(message.get("body", b""))
            if left < 0:
                await refuse(413, too_large)
            return message

        async def noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        with anyio.CancelScope() as request:
            await self.app(scope, bounded, noted)


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
