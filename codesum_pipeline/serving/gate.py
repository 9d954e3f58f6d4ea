"""Whoever asks says a token, and gets the server of its holder.

What a token does not open does not exist for its holder: every token has a server of its own, of what its scope opens,
so that no answer, name or error of another one can reach it. It begins when the token is said first. When the token
expires, leaves the file or is changed in it, the server ends, and what it was still answering ends with it.
"""

import base64
import binascii
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import anyio
from anyio.abc import TaskGroup, TaskStatus
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from codesum_pipeline.serving.attempts import Attempts
from codesum_pipeline.serving.audit import Auditor
from codesum_pipeline.serving.token_source import TokenSource
from codesum_pipeline.serving.tokens import AccessToken, digest_of, find_token

# The server of a token's holder; without tokens, that of anybody.
AppOf = Callable[[AccessToken | None], Starlette]


def behind_tokens(source: TokenSource, app_of: AppOf, audit: Auditor, *, is_for_browsers: bool = False) -> ASGIApp:
    """For each token what `app_of` gives for it; what it gives for None where nobody asked for tokens."""
    return TokenGate(source, app_of, audit, is_for_browsers) if source.is_asked_for else app_of(None)


@dataclass(eq=False, slots=True)
class _TokenServer:
    """The server of one token, while it runs."""

    app: Starlette
    ended: anyio.Event = field(default_factory=anyio.Event)
    requests: set[anyio.CancelScope] = field(default_factory=set)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        with anyio.CancelScope() as request:
            self.requests.add(request)
            try:
                await self.app(scope, receive, send)
            finally:
                self.requests.discard(request)

    def end(self) -> None:
        for request in self.requests:
            request.cancel()
        self.ended.set()


@dataclass(eq=False)
class TokenGate:
    """Browsers ask a person for the token, as the password of any user.

    A new request is judged at once; a stream that a changed file or an expired token ends goes on for `looked_after_s`
    at most.
    """

    source: TokenSource
    app_of: AppOf
    audit: Auditor
    is_for_browsers: bool = False
    looked_after_s: float = 2.0
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    attempts: Attempts = field(default_factory=lambda: Attempts(time.monotonic))
    _served: dict[AccessToken, _TokenServer] = field(default_factory=dict)
    _starting: anyio.Lock = field(default_factory=anyio.Lock)
    _tasks: TaskGroup | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await Starlette(lifespan=self._live)(scope, receive, send)
            return
        said = self._said(Headers(scope=scope))
        address = (scope.get("client") or ("",))[0]
        answer = self._judged(said, address) if said else self._refusal()
        if isinstance(answer, AccessToken):
            served = await self._server_of(answer)
            await served.answer(scope, receive, send)
        else:
            await answer(scope, receive, send)

    def _judged(self, said: str, address: str) -> AccessToken | PlainTextResponse:
        digest = digest_of(said)
        wait_s = self.attempts.wait_s(address, digest)
        if wait_s:
            return self._refusal(wait_s)
        token = find_token(digest, self._valid())
        if token is None:
            self.attempts.was_wrong(address)
            self.audit.was_refused(address)
            return self._refusal()
        self.attempts.was_right(address, digest)
        return token

    def _valid(self) -> list[AccessToken]:
        """Those of now; the servers of others end."""
        now = self.now()
        valid = [token for token in self.source.now() if token.is_valid(now)]
        for token in [each for each in self._served if each not in valid]:
            self._served.pop(token).end()
        return valid

    async def _server_of(self, token: AccessToken) -> _TokenServer:
        async with self._starting:
            if token not in self._served:
                if self._tasks is None:
                    raise RuntimeError("a server answers only while it lives")
                self._served[token] = await self._tasks.start(self._run, token)
            return self._served[token]

    async def _run(self, token: AccessToken, *, task_status: TaskStatus[_TokenServer]) -> None:
        """A server begins and ends in one task."""
        served = _TokenServer(self.app_of(token))
        async with served.app.router.lifespan_context(served.app):
            task_status.started(served)
            await served.ended.wait()

    @asynccontextmanager
    async def _live(self, _: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(self._look_after)
            yield
            self._tasks.cancel_scope.deadline = anyio.current_time() + self.looked_after_s
            for served in self._served.values():
                served.end()
            self._is_over.set()
        await anyio.to_thread.run_sync(self.audit.close)

    async def _look_after(self) -> None:
        while not self._is_over.is_set():
            with anyio.move_on_after(self.looked_after_s):
                await self._is_over.wait()
            self._valid()

    _is_over: anyio.Event = field(default_factory=anyio.Event)

    def _said(self, headers: Headers) -> str:
        """Nothing where it is said twice: what stands before the server might have believed the other one."""
        every = headers.getlist("authorization")
        if len(every) != 1:
            return ""
        scheme, _, said = every[0].partition(" ")
        said = said.strip()
        if self.is_for_browsers and scheme.lower() == "basic":
            return _password(said)
        return said if scheme.lower() == "bearer" else ""

    def _refusal(self, wait_s: float = 0.0) -> PlainTextResponse:
        if wait_s:
            told = "too many wrong tokens came from this address: wait\n"
            return PlainTextResponse(told, status_code=429, headers={"Retry-After": str(int(wait_s) + 1)})
        way = 'Basic realm="codesum: the token is the password"' if self.is_for_browsers else "Bearer"
        told = "give the server's token: Authorization: Bearer TOKEN\n"
        return PlainTextResponse(told, status_code=401, headers={"WWW-Authenticate": way})


def _password(credentials: str) -> str:
    try:
        return base64.b64decode(credentials, validate=True).decode("utf-8").partition(":")[2]
    except (binascii.Error, ValueError):
        return ""
