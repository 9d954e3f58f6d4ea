"""Each request needs a token, and is answered by the server of the token's holder.

For the holder, repositories outside the token's scope do not exist: every token has a server of its own with the
repositories of its scope, so that no answer, name or error of another scope can reach it. The server begins with the
first request of the token. When the token expires, or is removed from or changed in its file, the server ends with its
open requests.

Addresses that try wrong tokens have to wait.
"""

import base64
import binascii
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

import anyio
from anyio.abc import TaskGroup, TaskStatus
from msgspec import Struct, field
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from codesum_pipeline.foundation.data_model.client_addresses import customer_of
from codesum_pipeline.ways_in.http_serving.access_tokens import AccessToken, TokenSource, digest_of, find_token
from codesum_pipeline.ways_in.http_serving.audit_log import Auditor

_AT_ONCE = 10
_FORGOTTEN_AFTER_S = 6.0
# Bounds on the memory for addresses.
_MOST_ADDRESSES = 10_000
_MOST_RIGHT = 100


class _Record(Struct):
    """The number of `wrong` tokens at the moment `at`, in seconds, and the digests of `right` ones."""

    wrong: float = 0.0
    at: float = 0.0
    right: OrderedDict[bytes, None] = field(default_factory=OrderedDict)


class Attempts(Struct):
    """The wrong and right tokens of addresses; `now` is a monotonic clock in seconds."""

    now: Callable[[], float]
    _records: OrderedDict[str, _Record] = field(default_factory=OrderedDict)

    def wait_s(self, address: str, digest: bytes) -> float:
        """How long tokens of this address are refused without comparing them; 0 if they are compared."""
        record = self._records.get(customer_of(address))
        if record is None or digest in record.right:
            return 0.0
        return max(0.0, (self._wrong(record) - _AT_ONCE + 1) * _FORGOTTEN_AFTER_S)

    def was_wrong(self, address: str) -> None:
        record = self._record(address)
        record.wrong, record.at = self._wrong(record) + 1, self.now()

    def was_right(self, address: str, digest: bytes) -> None:
        right = self._record(address).right
        right[digest] = None
        right.move_to_end(digest)
        while len(right) > _MOST_RIGHT:
            right.popitem(last=False)

    def _wrong(self, record: _Record) -> float:
        return max(0.0, record.wrong - (self.now() - record.at) / _FORGOTTEN_AFTER_S)

    def _record(self, address: str) -> _Record:
        group = customer_of(address)
        record = self._records.setdefault(group, _Record(at=self.now()))
        self._records.move_to_end(group)
        while len(self._records) > _MOST_ADDRESSES:
            self._records.popitem(last=False)
        return record


# Makes the server for the holder of a token, or for everybody.
AppOf = Callable[[AccessToken | None], Starlette]


def behind_tokens(source: TokenSource, app_of: AppOf, audit: Auditor, *, is_for_browsers: bool = False) -> ASGIApp:
    """The servers that `app_of` makes for each token, behind a check of tokens; without tokens, the one for None."""
    return TokenGate(source, app_of, audit, is_for_browsers) if source.requires_token else app_of(None)


class _TokenServer(Struct, eq=False):
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


class TokenGate(Struct, eq=False):
    """The check of tokens. Browsers ask a person for the token, as the password of any user.

    Each request is checked at once; open streams of an expired or removed token end within `looked_after_s`.
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
        secret = self._secret_in(Headers(scope=scope))
        address = (scope.get("client") or ("",))[0]
        answer = self._judge(secret, address) if secret else self._refusal()
        if isinstance(answer, AccessToken):
            served = await self._server_of(answer)
            await served.answer(scope, receive, send)
        else:
            await answer(scope, receive, send)

    def _judge(self, secret: str, address: str) -> AccessToken | PlainTextResponse:
        digest = digest_of(secret)
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
        """The tokens that are valid now; the servers of others are ended."""
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
        """Run the server of a token: it has to begin and end in the same task."""
        served = _TokenServer(self.app_of(token))
        async with served.app.router.lifespan_context(served.app):
            task_status.started(served)
            await served.ended.wait()

    @asynccontextmanager
    async def _live(self, _: Starlette) -> AsyncIterator[None]:
        async def look_after() -> None:
            while not self._is_over.is_set():
                with anyio.move_on_after(self.looked_after_s):
                    await self._is_over.wait()
                self._valid()

        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(look_after)
            yield
            self._tasks.cancel_scope.deadline = anyio.current_time() + self.looked_after_s
            for served in self._served.values():
                served.end()
            self._is_over.set()
        await anyio.to_thread.run_sync(self.audit.close)

    _is_over: anyio.Event = field(default_factory=anyio.Event)

    def _secret_in(self, headers: Headers) -> str:
        """The token of a request; none if there are two, since a proxy might have checked the other one."""
        every = headers.getlist("authorization")
        if len(every) != 1:
            return ""
        scheme, _, secret = every[0].partition(" ")
        secret = secret.strip()
        if self.is_for_browsers and scheme.lower() == "basic":
            with suppress(binascii.Error, ValueError):
                return base64.b64decode(secret, validate=True).decode("utf-8").partition(":")[2]
            return ""
        return secret if scheme.lower() == "bearer" else ""

    def _refusal(self, wait_s: float = 0.0) -> PlainTextResponse:
        if wait_s:
            message = "too many wrong tokens came from this address: wait\n"
            return PlainTextResponse(message, status_code=429, headers={"Retry-After": str(int(wait_s) + 1)})
        way = 'Basic realm="codesum: the token is the password"' if self.is_for_browsers else "Bearer"
        message = "give the server's token: Authorization: Bearer TOKEN\n"
        return PlainTextResponse(message, status_code=401, headers={"WWW-Authenticate": way})
